"""get_state and set_state: snapshots and forks continue bit for bit; wrong bytes are refused and change nothing."""

import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest
from support import restart, vector

import envs_c
from envs_c import InvalidState, VecEnv
from envs_c.engine.state import _parse, close_state
from envs_c.testing.play import actions_of, bind, buffers

N = 6
SETTINGS = {"frame_stack": 3, "time_limit": 20, "sticky": 0.25, "autoreset": "next_step"}


def played(game, steps=27, seed=1, **settings):
    """Environments in the middle of their play, some of them after an episode's end."""
    env = vector(game, N, seed=seed, **{**SETTINGS, **settings})
    env.reset()
    for actions in actions_of(game, steps, N, seed):
        restart(env, env.core.over())
        env.step(actions)
    restart(env, env.core.over())
    return env


def future(env, steps=60, rows=None, columns=None) -> bytes:
    """The outputs of the next steps of `env`.

    rows: the environments to play and to return.
    columns: their columns in the table of random actions; default: the same numbers.
    """
    rows = np.arange(env.num_envs) if rows is None else np.asarray(rows)
    columns = rows if columns is None else columns
    outputs, actions = [], np.zeros(env.num_envs, int)
    for table in actions_of(env.game, steps, N, seed=3):
        actions[rows] = table[columns]
        restart(env, env.core.over())
        observation, reward, terminated, truncated, infos = env.step(actions)
        returns = infos["episode_stats"]["r"] if "episode_stats" in infos else np.zeros(env.num_envs)
        outputs += [output[rows].tobytes() for output in (observation, reward, terminated, truncated, returns)]
    return b"".join(outputs)


def test_a_restored_state_is_played_again_bit_for_bit(each_kind, view, autoreset):
    env = played(each_kind, view=view, autoreset=autoreset)
    observation = env.step(np.zeros(N, int))[0]
    state = env.get_state()
    once = future(env)
    assert np.array_equal(env.set_state(state), observation)
    assert env.get_state() == state
    assert future(env) == once


def test_other_environments_continue_a_state(each_kind, view):
    env = played(each_kind, view=view)
    fork = vector(each_kind, N, view=view, seed=99, num_threads=2, **SETTINGS)  # never reset
    observation = fork.set_state(env.get_state())
    assert np.array_equal(observation, env.set_state(env.get_state()))
    assert future(fork) == future(env)


def test_any_environments_are_saved_and_restored_in_any_order(each_kind):
    env = played(each_kind)
    rows, places = [4, 0, 3], [1, 5, 2]
    state = env.get_state(rows)
    other = played(each_kind, seed=2)
    kept = other.get_state([0, 3, 4])
    other.set_state(state, indices=np.array(places))
    assert other.get_state([0, 3, 4]) == kept
    assert other.get_state(places) == state
    assert future(other, rows=places, columns=rows) == future(env, rows=rows)


def test_one_environment_can_be_forked_into_all(each_kind):
    env = played(each_kind)
    one = env.get_state([2])
    for i in range(N):
        env.set_state(one, [i])
    for actions in actions_of(each_kind, 40, 1):
        observation, reward, *_ = env.step(np.repeat(actions, N))
        assert (observation == observation[0]).all() and (reward == reward[0]).all()


def test_some_environments_are_restored_if_the_others_were_never_reset(each_kind, view):
    env = vector(each_kind, 3, view=view, seed=1)
    observation = env.set_state(played(each_kind, frame_stack=1).get_state([1]), [2])
    assert not observation[:2].any() and observation[2].any()
    with pytest.raises(envs_c.NotReset, match="environment 0"):
        env.step(np.zeros(3, int))


TRIPS, MANY, AHEAD = 10, 100, 25  # 10 times 100 environments are saved: 1,000 states, most of them within an episode


def trip(game, number, state=None):
    """Save MANY environments at a random moment, or restore `state` into others, and play AHEAD steps.

    number: the seed of this trip.
    Returns the state and the outputs of these steps, (MANY, bytes), in the order of the state.
    """
    random = np.random.RandomState(number)
    order, seed = random.permutation(MANY), random.randint(1 << 30)
    core = VecEnv(game, MANY, time_limit=60, sticky=0.25, seed=number if state is None else 0)
    arrays = buffers(core)
    batch = bind(core, arrays, 0, MANY)
    if state is None:
        batch.reset()
        for actions in actions_of(game, random.randint(1, 150), MANY, seed):
            arrays["actions"][:] = actions
            batch.step()
        state = core.get_state(order)
    else:
        core.set_state(state)
        order = np.arange(MANY)
    outputs = []
    for actions in actions_of(game, AHEAD, MANY, seed=1):
        arrays["actions"][order] = actions
        batch.step()
        outputs += [arrays[name][order].reshape(MANY, -1).view(np.uint8) for name in ("observation", "reward", "terminated")]
    return state, np.concatenate(outputs, axis=1)


@pytest.mark.parametrize("name", envs_c.games())
def test_1000_saved_states_continue_the_same_in_other_environments_and_in_another_process(name, tmp_path):
    game = envs_c.game(name)
    saved = [trip(game, number) for number in range(TRIPS)]
    for number, (state, outputs) in enumerate(saved):
        (tmp_path / str(number)).write_bytes(state)
        there = trip(game, number, state)[1]
        assert np.array_equal(outputs, there), f"environments {np.flatnonzero((outputs != there).any(1))} of trip {number}"
    code = (
        "import sys, pathlib; sys.path[:0] = sys.argv[3].split(':')\n"
        "import envs_c; from test_state import TRIPS, trip\n"
        "for i in range(TRIPS):\n"
        "    outputs = trip(envs_c.game(sys.argv[1]), i, pathlib.Path(sys.argv[2], str(i)).read_bytes())[1]\n"
        "    sys.stdout.buffer.write(outputs.tobytes())"
    )
    folders = ":".join([str(Path(__file__).parent), *sys.path])
    there = subprocess.run([sys.executable, "-c", code, name, tmp_path, folders], capture_output=True, check=True)
    assert there.stdout == b"".join(outputs.tobytes() for _, outputs in saved)


def damaged(state: bytes):
    """The state with one byte changed, for each byte (beyond 150 for each 7th one), cut short, and longer."""
    for i in [*range(150), *range(150, len(state), 7)]:
        yield state[:i] + bytes([state[i] ^ 0xFF]) + state[i + 1 :]
    for length in (0, 5, 8, 12, 20, 100, len(state) // 2, len(state) - 1):
        yield state[:length]
    yield state + b"\0"
    yield state * 2
    yield b""
    yield b"not a state, but long enough for one" * 100


@pytest.mark.parametrize("frame_stack", [1, 3])
def test_damaged_bytes_are_refused_and_nothing_changes(toy, frame_stack):
    env = played(toy, frame_stack=frame_stack)
    other = played(toy, seed=2, frame_stack=frame_stack)
    before = other.get_state()
    for state in damaged(env.get_state()):
        with pytest.raises(InvalidState):
            other.set_state(state)
    assert other.get_state() == before


def test_the_core_refuses_damaged_bytes_too(toy):
    core = played(toy).core
    before = core.get_state()
    for state in damaged(played(toy, seed=2).core.get_state()):
        with pytest.raises(InvalidState):
            core.set_state(state)
    assert core.get_state() == before


def test_a_state_from_before_the_first_reset_needs_a_reset(toy):
    core, new = played(toy).core, VecEnv(toy, N, seed=4)
    batch = core.bind(0, N, **buffers(core))
    core.set_state(new.get_state([3]), [3])
    with pytest.raises(envs_c.NotReset, match="environment 3"):
        batch.step()


@pytest.mark.parametrize("copy", [True, False])
def test_a_state_from_before_the_first_reset_has_no_observations(toy, view, copy):
    """Those of the environments that are not restored stay."""
    env, new = played(toy, view=view, copy=copy, frame_stack=1), vector(toy, N, view=view, frame_stack=1, seed=4)
    before = [np.array(part) for part in parts(env.set_state(env.get_state()))]
    for part, old in zip(parts(env.set_state(new.get_state([3, 1]), [3, 1])), before, strict=True):
        assert not part[[1, 3]].any() and old[[1, 3]].any()
        assert np.array_equal(np.delete(part, [1, 3], 0), np.delete(old, [1, 3], 0))


def parts(observations):
    return observations.values() if isinstance(observations, dict) else [observations]


FOREIGN = {
    "text": (lambda toy: "state", ["str", "bytes"]),
    "none": (lambda toy: None, ["NoneType", "bytes"]),
    "bytearray": (lambda toy: bytearray(played(toy).get_state()), ["bytearray", "bytes"]),
    "another game": (lambda toy: played(envs_c.game("cartpole"), frame_stack=1).get_state(), ["'cartpole'", "'toy'"]),
    "another option": (lambda toy: played(toy, frame_stack=1, options={"length": 5}).get_state(),
                       ["options", "5.0", "9.0"]),
    "the core": (lambda toy: played(toy, frame_stack=1).core.get_state(), ["of a VecEnv", "env.core.set_state"]),
    "another count": (lambda toy: played(toy, frame_stack=1).get_state([0, 1]), ["2 environments", "6"]),
    "stacked frames": (lambda toy: played(toy).get_state(), ["'frame_stack=3 of 2 x 3 uint8'", "'frame_stack=1'"]),
}


@pytest.mark.parametrize("kind", FOREIGN)
def test_states_of_another_kind_are_refused_and_nothing_changes(toy, kind):
    make, words = FOREIGN[kind]
    env = played(toy, frame_stack=1)
    before = env.get_state()
    with pytest.raises(InvalidState) as caught:
        env.set_state(make(toy))
    assert all(word in str(caught.value) for word in words), caught.value
    assert env.get_state() == before


@pytest.mark.parametrize("state", ["text", None, 5, b"short"], ids=str)
def test_the_core_refuses_states_that_are_not_from_get_state(toy, state):
    with pytest.raises(InvalidState, match="get_state"):
        VecEnv(toy, 2).set_state(state)


def test_another_version_of_a_game_or_of_the_format_is_refused(toy):
    state = played(toy).core.get_state()
    core = VecEnv(toy, N)
    with pytest.raises(InvalidState, match=r"version 2.*have 3"):
        core.set_state(state.replace(b'"version": 3', b'"version": 2'))
    with pytest.raises(InvalidState, match=r"format 9.*reads format 1"):
        core.set_state(state[:7] + b"\x09" + state[8:])


@pytest.mark.parametrize("now, fits", [({}, True), ({"lazy_enemy": 0}, True), ({"lazy_enemy": 1}, False)])
def test_a_state_that_is_older_than_an_option_had_its_default(now, fits):
    state = played(envs_c.game("pong")).core.get_state()
    head, raw = _parse(state)
    for option in ("lazy_enemy", "fast_serve", "hidden_enemy"):
        del head["options"][option]
    core = VecEnv(envs_c.game("pong"), N, options=now)
    old = close_state({key: head[key] for key in core._signature()}, N, raw)
    if fits:
        core.set_state(old)
        assert core.get_state() == state
    else:
        with pytest.raises(InvalidState, match="options"):
            core.set_state(old)


def test_observe_shows_the_present_state(each_kind, view):
    env = played(each_kind, view=view, frame_stack=1)
    core = VecEnv(each_kind, N, view=view)
    arrays = buffers(core)
    batch = core.bind(0, N, **arrays)
    core.set_state(env.core.get_state())
    state = core.get_state()
    batch.observe()
    assert np.array_equal(arrays["observation"], env.set_state(env.get_state()))
    assert core.get_state() == state


@pytest.mark.parametrize(("theirs", "ours", "words"), [
    ({"picture_size": 84}, {"picture_size": (42, 168)},
     ["'frame_stack=3 of 84 x 84 uint8'", "'frame_stack=3 of 42 x 168 uint8'"]),
    ({"picture_size": (20, 10), "frame_stack": 4}, {"picture_size": (40, 10), "frame_stack": 2},
     ["'frame_stack=4 of 20 x 10 uint8'", "'frame_stack=2 of 40 x 10 uint8'"])], ids=["shape", "number"])
def test_frames_of_another_kind_are_refused_though_they_have_as_many_bytes(toy, theirs, ours, words):
    other, env = played(toy, view="pixels", **theirs), played(toy, view="pixels", seed=2, **ours)
    before = env.get_state()
    assert env._stack.nbytes == other._stack.nbytes
    with pytest.raises(InvalidState) as caught:
        env.set_state(other.get_state())
    assert all(word in str(caught.value) for word in words), caught.value
    assert env.get_state() == before


def test_a_state_of_stacked_frames_from_before_it_named_their_kind_is_restored(toy):
    env, other = played(toy), played(toy, seed=2)
    core, stack = env.core.get_state(), env._stack.tobytes()
    older = len(core).to_bytes(8, "little") + zlib.crc32(stack).to_bytes(4, "little") + core + stack
    other.set_state(older)
    assert other.get_state() == env.get_state()
    with pytest.raises(InvalidState, match="108 bytes of stacked frames; frame_stack=1 of 6 environments has 0"):
        played(toy, frame_stack=1).set_state(older)
