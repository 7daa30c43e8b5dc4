"""Exported policies equal the policy in both formats, for every memory and encoder; mistakes are refused."""

import functools
import importlib.util
import json

import numpy as np
import pytest
import torch
from export_support import MEMORIES, config, save

from envs_c import install
from examples import play_exported
from trainer.__main__ import main
from trainer.config.config import overlay
from trainer.errors import ExportError
from trainer.export import check as export_check
from trainer.export.export import export_run
from trainer.export.graph import StepGraph
from trainer.export.weights import rebuild
from trainer.policy import make as policy_make
from trainer.policy.encoders import make as encoders_make
from trainer.policy.feed_forward import FeedForwardPolicy
from trainer.policy.load import load_policy
from trainer.policy.policy import Policy
from trainer.runs import checkpoint
from trainer.training.build import make_session

ONNX = all(importlib.util.find_spec(name) for name in ("onnx", "onnxscript", "onnxruntime"))
needs_onnx = pytest.mark.skipif(not ONNX, reason="needs the packages of the extra 'export'")
# To export a graph takes seconds: "parts" has a normalizer and stacked frames too, and "pixels" is exported as "conv".
FAST = {"lstm", "mingru with a highway", "pixels", "parts"}
FOREIGN = {  # of the user's own environments
    "parts": ("gym:own_environments:Mixed", "features", {"normalize_observations": True, "frame_stack": 2}),
    "parts, flat": ("gym:own_environments:Mixed", "features", {"encoder": "mlp", "memory": "none"}),
    "colours": ("gym:own_environments:Pictures", "features", {"memory": "none"}),
}
ALL = MEMORIES | FOREIGN
KINDS = [pytest.param(kind, marks=() if kind in FAST else pytest.mark.slow) for kind in ALL]


@pytest.fixture
def run(tmp_path):
    """A run's folder."""
    return save(tmp_path / "run")


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """A function of a kind in ALL and a format; returns the folder and the result of `export_run`. Each is made once."""
    @functools.cache
    def folder(kind):
        return save(tmp_path_factory.mktemp("run"), *ALL[kind])

    @functools.cache
    def export(kind, file_format):
        return folder(kind), export_run(str(folder(kind)), (file_format,), None, trust_code=True)
    return export


def test_a_trained_run_is_exported_end_to_end(tmp_path, capsys):
    folder = tmp_path / "run"
    sizes = ["--num-envs=8", "--horizon=8", "--minibatch=64", "--encoder-size=16", "--lstm-size=12", "--num-threads=1"]
    end = ["--total-steps=128", "--eval-episodes=0", "--no-gif", "--no-dashboard", "--device=cpu", f"--run-dir={folder}"]
    assert main(["cartpole", *sizes, *end]) == 0
    capsys.readouterr()
    assert main(["export", str(folder), *([] if ONNX else ["--format", "safetensors"])]) == 0
    printed = capsys.readouterr().out
    assert "checked on 1,000 observations gathered by playing" in printed
    assert f"{folder / 'policy.safetensors'}: " in printed
    assert (folder / "policy.onnx").exists() == ONNX
    assert len(play_exported.play(str(folder / "policy.safetensors"), 3)) == 3
    assert checkpoint.latest(folder).name == "step_000000000128.safetensors"  # exported files are not checkpoints
    assert rebuild((folder / "policy.safetensors").read_bytes())[1]["step"] == 128


def check_result(done):
    """The result of exporting one file with a float32 policy."""
    ((path, (size, found)),) = done.files.items()
    assert path.stat().st_size == size
    assert done.observations == 1000
    assert done.trained is None
    assert found.logits <= export_check.TOLERANCE


def test_every_memory_is_exported_and_the_example_plays_every_memory_and_encoder():
    assert {settings.get("memory", "lstm") for *_, settings in MEMORIES.values()} == policy_make.MEMORIES.keys()
    assert play_exported.CORES.keys() == policy_make.MEMORIES.keys()
    assert {*play_exported.ENCODERS, "pixels"} == encoders_make.ENCODERS.keys()  # pixels is exported as conv


@pytest.mark.parametrize("kind", ALL)
def test_every_policys_weights_are_exported_within_the_tolerance(exported, kind):
    check_result(exported(kind, "safetensors")[1])


@needs_onnx
@pytest.mark.parametrize("kind", KINDS)
def test_every_policys_graph_is_exported_within_the_tolerance(exported, kind):
    check_result(exported(kind, "onnx")[1])


@pytest.mark.parametrize("kind", [kind for kind in ALL if kind != "own"])
def test_numpy_alone_rebuilds_the_policy(exported, kind):
    folder, _ = exported(kind, "safetensors")
    network, settings = load_policy(checkpoint.latest(folder), trust_code=True)
    played, graph = export_check.gather(network, settings.game, settings.env), StepGraph(network)
    about, step = play_exported.open_safetensors(folder / "policy.safetensors")
    states = {"start": played.start[0], **{name: np.zeros((8, *shape), np.float32) for name, shape in about["states"].items()}}

    def numbers(inputs):
        out = step(**(states | inputs))
        return [out[name] for name in graph.outputs]
    assert export_check.difference(numbers, graph, played).logits <= export_check.TOLERANCE


@needs_onnx
@pytest.mark.parametrize("kind", ["parts", *(pytest.param(kind, marks=pytest.mark.slow)
                                             for kind in ("lstm, normalized", "cells", "gymnasium"))])
def test_the_graph_plays_as_the_weights_do(exported, kind):
    scores = []
    for file_format in ("onnx", "safetensors"):
        folder, _ = exported(kind, file_format)
        scores.append(play_exported.play(str(folder / f"policy.{file_format}"), 4, trust_code=True))
    assert np.array_equal(*scores)


@needs_onnx
def test_the_graph_takes_any_batch_and_describes_itself(exported):
    import onnxruntime
    session = onnxruntime.InferenceSession(exported("lstm", "onnx")[0] / "policy.onnx")
    assert [(one.name, one.shape[1:]) for one in session.get_inputs()] == [("observation", [4]), ("start", []), ("h", [12]),
                                                                          ("c", [12])]
    assert [one.name for one in session.get_outputs()] == ["logits", "value", "next_h", "next_c"]
    about = json.loads(session.get_modelmeta().custom_metadata_map["policy"])
    assert about["game"] == "cartpole" and about["observation_shape"] == [4] and about["memory"] == "lstm"
    for batch in (1, 3):
        given = {"observation": (batch, 4), "start": (batch,), "h": (batch, 12), "c": (batch, 12)}
        out = session.run(None, {name: np.ones(shape, np.float32) for name, shape in given.items()})
        assert [len(one) for one in out] == [batch] * 4


@pytest.mark.parametrize("memory", ["lstm", "mingru"])
def test_a_start_resets_the_state(tmp_path, memory):
    network, _ = load_policy(checkpoint.latest(save(tmp_path, "cartpole", "features", {"memory": memory, "frame_stack": 3})))
    graph = StepGraph(network)
    fresh = graph.zeros(2, torch.float32)
    with torch.no_grad():
        old = [torch.ones(2), *(torch.randn_like(state) for state in fresh[2:])]
        assert all(map(torch.equal, graph(fresh[0], *fresh[1:]), graph(fresh[0], *old)))
        assert not torch.equal(graph(fresh[0], *fresh[1:])[0], graph(fresh[0], fresh[1], *old[1:])[0])


def test_the_difference_of_training_in_bfloat16_is_reported(tmp_path):
    done = export_run(str(save(tmp_path, precision="bfloat16")), ("safetensors",), None)
    assert 1e-4 < done.trained.logits < 0.2
    assert "it was trained in bfloat16, where logits differ by up to" in done.lines()[-1]


def test_a_file_that_differs_from_its_policy_is_not_written(run, monkeypatch):
    def wrong(data, **keywords):
        network, about = rebuild(data, **keywords)
        with torch.no_grad():
            network.heads.bias += 1e-3
        return network, about
    monkeypatch.setattr("trainer.export.export.rebuild", wrong)
    with pytest.raises(ExportError, match=r"within 0.0001, but .* its logits differ by up to 0.001 .* nothing was written"):
        export_run(str(run), ("safetensors",), None)
    assert not (run / "policy.safetensors").exists()


def test_a_torn_export_is_refused_and_the_next_export_replaces_it(run):
    path = run / "policy.safetensors"
    export_run(str(run), ("safetensors",), None)
    data = path.read_bytes()
    for end in {*range(0, len(data), 97), len(data) - 1}:
        with pytest.raises(ExportError, match="the file must be a policy written by `export`"):
            rebuild(data[:end])
    path.write_bytes(data[:-1])
    export_run(str(run), ("safetensors",), None)
    assert path.read_bytes() == data


def test_an_export_that_cannot_write_its_second_file_writes_neither(run, tmp_path):
    (tmp_path / "out" / "p.safetensors").mkdir(parents=True)
    with pytest.raises(ExportError, match=r"^cannot write .*p\.safetensors: it is a folder; name another file with --out$"):
        export_run(run, ("onnx", "safetensors"), str(tmp_path / "out" / "p"))
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["p.safetensors"]


def test_a_difference_of_nan_is_refused():
    played = export_check.Played(np.zeros((1, 1, 1)), np.zeros((1, 1)), np.zeros((1, 1, 2)), np.zeros((1, 1)))
    with pytest.raises(ExportError, match="differ by up to nan"):
        export_check.require(export_check.Difference(float("nan"), 0.0), played, "x")


@needs_onnx
def test_an_encoder_that_torch_cannot_export_gives_one_sentence(tmp_path):
    folder = save(tmp_path, "cartpole", "features", {"encoder": "own_encoders:Decides"})
    with pytest.raises(ExportError, match=r"cannot export encoder 'own_encoders:Decides' .* as ONNX; use --format"):
        export_run(str(folder), ("onnx",), None, trust_code=True)
    assert not (folder / "policy.onnx").exists()


def test_a_memory_without_an_export_step_is_refused():
    class Unexportable(FeedForwardPolicy):
        state_shapes = Policy.state_shapes

    with pytest.raises(ExportError, match="Unexportable cannot be exported: its class must have state_shapes"):
        StepGraph(Unexportable((4,), 2, 8, 8))


def test_an_output_name_may_have_the_formats_ending_or_none(run, tmp_path, capsys):
    assert main(["export", str(run), "--out", str(tmp_path / "a.safetensors")]) == 0
    assert main(["export", str(run), "--format", "safetensors", "--out", str(tmp_path / "b")]) == 0
    assert sorted(path.name for path in tmp_path.glob("*.safetensors")) == ["a.safetensors", "b.safetensors"]
    about = rebuild((tmp_path / "b.safetensors").read_bytes())[1]
    assert about["versions"]["torch"] == torch.__version__


@pytest.mark.parametrize(("words", "sentence"), [
    ("export nowhere", "there is no run at nowhere"),
    ("export {run}/config.txt", "is no safetensors file; pass a run's folder"),
    ("export {run}/policy.safetensors", "a safetensors file, but no checkpoint of this trainer"),
    ("export {run} --out {run}/step_000000000000.safetensors", "--out must not name a checkpoint"),
    ("export {run} --out a.pt", "--out must be a file that ends in .onnx or .safetensors with --format auto"),
    ("export {run} --out a.onnx --format safetensors", "must be a file that ends in .safetensors with --format safetensors"),
    ("export {run} --out nowhere/a", "--out must be in a folder that exists, not 'nowhere'"),
])
def test_a_mistake_gives_one_sentence(run, capsys, words, sentence, monkeypatch):
    monkeypatch.setattr("trainer.commands.export.PACKAGES", ())
    (run / "config.txt").write_text("not a checkpoint, but long enough for a header")
    export_run(str(run), ("safetensors",), None)
    assert main(words.format(run=run).split()) == 2
    printed = capsys.readouterr().err
    assert sentence in printed
    assert printed.count("\n") == 1


PROGRESS = {"precision": "float32", "num_batches": 1, "iteration": 0, "seconds": 0.0, "episodes": 0, "recent": []}


@pytest.mark.parametrize(("meta", "sentence"), [
    ({"config": config("no_such_game").to_dict(), **PROGRESS}, "no_such_game"),
    ({"config": config(policy={"encoder": "own_encoders:Gone"}).to_dict(), **PROGRESS}, "has no Gone"),
    ({"config": config().to_dict(), **PROGRESS}, "does not fit"),
    ({}, "version"),
], ids=["a game that is gone", "an encoder that is gone", "no weights", "no config"])
def test_a_run_that_cannot_be_made_again_gives_one_sentence(tmp_path, capsys, meta, sentence):
    checkpoint.save(tmp_path, 0, {}, meta, score=None)
    assert main(["export", str(tmp_path), "--format", "safetensors", "--trust-code"]) == 2
    printed = capsys.readouterr().err
    assert sentence in printed
    assert printed.count("\n") == 1


def test_a_game_is_played_with_its_training_settings_and_options(tmp_path):
    settings = {"sticky": 0.25, "frame_skip": 3, "noop_max": 5, "time_limit": 77, "view": "pixels"}
    session = make_session(overlay(config("breakout"), {"env": settings | {"options": {"lives": 2.0}}}))
    session.save(tmp_path)
    session.pipeline.close()
    export_run(str(tmp_path), ("safetensors",), None)
    about, _ = play_exported.open_safetensors(tmp_path / "policy.safetensors")
    core = play_exported.make(about, 2).core
    assert core.options["lives"] == 2 and {name: getattr(core, name) for name in settings} == settings


def test_packages_that_are_missing_are_named(run, capsys, monkeypatch):
    monkeypatch.setattr("trainer.commands.export.PACKAGES", ("onnx_of_nobody",))
    assert main(["export", str(run)]) == 2
    assert f"--format onnx needs onnx_of_nobody: {install.hint('export')}" in capsys.readouterr().err
    assert main(["export", str(run), "--format", "safetensors"]) == 0


@pytest.mark.parametrize("data", [b"", b"\x05\0\0\0\0\0\0\0{}   ", b"\x02\0\0\0\0\0\0\0{}"])
def test_other_bytes_are_no_policy(data):
    with pytest.raises(ExportError, match="must be a policy written by `export`"):
        rebuild(data)


def test_a_policy_s_file_whose_description_lacks_something_is_refused_by_its_name(run):
    export_run(str(run), ("safetensors",), None)
    data = (run / "policy.safetensors").read_bytes()
    for name in ("memory", "normalize"):
        with pytest.raises(ExportError, match=rf"must be a policy written by `export`: its description has no {name}$"):
            rebuild(data.replace(f'\\"{name}\\"'.encode(), f'\\"{name[::-1]}\\"'.encode()))
