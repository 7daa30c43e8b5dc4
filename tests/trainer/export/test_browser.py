"""Exported policies in JavaScript (envs_c/arcade/page/policy.js), run by node, equal the trainer's."""

import numpy as np
import pytest
import torch
from arcade_support import needs_browser_tools, node
from export_support import MEMORIES, save

import envs_c
from envs_c.arcade import agents
from trainer.config import EnvConfig
from trainer.config.games import GameName
from trainer.export import check
from trainer.export.agents import not_in_browsers
from trainer.export.export import export_run
from trainer.export.weights import rebuild
from trainer.kernels import reference

KINDS = {kind: row for kind, row in MEMORIES.items() if kind not in ("own", "gymnasium")} | {
    "lstm of the arcade": ("breakout", "features", {"encoder_size": 128, "lstm_size": 64})}  # matrices in int8
SLOW = ("conv", "board")  # 10 seconds each; "pixels" has convolutions, too


def rounded(policy, compact: bytes):
    """The policy with the weights of a compact file."""
    with torch.no_grad():
        state = policy.state_dict()
        for name, array in agents.weights(compact).items():
            state[name].copy_(torch.from_numpy(array))
    return policy


@needs_browser_tools
@pytest.mark.parametrize("kind", [pytest.param(kind, marks=pytest.mark.slow) if kind in SLOW else kind for kind in KINDS])
def test_every_policy_in_javascript_equals_the_trainers(kind, tmp_path):
    game, view, settings = KINDS[kind]
    (path,) = export_run(str(save(tmp_path / "run", game, view, settings)), ("safetensors",), None, trust_code=True).files
    (tmp_path / "small").write_bytes(agents.compact(path.read_bytes()))
    assert not_in_browsers((tmp_path / "small").read_bytes()) is None
    policy = rounded(rebuild(path.read_bytes())[0], (tmp_path / "small").read_bytes())
    played = check.gather(policy, GameName(game), EnvConfig(view=view))
    given = played.observation.tobytes() + played.start.tobytes()
    output = node("forward.mjs", tmp_path / "small", *played.start.shape, given=given)
    rows = np.frombuffer(output, np.float32).reshape(len(played.start), -1)
    logits, values = rows[:, :-check.ENVIRONMENTS].reshape(played.logits.shape), rows[:, -check.ENVIRONMENTS:]
    found = check.Difference(np.abs(logits - played.logits).max(), np.abs(values - played.value).max())
    check.require(found, played, "policy.js")
    assert played.start.size == 1000


@needs_browser_tools
@pytest.mark.parametrize("masked", [False, True])
def test_actions_are_sampled_as_in_the_trainer(masked):
    random = np.random.default_rng(3)
    logits = (random.standard_normal((2000, 7)) * 4).astype(np.float32)
    action_mask = (random.random((2000, 7)) < 0.5).astype(np.uint8) if masked else None
    drawn = np.frombuffer(node("sample.mjs", 5, 1234567, 7, int(masked),
                               given=logits.tobytes() + (action_mask.tobytes() if masked else b"")), np.int32)
    masks = None if action_mask is None else torch.from_numpy(action_mask)
    wanted = reference.sample(torch.from_numpy(logits), masks, 5, 0, 1234567, 7)[0]
    assert (drawn == wanted.numpy()).all()
    assert len(set(drawn)) == 7


def test_a_compact_file_is_a_quarter_as_large_and_has_the_same_policy_within_its_rounding(tmp_path):
    wide = {"encoder_size": 64, "lstm_size": 64, "normalize_observations": True}
    (path,) = export_run(str(save(tmp_path / "run", "cartpole", "features", wide)), ("safetensors",), None).files
    data = path.read_bytes()
    small = agents.compact(data)
    assert agents.described(small) == {**agents.described(data), "dtype": "int8"}
    assert len(small) < 0.3 * len(data)
    for name, exact in agents.weights(data).items():
        found, largest = agents.weights(small)[name], np.abs(exact).max()
        assert found.shape == exact.shape and found.dtype == np.float32
        assert np.abs(found - exact).max() <= (0 if name.startswith("normalizer.") else largest / 250)


@pytest.mark.parametrize("data", [b"", b"\0" * 8, b"\x02" + b"\0" * 7 + b"{}", b"\xff" * 20])
def test_other_bytes_are_no_agent(data):
    with pytest.raises(envs_c.InvalidArgument, match="the agent's file must be a policy written by `insertcoin export`"):
        agents.compact(data)
