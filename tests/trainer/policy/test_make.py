"""Memories and encoders are found by their names in the registries, or by import path."""

import json

import own_memories
import pytest
import torch

import trainer
from trainer.__main__ import main
from trainer.config import EnvConfig, PolicyConfig, sections
from trainer.config.games import GameName
from trainer.environments import make_source
from trainer.errors import ConfigError, ExportError
from trainer.export.graph import StepGraph
from trainer.policy.encoders.make import ENCODERS
from trainer.policy.load import load_policy, load_run
from trainer.policy.make import MEMORIES, make_policy, memory_class
from trainer.runs import checkpoint


def test_settings_name_the_registries_entries():
    assert tuple(MEMORIES) == sections.MEMORY_NAMES
    assert tuple(ENCODERS) == sections.ENCODER_NAMES


def trained(folder, memory):
    """The folder of a short run with this memory."""
    words = ["cartpole", "--memory", memory, "--num-envs", "8", "--horizon", "8", "--minibatch", "32", "--total-steps", "128",
             "--encoder-size", "8", "--lstm-size", "8", "--precision", "float32", "--device", "cpu", "--no-gif",
             "--num-threads", "1", "--eval-episodes", "2", "--no-dashboard", "--run-dir", str(folder), "--track", "none"]
    assert main(words) == 0
    return folder


def test_a_memory_given_by_import_path_is_trained_loaded_and_exported(tmp_path):
    folder = trained(tmp_path / "run", "own_memories:Exported")
    assert json.loads((folder / "evaluation.json").read_text())["episodes"] == 2
    _, policy, config = load_run(folder, "cpu")
    assert config.policy.memory == "own_memories:Exported" and type(policy).__name__ == "Exported"
    assert main(["export", str(folder), "--format", "safetensors"]) == 0


def test_a_memory_without_an_export_step_is_refused_by_export(tmp_path):
    policy, _ = load_policy(checkpoint.latest(trained(tmp_path / "run", "own_memories:Leaky")))
    with pytest.raises(ExportError, match="Leaky cannot be exported: its class must have state_shapes and export_step"):
        StepGraph(policy)


@pytest.mark.parametrize(("memory", "texts"), [
    ("gru", ["memory must be lstm, mingru, none", "or the import path of a policy", "not 'gru'"]),
    ("no_such_module:Small", ["memory 'no_such_module:Small': there is no module no_such_module"]),
    ("own_memories:Other", ["memory 'own_memories:Other' must accept the keyword arguments shape, num_actions"]),
    ("own_memories:NotAPolicy", ["must be a subclass of trainer.policy.policy.Policy, not"]),
])
def test_a_wrong_memory_is_refused(memory, texts):
    with pytest.raises(ConfigError) as error:
        memory_class(memory)
    assert all(text in str(error.value) for text in texts), error.value


def test_an_error_in_a_memory_names_the_line(tmp_path, capsys):
    words = ["cartpole", "--memory", "own_memories:Raises", "--device", "cpu", "--run-dir", str(tmp_path / "run")]
    assert main(words) == 2
    printed = capsys.readouterr().err
    assert "making it raised KeyError: 'no such thing' (" in printed and "own_memories.py, line" in printed


@pytest.mark.parametrize(("memory", "texts"), [
    ("Unrolls", ["unrolling 4 steps of 2 environments raised RuntimeError: oops in unroll", "own_memories.py, line"]),
    ("Wide", ["its step must give (batch, outputs), here (2, 3), in float32, not (2, 6) float32"]),
    ("Alone", ["its unroll must give values (steps, batch), here (4, 2), in float32, not None"]),
    ("Forgets", ["must give the same outputs in `unroll` as in `step`, also where an episode starts"])])
def test_a_memory_that_would_fail_or_learn_wrongly_is_refused_before_anything_is_written(tmp_path, capsys, memory, texts):
    words = ["cartpole", "--memory", f"own_memories:{memory}", "--device", "cpu", "--run-dir", str(tmp_path / "run")]
    assert main(words) == 2
    printed = capsys.readouterr().err
    assert all(text in printed for text in texts), printed
    assert not (tmp_path / "run").exists()


def test_a_run_whose_memory_would_be_refused_now_is_still_loaded_and_goes_on(tmp_path, monkeypatch):
    folder = trained(tmp_path / "run", "own_memories:Leaky")
    unroll = own_memories.Leaky.unroll
    monkeypatch.setattr(own_memories.Leaky, "unroll", lambda self, x, start, state: unroll(self, x, start * 0, state))
    load_policy(checkpoint.latest(folder))
    assert main(["--resume", str(folder), "--total-steps", "256"]) == 0
    assert main(["cartpole", "--memory", "own_memories:Leaky", "--device", "cpu", "--run-dir", str(tmp_path / "new")]) == 2


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
@pytest.mark.parametrize("setting", ["memory=own_memories:Turned", "memory=own_memories:Layered", "heads=own_learning:turned",
                                     "observation_transform=own_learning:first_half"])
def test_tensors_of_ones_own_need_not_be_contiguous(setting, precision):
    name, value = setting.split("=")
    small = {"num_envs": 8, "num_threads": 1, "horizon": 16, "minibatch": 64, "encoder_size": 8, "lstm_size": 8}
    with trainer.Session("breakout", total_steps=256, device="cpu", precision=precision, **small, **{name: value}) as session:
        assert [session.step for _ in session] == [128, 256]


def test_the_weights_of_a_policy_depend_on_its_seed_only_and_torch_s_random_numbers_stay_the_caller_s():
    source = make_source(GameName("cartpole"), EnvConfig(num_threads=1), 1, 0)
    settings = PolicyConfig(encoder_size=8, lstm_size=8)
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    made = [make_policy(settings, source, seed, torch.float32).state_dict()["heads.weight"] for seed in (1, 1, 2)]
    assert torch.equal(torch.rand(3), expected)
    assert torch.equal(made[0], made[1]) and not torch.equal(made[0], made[2])
