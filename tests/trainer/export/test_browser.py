"""Exported policies in JavaScript (envs_c/arcade/page/policy.js), run by node, equal the trainer's."""

import json

import numpy as np
import pytest
import torch
from arcade_support import needs_browser_tools, node
from export_support import MEMORIES, save

import envs_c
from envs_c.arcade import agents
from trainer.config import EnvConfig
from trainer.export import check
from trainer.export.export import export_run
from trainer.export.weights import rebuild
from trainer.kernels import reference

KINDS = [kind for kind in MEMORIES if kind not in ("own", "gymnasium")]
STEPS = {"conv": 12, "board": 12}  # of 8 environments, else 125: plain JavaScript needs 10 ms for a picture or a board


def rounded(policy):
    """The policy with its weights as in float16; the normalizer's stay."""
    with torch.no_grad():
        for name, tensor in policy.state_dict().items():
            if tensor.is_floating_point() and not name.startswith("normalizer."):
                tensor.copy_(tensor.half().float())
    return policy


@needs_browser_tools
@pytest.mark.parametrize("kind", KINDS)
def test_every_policy_in_javascript_equals_the_trainers(kind, tmp_path, monkeypatch):
    monkeypatch.setattr(check, "STEPS", STEPS.get(kind, check.STEPS))
    game, view, settings = MEMORIES[kind]
    (path,) = export_run(str(save(tmp_path / "run", game, view, settings)), ("safetensors",), None, trust_code=True).files
    (tmp_path / "half").write_bytes(agents.halved(path.read_bytes()))
    played = check.gather(rounded(rebuild(path.read_bytes())[0]), game, EnvConfig(view=view))
    given = played.observation.tobytes() + played.start.tobytes()
    output = node("forward.mjs", tmp_path / "half", *played.start.shape, given=given)
    rows = np.frombuffer(output, np.float32).reshape(len(played.start), -1)
    logits, values = rows[:, :-check.ENVIRONMENTS].reshape(played.logits.shape), rows[:, -check.ENVIRONMENTS:]
    found = check.Difference(np.abs(logits - played.logits).max(), np.abs(values - played.value).max())
    check.require(found, played, "policy.js")
    assert played.start.size == 8 * STEPS.get(kind, 125)


@needs_browser_tools
@pytest.mark.parametrize("masked", [False, True])
def test_actions_are_sampled_as_in_the_trainer(masked):
    random = np.random.default_rng(3)
    logits = (random.standard_normal((2000, 7)) * 4).astype(np.float32)
    legal = (random.random((2000, 7)) < 0.5).astype(np.uint8) if masked else None
    drawn = np.frombuffer(node("sample.mjs", 5, 1234567, 7, int(masked),
                               given=logits.tobytes() + (legal.tobytes() if masked else b"")), np.int32)
    wanted = reference.sample(torch.from_numpy(logits), None if legal is None else torch.from_numpy(legal), 5, 0, 1234567, 7)[0]
    assert (drawn == wanted.numpy()).all()
    assert len(set(drawn)) == 7


def test_a_halved_file_has_half_the_size_and_the_same_description(tmp_path):
    (path,) = export_run(str(save(tmp_path / "run")), ("safetensors",), None).files
    data = path.read_bytes()
    half = agents.halved(data)
    assert agents.described(half) == {**agents.described(data), "dtype": "float16"}
    begin = 8 + int.from_bytes(half[:8], "little")
    tensors = {name: one["dtype"] for name, one in json.loads(half[8:begin]).items() if name != "__metadata__"}
    assert set(tensors.values()) == {"F16"} and begin % 8 == 0
    assert 2 * (len(half) - begin) == len(data) - 8 - int.from_bytes(data[:8], "little")


@pytest.mark.parametrize("data", [b"", b"\0" * 8, b"\x02" + b"\0" * 7 + b"{}", b"\xff" * 20])
def test_other_bytes_are_no_agent(data):
    with pytest.raises(envs_c.InvalidArgument, match="the agent's file must be a policy written by `insertcoin export`"):
        agents.halved(data)
