"""Environments that are copied or pickled are environments of their own, and continue bit for bit."""

import copy
import functools
import multiprocessing
import operator
import os
import pickle
import subprocess
import sys

import cloudpickle
import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AsyncVectorEnv
from support import TOY, vector

import envs_c
from envs_c import outside, references
from envs_c.engine.state import close_state
from envs_c.game import Game
from envs_c.gymnasium_env import ArcadeEnv, ArcadeVectorEnv
from envs_c.testing.play import Tape, actions_of, bind, buffers

sb3 = pytest.importorskip("envs_c.sb3")
N = 3
WAYS = {"copy": copy.copy, "deepcopy": copy.deepcopy, "pickle": lambda env: pickle.loads(pickle.dumps(env)),
        "cloudpickle": lambda env: cloudpickle.loads(cloudpickle.dumps(env))}
SETTINGS = {"time_limit": 12, "sticky": 0.5, "seed": 3}


@pytest.fixture(params=WAYS.values(), ids=WAYS)
def copied(request):
    """Each way to make a copy."""
    return request.param


def play(env, actions) -> list:
    """All outputs of these steps but the seconds. `env`: a vector environment, under autoreset "disabled" too."""
    played, over = [], np.zeros(N, bool)
    for row in actions:
        if env.core.autoreset == "disabled" and over.any():
            played.append(env.reset(options={"reset_mask": over})[0])
        observation, reward, terminated, truncated, infos = env.step(row)
        over = terminated | truncated
        stats = infos.get("episode_stats", {"r": 0, "l": 0})
        played += [observation, reward, terminated, truncated, stats["r"], stats["l"], infos.get("action_mask")]
        played += list(infos["final_obs"][over]) if "final_obs" in infos else []
    return played


def assert_equal(mine: list, other: list):
    for one, two in zip(mine, other, strict=True):
        assert np.array_equal(one, two)


class OwnVector(ArcadeVectorEnv):
    """With arguments of its own."""

    def __init__(self, bonus):
        self._before = [bonus]
        super().__init__(envs_c.game("breakout"), N, **SETTINGS)
        self._after, self.public = bonus + 1, bonus + 2


class OwnEngine(envs_c.VecEnv):
    """The same."""

    def __init__(self, bonus):
        self._before = [bonus]
        super().__init__(envs_c.game("breakout"), N, **SETTINGS)
        self._after, self.public = bonus + 1, bonus + 2


@pytest.mark.parametrize("kind", [OwnVector, OwnEngine])
def test_a_subclass_with_arguments_of_its_own_is_copied_with_its_attributes(copied, kind):
    env = kind(7)
    other = copied(copied(env))
    assert type(other) is kind and (other._before, other._after, other.public) == ([7], 8, 9)
    cores = [one.core if kind is OwnVector else one for one in (env, other)]
    assert cores[0] is not cores[1] and cores[0].get_state() == cores[1].get_state()
    assert (cores[1].num_envs, cores[1].time_limit, cores[1].sticky) == (N, 12, 0.5)


@pytest.mark.parametrize("steps", [None, 0, 7, 12], ids=["before the first reset", "after it", "in an episode", "at its end"])
@pytest.mark.parametrize("settings", [{}, {"view": "pixels", "frame_stack": 3}], ids=str)
def test_copies_of_vector_environments_continue_equal(copied, autoreset, settings, steps):
    game = envs_c.game("breakout")
    env = vector(game, N, autoreset=autoreset, **SETTINGS, **settings)
    if steps is not None:
        env.reset()
        play(env, actions_of(game, steps, N))
    other = copied(env)
    assert type(other) is ArcadeVectorEnv and other.core is not env.core and other.get_state() == env.get_state()
    if steps in (None, 12):
        assert_equal([env.reset()[0]], [other.reset()[0]])
    actions = actions_of(game, 40, N)
    assert_equal(play(env, actions), play(other, actions))


def test_copies_of_the_engine_continue_equal(each_kind, copied):
    core = envs_c.VecEnv(each_kind, N, first=5, chunk_size=1, **SETTINGS)
    outputs = []
    batch = bind(core, buffers(core), 0, N)
    batch.reset()
    actions = actions_of(each_kind, 40, N)
    for env in (core, other := copied(core)):
        arrays = buffers(env)
        batch, tape = bind(env, arrays, 0, N), Tape()
        for row in actions:
            arrays["actions"][:] = row
            batch.step()
            tape.add(arrays["observation"], arrays["reward"], env.ended_return)
        outputs.append(tape.read())
    assert other is not core and (other.first, other.chunk_size) == (5, 1) and outputs[0] == outputs[1]


def test_copies_of_single_environments_continue_equal(copied):
    env = ArcadeEnv(vector(envs_c.game("breakout"), autoreset="disabled", **SETTINGS), "rgb_array")
    env.reset(seed=4)
    env.step(1)
    env.note = "kept"
    other = copied(env)
    assert other.vector.core is not env.vector.core and other.note == "kept"
    for one in (other, env):
        one.outputs = [one.step(2)[0] for _ in range(9)] + [one.render(), one.action_space.sample(), one.np_random.random()]
    assert_equal(env.outputs, other.outputs)


@pytest.mark.parametrize("way", [name for name in WAYS if name != "copy"])  # Gymnasium's wrappers share the environment then
def test_wrapped_environments_are_copied(way):
    env = gymnasium.make("Arcade/Breakout-v0", sticky=0.5)
    env.reset(seed=4)
    other = WAYS[way](env)
    assert other.spec == env.spec
    assert_equal([env.step(1)[0] for _ in range(20)], [other.step(1)[0] for _ in range(20)])


def test_copies_for_stable_baselines3_continue_equal(copied):
    env = sb3.make("breakout", N, seed=2, time_limit=12, sticky=0.5)
    env.reset()
    env.set_attr("note", "kept")
    env.step_async([1, 2, 0])  # pending
    other = copied(env)
    assert other.vector.core is not env.vector.core and all(one.parent is other for one in other.envs)
    assert other.get_attr("note") == ["kept"] * N
    for _ in range(30):
        *mine, our_infos = env.step_wait()
        *theirs, their_infos = other.step_wait()
        assert_equal(mine, theirs)
        for one, two in zip(our_infos, their_infos, strict=True):
            assert one.keys() == two.keys() and one.get("episode", {}).get("l") == two.get("episode", {}).get("l")
        env.step_async([1, 2, 0])
        other.step_async([1, 2, 0])


def test_settings_attributes_and_samplers_are_copied(copied):
    settings = {"view": "pixels", "frame_skip": 3, "frame_stack": 2, "sticky": 0.1, "noop_max": 5, "time_limit": 77,
                "reward_clip": (-0.5, 2), "num_threads": 1, "autoreset": "same_step", "copy": False, "lives": 2}
    env = envs_c.make("breakout", N, **settings)
    env.note = ["kept"]
    env.action_space.seed(5)
    other = copied(env)
    for name in settings.keys() - {"lives", "frame_stack", "copy"}:
        assert getattr(other.core, name) == getattr(env.core, name), name
    assert other.core.options == env.core.options and other.core.options["lives"] == 2
    assert other.frame_stack == 2 and other.copy is False and other.note == ["kept"]
    assert other.observation_space == env.observation_space and other.metadata == env.metadata
    assert np.array_equal(env.action_space.sample(), other.action_space.sample())


@pytest.mark.parametrize("make", [
    lambda: envs_c.make("breakout", N), lambda: sb3.make("breakout", N), lambda: gymnasium.make("Arcade/Breakout-v0").unwrapped,
    lambda: envs_c.VecEnv(envs_c.game("breakout"))], ids=["vector", "sb3", "single", "engine"])
def test_copies_of_closed_environments_are_closed(copied, make):
    env = make()
    env.close()
    other = copied(env)
    other.close()
    with pytest.raises(envs_c.Closed):
        other.get_state() if hasattr(other, "get_state") else other.reset()


def test_pickles_hold_the_states_but_no_observations():
    env = envs_c.make("breakout", 1000, view="pixels", frame_stack=1)
    env.reset()
    assert len(pickle.dumps(env)) < 1000 * env.core.stride + 200_000 < env.reset()[0].nbytes


def test_a_batch_cannot_be_copied(copied):
    batch = vector(envs_c.game("breakout"))._batch
    with pytest.raises(envs_c.CannotCopy, match="a batch cannot be pickled or copied, for its buffers are its caller's: copy"):
        copied(batch)


@pytest.mark.parametrize("damage", [lambda env, state: state[:-1] + bytes([state[-1] ^ 1]),
                                    lambda env, state: close_state(env._signature(), 1, b"\xff" * env.stride)],
                         ids=["damaged", "impossible"])
def test_the_state_in_a_pickle_is_checked_as_any_other(damage):
    core = envs_c.VecEnv(envs_c.game("breakout"))
    restored, (*arguments, state), _ = core.__reduce__()
    with pytest.raises(envs_c.InvalidState):
        restored(*arguments, damage(core, state))
    env = envs_c.make("breakout")
    held = env.__getstate__()
    head = len(env.core.get_state()).to_bytes(8, "little") + bytes(4)
    held["state"] = head + damage(env.core, env.core.get_state())
    with pytest.raises(envs_c.InvalidState):
        ArcadeVectorEnv.__new__(ArcadeVectorEnv).__setstate__(held)


def test_games_are_pickled_as_references(game):
    assert pickle.loads(pickle.dumps(game)) is copy.copy(game) is copy.deepcopy(game) is game
    assert len(pickle.dumps(game)) < 400


def test_a_game_that_no_module_holds_cannot_be_pickled():
    game = Game(name="nowhere", title="Nowhere", summary="", version=1, actions=["NOOP"], feature_shape=(1,))
    with pytest.raises(envs_c.CannotCopy, match="game 'nowhere' must be the GAME of a module, or come from"):
        pickle.dumps(game)


def test_a_game_from_outside_travels_by_its_path(toy, shared_folder):
    env = vector(toy, N, seed=3)
    env.reset()
    code = ("import pickle, sys\n"
            "env = pickle.load(sys.stdin.buffer)\n"
            "sys.stdout.buffer.write(env.step([0] * env.num_envs)[0].tobytes())\n")
    done = subprocess.run([sys.executable, "-c", code], input=pickle.dumps(env), capture_output=True, check=True,
                          env={**os.environ, "ENVS_C_CACHE": str(shared_folder / "toy")})
    assert done.stdout == env.step([0] * N)[0].tobytes()


@pytest.mark.parametrize(("path", "digest", "word"), [(str(TOY), "0" * 64, "changed"), ("/nowhere/toy.pyx", "0" * 64, "gone")])
def test_a_pickle_loads_no_other_game_than_the_one_pickled(monkeypatch, path, digest, word):
    monkeypatch.setattr(outside, "load", lambda *_: pytest.fail("it was compiled or loaded"))
    with pytest.raises(envs_c.InvalidArgument, match=rf"must be as it was when the game was pickled, but it has {word}: "):
        references.from_path(path, digest)


def test_environments_travel_to_spawned_processes():
    envs = [envs_c.make("breakout", N, seed=3), gymnasium.make("Arcade/Breakout-v0", sticky=0.5)]
    envs[1].reset(seed=4)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert np.array_equal(pool.apply(operator.methodcaller("reset"), envs[:1])[0], envs[0].reset()[0])
        assert np.array_equal(pool.apply(operator.methodcaller("step", 1), envs[1:])[0], envs[1].step(1)[0])


def test_gymnasiums_processes_take_copies_of_an_environment():
    env = gymnasium.make("Arcade/Breakout-v0").unwrapped
    joined = AsyncVectorEnv([functools.partial(copy.copy, env)] * 2, context="spawn")
    assert np.array_equal(joined.reset(seed=[7, 7])[0], [env.reset(seed=7)[0]] * 2)
    joined.close()
