"""Wrong arguments: each error names the argument, states the requirement and gives the value; and no state changes."""

import numpy as np
import pytest
from support import vector

import envs_c
from envs_c import Closed, EnvsError, InvalidArgument, NotReset, UnknownGame, VecEnv
from envs_c.engine.state import MAGIC
from envs_c.game import Game, Option
from envs_c.testing.play import actions_of, bind, buffers

N = 5
NAN = float("nan")

MAKE = [  # game, settings, parts of the message
    ("brekout", {}, ["'brekout'", "did you mean breakout?", "cartpole"]),
    ("zzzz", {}, ["zzzz", "The games are asterix, asteroids, breakout"]),
    (None, {}, ["None", "The games are"]),
    ("cartpole", {"gravity": 3}, ["unexpected keyword argument 'gravity'", "cartpole has no options"]),
    *[("cartpole", {"num_envs": value}, [f"num_envs must be an integer from 1 to 16,777,216, not {value!r}"])
      for value in (0, -1, 1.5, "4", None, True, 2**24 + 1, NAN)],
    *[("cartpole", {"view": value}, [f"view must be one of 'features', 'pixels', 'rgb', 'both', not {value!r}"])
      for value in ("colour", None, 3)],
    *[("cartpole", {"autoreset": value}, ["autoreset must be one of 'next_step', 'same_step', 'disabled'", repr(value)])
      for value in ("sometimes", None, 0)],
    *[("cartpole", {"frame_skip": value}, [f"frame_skip must be an integer from 1 to 1,000, not {value!r}"])
      for value in (0, -4, 1001, 2.0, "4")],
    *[("cartpole", {"frame_stack": value}, [f"frame_stack must be an integer from 1 to 64, not {value!r}"])
      for value in (0, 65, None, 1.5)],
    *[("cartpole", {"sticky": value}, [f"sticky must be a number from 0 to 1, not {value!r}"])
      for value in (-0.1, 1.1, NAN, "x", None, True)],
    *[("cartpole", {"noop_max": value}, [f"noop_max must be an integer from 0 to 10,000, not {value!r}"])
      for value in (-1, 1.5, "x", 10_001)],
    ("cartpole", {"noop_max": 5}, ["noop_max must be 0, not 5", "the first action of cartpole is LEFT, not NOOP"]),
    *[("cartpole", {"time_limit": value}, ["time_limit must be an integer from 0 to", repr(value)])
      for value in (-1, 2.5, "x", 2**31)],
    *[("cartpole", {"reward_clip": value}, ["reward_clip must be None, a number", "pair", f"not {value!r}"])
      for value in (-1, (1, 0), NAN, "x", True, (1, 2, 3), (0, NAN), [], ("1", "2"), (float("inf"),) * 2,
                    (-float("inf"),) * 2, (True, 2), (1e39, 1e40), (-1e40, -1e39))],
    *[("cartpole", {"num_threads": value}, [f"num_threads must be an integer from 0 to 1,024, not {value!r}"])
      for value in (-1, 1025, 1.5)],
    *[("cartpole", {"seed": value}, ["seed must be an integer from 0 to", f"not {value!r}"])
      for value in (-1, 1.5, 2**64, "x", True)],
    *[("cartpole", {setting: value}, [setting, "must be", "not "])
      for setting in ("num_envs", "frame_skip", "frame_stack", "sticky", "time_limit", "reward_clip", "num_threads", "seed")
      for value in (10**400, 10**5000, -(10**5000))],
    *[("cartpole", {setting: np.zeros((3, 3))}, [setting, "must be", "not array([[0.,"])
      for setting in ("num_envs", "view", "frame_skip", "frame_stack", "sticky", "noop_max", "time_limit", "reward_clip",
                      "num_threads", "autoreset", "copy")],
    *[("cartpole", {"seed": value}, ["seed"]) for value in ([[1, 2], 3], np.zeros((1, 3)), {1, 2}, {"a": 1})],
    ("snake", {"size": np.arange(3)}, ["option 'size'", "not array([0, 1, 2])"]),
    *[(name, {}, ["unknown game", "The games are"]) for name in ([], {}, {"pong"}, 3.5, b"pong", np.zeros(2))],
    ("pong\0", {}, ["unknown game 'pong\\x00'"]),
    ("cartpole", {"num_envs": 3, "seed": [1, 2]}, ["seed must have one entry", "2 entries", "3 environments"]),
    ("cartpole", {"num_envs": 2, "seed": [1, -2]}, ["seed[1] must be an integer from 0 to", "not -2"]),
]


@pytest.mark.parametrize(("name", "settings", "parts"), MAKE, ids=range(len(MAKE)))
def test_make_names_the_wrong_setting(name, settings, parts):
    with pytest.raises(UnknownGame if not settings else InvalidArgument) as caught:
        envs_c.make(name, **settings)
    assert isinstance(caught.value, EnvsError) and isinstance(caught.value, ValueError)
    assert all(part in str(caught.value) for part in parts), caught.value
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 600


@pytest.mark.parametrize("path", ["a\0b.pyx", b"a.pyx", 5, None, []], ids=repr)
def test_a_path_of_a_game_is_text_without_nul(path):
    with pytest.raises(InvalidArgument, match="path must be a str or Path without NUL"):
        envs_c.load(path)


@pytest.mark.parametrize("mask", [[True], np.ones(N + 1, bool), np.zeros(N, bool), np.ones(N)], ids=str)
def test_a_mask_of_seeds_is_one_bool_an_environment(mask):
    env = VecEnv(envs_c.game("cartpole"), N, seed=1)
    before = env.get_state()
    with pytest.raises(InvalidArgument, match=rf"mask must be a bool NumPy array of shape \({N},\) with at least one True"):
        env.seed(1, mask)
    assert env.get_state() == before


@pytest.mark.parametrize(("options", "words"), [
    *[({"length": value}, ["'length'", "toy", f"not {value!r}", "must be an integer from 4 to 20", "cells"])
      for value in (3, 21, 5.5, "9", True, None, NAN, float("inf"))],
    *[({"wind": value}, ["'wind'", "toy", f"not {value!r}", "must be a number from 0 to 1", "gust"])
      for value in (1.5, -0.1, "a", None, NAN, True)],
    ({"lenght": 5}, ["unknown option 'lenght'", "toy", "length, wind"]),
], ids=str)
def test_options_out_of_range_are_named(toy, options, words):
    with pytest.raises(InvalidArgument) as caught:
        vector(toy, options=options)
    assert all(word in str(caught.value) for word in words), caught.value


def played(game, **settings):
    env = vector(game, N, seed=1, **settings)
    env.reset()
    for actions in actions_of(game, 3, N):
        env.step(actions)
    return env


def one_wrong(value, dtype=np.int64):
    actions = np.zeros(N, dtype)
    actions[2] = value
    return actions


ALL = "0 NOOP, 1 LEFT, 2 RIGHT, 3 JUMP"
STEP = {
    "too many": (np.zeros(N + 1, int), ["(6,)", "(5,)"]),
    "too few": (np.zeros(1, int), ["(1,)", "(5,)"]),
    "a column": (np.zeros((N, 1), int), ["(5, 1)", "(5,)"]),
    "one number": (0, ["()", "(5,)"]),
    "floats": (np.zeros(N), ["actions must be integers", "float64"]),
    "bools": (np.zeros(N, bool), ["actions must be integers", "bool"]),
    "texts": (["LEFT"] * N, ["actions must be integers", "<U4"]),
    "of several lengths": ([[1, 2], 1, 2, 3, 4], ["actions must be integers", "[[1, 2], 1, 2, 3, 4]"]),
    "none": (None, ["actions must be integers", "object of shape (): None"]),
    "an integer of no dtype": ([0, 2**70, 0, 0, 0], ["actions must be integers", "(5,): [0, 1180591620717411303424, 0, 0, 0]"]),
    "4": (one_wrong(4), ["environment 2 must be from 0 to 3", ALL, "not 4;"]),
    "-1": (one_wrong(-1), ["environment 2 must be", ALL, "not -1;"]),
    "-1 int8": (one_wrong(-1, np.int8), ["environment 2 must be", ALL, "not -1;"]),
    "255 uint8": (one_wrong(255, np.uint8), ["environment 2 must be", ALL, "not 255;"]),
    "beyond int32": (one_wrong(2**32 + 1), ["environment 2 must be", ALL, "not 4294967297;"]),
    "beyond int64": (one_wrong(2**64 - 1, np.uint64), ["environment 2 must be", ALL, "not 18446744073709551615;"]),
    "all of uint32": (one_wrong(2**32 - 1, np.uint32), ["environment 2 must be", ALL, "not 4294967295;"]),
}


@pytest.mark.parametrize("kind", STEP)
def test_actions_that_do_not_fit_are_named_and_nothing_is_stepped(toy, kind):
    actions, words = STEP[kind]
    env = played(toy)
    before = env.get_state()
    with pytest.raises(InvalidArgument) as caught:
        env.step(actions)
    assert all(word in str(caught.value) for word in words), caught.value
    assert env.get_state() == before


@pytest.mark.parametrize("value", [[1], np.array([1]), (), None, 1.0, True, "1", 2**70, {1}], ids=repr)
def test_the_action_of_a_single_environment_is_one_integer(value):
    env = envs_c.gymnasium_env.ArcadeEnv(vector(envs_c.game("breakout"), autoreset="disabled"))
    env.reset(seed=1)
    before = env.get_state()
    with pytest.raises(InvalidArgument) as caught:
        env.step(value)
    assert str(caught.value) == f"action must be an integer from 0 to 3, not {value!r}"
    assert env.get_state() == before
    for right in (1, np.uint8(1), np.array(1)):
        env.step(right)


@pytest.mark.parametrize("value", [-1, 4, 2**31 - 1, -(2**31)])
def test_a_batch_names_the_environment_whose_action_does_not_fit(toy, value):
    core = VecEnv(toy, N, seed=1)
    arrays = buffers(core)
    batch = bind(core, arrays, 2, N)
    batch.reset()
    before = core.get_state()
    arrays["actions"][3] = value
    with pytest.raises(InvalidArgument, match=rf"environment 3 must be .*, not {value}; no environment was stepped"):
        batch.step()
    assert core.get_state() == before


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", ">i4"])
def test_actions_of_every_integer_type_are_accepted(toy, dtype):
    env, other = played(toy), played(toy)
    actions = np.array([3, 2, 1, 0, 3])
    assert np.array_equal(env.step(actions.astype(dtype))[0], other.step(actions.tolist())[0])


RESET = {
    "a list": ({"options": {"reset_mask": [True] * N}}, ["reset_mask", "(5,)"]),
    "another shape": ({"options": {"reset_mask": np.ones(N + 1, bool)}}, ["reset_mask", "(6,)", "(5,)"]),
    "integers": ({"options": {"reset_mask": np.ones(N, int)}}, ["reset_mask", "int64", "bool"]),
    "all false": ({"options": {"reset_mask": np.zeros(N, bool)}}, ["reset_mask", "True"]),
    **{f"options={options!r}": ({"options": options}, ["options must be a dict or None, not"])
       for options in (5, "reset_mask", [True] * N, np.ones(N, bool), 0)},
    "a seed of 400 digits": ({"seed": 10**400}, ["seed", "from 0 to", "401 characters"]),
    "a seed of 5001 digits": ({"seed": 10**5000}, ["seed", "from 0 to", "cannot be shown"]),
    "seeds of several lengths": ({"seed": [[1, 2], 1, 2, 3, 4]}, ["seed[0]", "[1, 2]"]),
    "a negative seed": ({"seed": -5}, ["seed", "-5", "from 0 to"]),
    "seeds for others": ({"seed": [1, 2]}, ["seed", "2 entries", "5 environments"]),
    "a wrong seed among others": ({"seed": [1, 2, 3, 4, "x"]}, ["seed[4]", "'x'"]),
}


@pytest.mark.parametrize("kind", RESET)
def test_resets_that_do_not_fit_change_nothing(toy, kind):
    arguments, words = RESET[kind]
    env = played(toy)
    before = env.get_state()
    with pytest.raises(InvalidArgument) as caught:
        env.reset(**arguments)
    assert all(word in str(caught.value) for word in words), caught.value
    assert env.get_state() == before


@pytest.mark.parametrize("indices", [[N], [-1], [0, 0], [], [0.5], ["a"], [True], [[1, 2], 3], [10**400]],
                         ids=str)
@pytest.mark.parametrize("method", ["get_state", "set_state"])
def test_indices_of_states_are_in_range_and_listed_once(toy, method, indices):
    env = played(toy)
    before = env.get_state()
    with pytest.raises(InvalidArgument, match=r"index|indices"):
        env.get_state(indices) if method == "get_state" else env.set_state(before, indices)
    assert env.get_state() == before


def test_a_state_with_a_header_nested_too_deep_is_refused(toy):
    core, text = VecEnv(toy, N), b"[" * 100_000
    with pytest.raises(envs_c.InvalidState, match="damaged or incomplete"):
        core.set_state(MAGIC + len(text).to_bytes(4, "little") + text)


@pytest.mark.parametrize("index", [-1, N, 1.5, "1", None, 10**400], ids=range(6))
def test_an_environment_to_render_exists(toy, index):
    with pytest.raises(InvalidArgument, match=rf"environment's index must be an integer from 0 to 4, not {repr(index)[:50]}"):
        played(toy).core.render(index)


def test_stepping_before_a_reset_is_an_error(game):
    env = vector(game, 3, seed=1)
    before = env.get_state()
    for call in (lambda: env.step(np.zeros(3, int)), env.render):
        with pytest.raises(NotReset, match=r"environment 0 of .* never reset; call reset\(\)"):
            call()
    assert env.get_state() == before
    env.reset(options={"reset_mask": np.array([True, True, False])})
    with pytest.raises(NotReset, match="environment 2"):
        env.step(np.zeros(3, int))
    env.reset(options={"reset_mask": np.array([False, False, True])})
    env.step(np.zeros(3, int))


def test_stepping_after_an_end_under_autoreset_disabled_is_an_error(game):
    env = vector(game, 3, time_limit=4, autoreset="disabled", seed=1)
    env.reset()
    for actions in actions_of(game, 4, 3):
        env.step(actions)
    env.reset(options={"reset_mask": np.array([True, False, True])})
    before = env.get_state()
    with pytest.raises(NotReset, match=r"environment 1 of .* end and autoreset is disabled; reset it"):
        env.step(np.zeros(3, int))
    assert env.get_state() == before


AFTER_CLOSE = {
    "reset": lambda env: env.reset(),
    "reset with a seed": lambda env: env.reset(seed=1),
    "step": lambda env: env.step(np.zeros(N, int)),
    "render": lambda env: env.render(),
    "get_state": lambda env: env.get_state(),
    "set_state": lambda env: env.set_state(played(env.game).get_state()),
    "seed": lambda env: env.core.seed(1),
    "over": lambda env: env.core.over(),
    "bind": lambda env: bind(env.core, buffers(env.core), 0, N),
    "a batch's reset": lambda env: env._batch.reset(),
    "a batch's step": lambda env: env._batch.step(),
    "a batch's observe": lambda env: env._batch.observe(),
}


@pytest.mark.parametrize("use", AFTER_CLOSE)
def test_use_after_close_is_an_error(toy, use):
    env = played(toy)
    env.close()
    env.close()
    env.core.close()
    with pytest.raises(Closed, match=r"toy environments were closed.*envs_c\.make"):
        AFTER_CLOSE[use](env)


@pytest.mark.parametrize(("change", "words"), [
    ({"name": "Two Words"}, ["lower-case identifier", "'Two Words'"]),
    ({"actions": ()}, ["'bare'", "at least one action"]),
    ({"feature_dtype": "float64"}, ["'bare'", "float32 or uint8", "float64"]),
    ({"screen": (160, 83)}, ["'bare'", "each at least 84", "(160, 83)"]),
    ({"screen": (641, 481)}, ["'bare'", "(641, 481)", "too fine", "share factors with 84"]),
    ({"screen": (40009, 84)}, ["'bare'", "(40009, 84)", "40,009 units", "32,767 at most", "share factors with 84"]),
], ids=str)
def test_a_description_that_breaks_the_contract_is_refused(change, words):
    right = {"name": "bare", "title": "Bare", "summary": "A game.", "version": 1, "actions": ("GO",),
             "feature_shape": (1,), "options": {"speed": Option(1, 0, 2, "how fast")}}
    Game(**right)
    with pytest.raises(envs_c.ContractError) as caught:
        Game(**{**right, **change})
    assert all(word in str(caught.value) for word in words), caught.value
