"""set_state refuses environments in a state that cannot exist, with a checksum that is right, and then changes nothing.

test_crafted_states.py changes states of all games at random.
"""

import numpy as np
import pytest
from support import TOY, vector

import envs_c
from benchmarks.cartridges.open_state import struct
from benchmarks.cartridges.twins import TWINS
from envs_c import InvalidState, VecEnv, outside
from envs_c.engine.state import close_state
from envs_c.engine.vecenv import HEAD_SIZE
from envs_c.testing.play import bind, buffers
from tools import crafted_states

N, PLACE = 4, 2  # environments, and the one that is changed
HEAD = struct(("state stream", "u8"), ("episode_return", "f8"), ("episode_length last_action", "i4"), ("started over", "u1"))
TOY_STRUCT = struct(("cell length action frames jumps noise figure x y w h", "i4"), ("wind", "f4"))


def played(game, steps=3, **settings):
    """Environments after some steps, and their batch."""
    core = VecEnv(game, N, seed=1, num_threads=1, **settings)
    batch = bind(core, buffers(core), 0, N)
    batch.reset()
    for _ in range(steps):
        batch.step()
    return core, batch


def changed(core, place=PLACE, **values) -> bytes:
    """A state of `core` with other values in one environment, and the right checksum."""
    state = core.get_state()
    memory = np.frombuffer(state, np.uint8)[-N * core.stride:].reshape(N, -1).copy()
    for name, value in values.items():
        layout, start = (HEAD, 0) if name in HEAD.names else (TOY_STRUCT, HEAD_SIZE)
        memory[place, start : start + layout.itemsize].view(layout)[name] = value
    return close_state(core._signature(), N, memory.tobytes())


@pytest.mark.parametrize("values", [
    {"started": 2}, {"started": 0}, {"over": 2}, {"last_action": -1}, {"last_action": 4}, {"episode_length": -1},
    {"episode_return": np.nan}, {"episode_return": np.inf}, {"stream": 6}, {"cell": -1}, {"cell": 8}, {"length": 10},
    {"jumps": 3}, {"action": 4}, {"frames": -1}, {"wind": np.nan}, {"w": 1 << 30}], ids=str)
def test_a_state_that_cannot_exist_is_refused_by_its_number_and_nothing_changes(toy, values):
    core, _ = played(toy)
    before = core.get_state()
    with pytest.raises(InvalidState, match=r"^environment 2 of this state is in none that toy could have produced: use"):
        core.set_state(changed(core, **values))
    assert core.get_state() == before


@pytest.mark.parametrize("name", sorted(TWINS))
def test_a_state_of_a_game_under_other_rules_is_refused(name):
    machine = TWINS[name]()
    with pytest.raises(InvalidState):
        machine.change(**{"changes" if name == "enduro" else "rules": 1})


@pytest.mark.parametrize("values", [{"last_action": 3}, {"episode_return": -1e300}, {"cell": 7}, {"cell": 8, "over": 1},
                                    {"stream": 7}, {"episode_length": 2_000_000_000}], ids=str)
def test_a_state_at_the_end_of_its_range_is_restored(toy, values):
    core, batch = played(toy)
    state = changed(core, **values)
    core.set_state(state)
    assert core.get_state() == state
    batch.step()


def test_the_first_wrong_environment_is_named_and_those_before_it_are_not_restored(toy):
    core, batch = played(toy)
    wrong = changed(core, place=3, jumps=9)
    batch.step()
    before = core.get_state()
    with pytest.raises(InvalidState, match="environment 3 of this state"):
        core.set_state(wrong)
    assert core.get_state() == before
    env = vector(toy, N, seed=2, frame_stack=2)
    seen = env.reset()[0]
    saved = env.get_state()
    with pytest.raises(InvalidState):
        env.core.set_state(wrong)
    assert env.get_state() == saved and np.array_equal(env.set_state(saved), seen)


@pytest.mark.parametrize("values", [{"cell": 1}, {"over": 1}, {"episode_length": 1}, {"last_action": 1}], ids=str)
def test_an_environment_without_any_reset_has_no_struct(toy, values):
    core = VecEnv(toy, N, seed=1)
    core.set_state(core.get_state())
    with pytest.raises(InvalidState, match="environment 2"):
        core.set_state(changed(core, **values))


@pytest.mark.parametrize("autoreset, lengths", [("next_step", [4, 4, 0, 4]), ("same_step", [4, 4, 0, 4])])
def test_an_episode_that_had_ended_begins_again_also_in_environments_that_reset_in_the_same_step(toy, autoreset, lengths):
    core, _ = played(toy, autoreset=autoreset, options={"wind": 0})
    arrays = buffers(core)
    batch = bind(core, arrays, 0, N)
    core.set_state(changed(core, cell=8, over=1))
    batch.step()
    assert arrays["reward"][PLACE] == 0 and not arrays["terminated"].any()  # it only reset: no episode ended in this step
    memory = np.frombuffer(core.get_state(), np.uint8)[-N * core.stride:].reshape(N, -1)
    assert memory[:, :HEAD.itemsize].copy().view(HEAD)["episode_length"][:, 0].tolist() == lengths
    assert not core.over().any()


def test_a_game_without_valid_loads_and_takes_any_struct(fast_compiler, tmp_path):
    path = tmp_path / "mine.pyx"
    path.write_text(TOY.read_text(encoding="utf-8").replace(", has_mask=True, valid=valid)", ", has_mask=True)"))
    core, _ = played(outside.load(path))
    assert not core.game.has_valid
    state = changed(core, jumps=1000)
    core.set_state(state)
    assert core.get_state() == state
    with pytest.raises(InvalidState, match="environment 2"):
        core.set_state(changed(core, over=2))


@pytest.mark.parametrize("states, steps", [(100, 60), pytest.param(1500, 400, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", envs_c.games())
def test_an_accepted_state_leads_only_to_accepted_states(name, states, steps):
    """So what `valid` promises holds after any number of steps, also if no game can have produced the first state."""
    game = envs_c.game(name)
    assert game.has_valid
    accepted = 0
    for number, options in enumerate(crafted_states.all_options(game)):
        random = np.random.default_rng(number)
        core = VecEnv(game, 1, options=options, seed=1, num_threads=1, frame_skip=1)
        arrays, known = buffers(core), crafted_states.true_states(game, options, 300)
        batch = bind(core, arrays, 0, 1)
        for _ in range(states // len(crafted_states.all_options(game)) + 1):
            state, changes = crafted_states.craft(known, game.state_size, random)
            try:
                core.set_state(close_state(core._signature(), 1, state.tobytes()))
            except InvalidState:
                continue
            if not state[: HEAD.itemsize].view(HEAD)["started"][0]:
                continue
            accepted += 1
            for _ in range(steps):
                arrays["actions"][0] = random.integers(len(core.actions))
                batch.step()
                try:
                    core.set_state(core.get_state())
                except InvalidState:
                    pytest.fail(f"refused after {changes} under {options}")
    assert accepted > states // 20
