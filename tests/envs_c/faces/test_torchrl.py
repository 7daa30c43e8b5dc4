"""torchrl's GymEnv and GymWrapper step our environments: their rollouts equal ours."""

import gymnasium
import numpy as np
import pytest

import envs_c
from envs_c.testing.play import actions_of

torch = pytest.importorskip("torch")
torchrl = pytest.importorskip("torchrl.envs")
N, STEPS = 4, 1000
KEYS = ("observation", "reward", "terminated", "truncated")


def rolled_out(env, actions) -> dict:
    """The outputs of torchrl's rollout with these actions, (N, steps, ...), or (steps, ...) for a single environment."""
    rows = iter(torch.as_tensor(actions.astype(np.int64)))
    env.set_seed(3)
    data = env.rollout(len(actions), lambda tensordict: tensordict.set("action", next(rows)), break_when_any_done=False)
    return {"first": data["observation"].numpy(), **{key: data["next", key].squeeze(-1).numpy() for key in KEYS[1:]},
            "observation": data["next", "observation"].numpy()}


def played(env, actions) -> dict:
    """The same outputs, made by plain calls of a vector environment under autoreset "disabled"."""
    env.reset(seed=3)
    observation, _ = env.reset()  # torchrl seeds with one reset, and its rollout begins with another
    outputs = {"first": [], **{key: [] for key in KEYS}}
    for row in actions:
        outputs["first"].append(observation)
        step = env.step(row)
        for key, value in zip(KEYS, step, strict=False):
            outputs[key].append(value)
        over = step[2] | step[3]
        observation = env.reset(options={"reset_mask": over})[0] if over.any() else step[0]
    return {key: np.swapaxes(value, 0, 1) for key, value in outputs.items()}


def assert_equal(theirs: dict, ours: dict):
    assert ours["terminated"].sum() + ours["truncated"].sum() >= 5
    for key, value in ours.items():
        assert np.array_equal(theirs[key].reshape(value.shape), value.astype(theirs[key].dtype)), key


@pytest.mark.parametrize(("name", "mode", "settings"), [
    ("breakout", "disabled", {"time_limit": 60}),  # all episodes end at once
    ("breakout", "same_step", {"lives": 1}),       # never all at once: then torchrl resets them a second time
    ("cartpole", "disabled", {}), ("cartpole", "same_step", {})])
def test_a_rollout_of_vector_environments_equals_ours(name, mode, settings):
    actions = actions_of(envs_c.game(name), STEPS, N)
    env = torchrl.GymWrapper(envs_c.make(name, N, autoreset=mode, **settings), categorical_action_encoding=True)
    assert_equal(rolled_out(env, actions), played(envs_c.make(name, N, autoreset="disabled", **settings), actions))


@pytest.mark.parametrize("name", ["breakout", "cartpole"])
def test_a_rollout_of_a_single_environment_equals_ours(name):
    game = envs_c.game(name)
    actions = actions_of(game, STEPS, 1)
    env = torchrl.GymEnv(f"Arcade/{game.title}-v0", time_limit=60, categorical_action_encoding=True)
    frame_skip = env.unwrapped.vector.core.frame_skip  # torchrl asks for 1 of any environment that has `frameskip`, as ALE's
    ours = played(envs_c.make(name, 1, autoreset="disabled", frame_skip=frame_skip, time_limit=60), actions)
    assert_equal(rolled_out(env, actions[:, 0]), ours)


def test_gymnasiums_mode_is_an_attribute_as_in_its_own_environments():
    for mode in gymnasium.vector.AutoresetMode:
        env = envs_c.make("cartpole", autoreset=mode)
        assert env.autoreset_mode is env.metadata["autoreset_mode"] is mode
