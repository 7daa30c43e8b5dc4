"""The rules about restored states: `valid` accepts those that the game produces, and those that it accepts do no harm."""

import signal
import sys
from typing import TextIO

import numpy as np

from envs_c.engine.state import close_state, memory_of, part_of_state, with_memory
from envs_c.engine.vecenv import HEAD_SIZE
from envs_c.errors import InvalidState
from envs_c.testing.bounds import wrong_index
from envs_c.testing.fields import Field, refused_field
from envs_c.testing.play import Play
from envs_c.testing.rules import LIMIT, STEPS, VIEWS, Broken, actions_of_core, need, option_sets, padding, rule
from envs_c.testing.watchdog import note
from envs_c.testing.workers import ended, module_of

LONG = 5 * STEPS  # steps of play whose states must be accepted
HOLD = 6          # steps for which an environment repeats an action, at most: this leads farther than random actions
CHANGED = 150     # changed states for each set of options and view
AHEAD = 40        # steps after each of them
FIELDS: list[Field] = []  # of the struct that is tested, if its file is known
KINDS = ("u1", "i2", "i4", "f4", "f8")  # of the fields that are changed
INTEGERS = (0, -1, 1, 100, 127, 255, 1000, 1 << 15, 1 << 20, 1 << 30, -1000, -(1 << 30))
FLOATS = (0, -1, 1, 1e3, -1e3, 1e9, -1e9, 1e30, np.inf, -np.inf, np.nan)


@rule
def accepts_its_own_states(game):
    """The game has a function `valid`, and it is true for every state that the game itself reaches."""
    need(game.has_valid, "it has no function valid, so a damaged state can make it write outside its memory: write one, and "
                         "end the file with .bind(chunk, ..., valid=valid)")
    for options in option_sets(game):
        for time_limit in (None, LIMIT):
            play = Play(game, 8, autoreset="next_step", time_limit=time_limit, options=options)
            play.reset()
            former = None
            for step, actions in enumerate(held(actions_of_core(play, LONG))):
                former = accept_all(play, step, options, former)
                play.step(actions)


def held(actions: np.ndarray) -> np.ndarray:
    """Actions, (steps, N), repeated for some steps in all environments but the first two."""
    steps = np.arange(len(actions))
    for i in range(2, actions.shape[1]):
        actions[:, i] = actions[steps - steps % (1 + i % HOLD), i]
    return actions


def accept_all(play: Play, step: int, options: dict, former: bytes | None) -> bytes:
    """Returns the present states of a play; raises Broken if one is not accepted. former: those of the step before."""
    states = play.core.get_state()
    if not restore(play, states):
        over = "; an episode had ended there" if play.core.over().any() else ""
        raise Broken(f"valid refuses a state that the game has reached, in step {step}"
                     f"{f' with {options}' if options else ''}{over}{why(play, states, former)}")
    return states


def why(play: Play, states: bytes, former: bytes | None) -> str:
    """The field for which the first refused state is refused, as an addition to the fault; "" if no single one is known."""
    core, count = play.core, play.core.num_envs
    refused = next(i for i in range(count) if not restore(play, part_of_state(states, i, count), [i]))
    state = part_of_state(states, refused, count)
    memory = np.frombuffer(memory_of(state), np.uint8)
    part = slice(HEAD_SIZE, HEAD_SIZE + core.game.state_size)

    def accepts(struct: np.ndarray) -> bool:
        changed = memory.copy()
        changed[part] = struct
        return restore(play, with_memory(state, changed.tobytes()), [refused])
    known = None if former is None else np.frombuffer(memory_of(part_of_state(former, refused, count)), np.uint8)[part]
    field = refused_field(memory[part], known, FIELDS, accepts)
    return "" if field is None else f": {field}"


def restore(play: Play, state: bytes, indices=None) -> bool:
    """Restore a state; False if it is refused."""
    try:
        play.restore(state, indices)
    except InvalidState:
        return False
    return True


@rule
def is_safe_in_accepted_states(game):
    """No state that `valid` accepts leads to a crash, an infinite loop, damaged memory or outputs that are not finite."""
    if not game.has_valid:
        return  # the rule accepts_its_own_states says so
    done = ended(module_of(game), "changed")
    if done.returncode != 0:
        lines = done.stdout.decode().splitlines()
        state = next((line for line in reversed(lines) if line.startswith("with ")), "with a change")
        fault = (lines[-1] if lines and lines[-1] != state else
                 wrong_index(done.stderr.decode(errors="replace")) or ended_with(done.returncode))
        raise Broken(f"{fault}, after a state {state}: valid must refuse it")


def ended_with(status: int) -> str:
    return f"the process ended by {signal.Signals(-status).name}" if status < 0 else f"the process ended with status {status}"


def changed(game, results: TextIO):
    """Play from changed states that `valid` accepts. Writes a line about each, and one about the first fault, to `results`."""
    random = np.random.RandomState(0)
    for options in option_sets(game):
        for view in VIEWS:
            play = Play(game, 3, view=view, options=options)
            play.reset()
            middle = play.core.bind(1, 2, **{name: array[1:2] for name, array in play.arrays.items()})
            for actions in actions_of_core(play, CHANGED):
                play.step(actions)
                state = play.core.get_state([1])
                memory = np.frombuffer(state, np.uint8)[-play.core.stride:].copy()
                struct = memory[HEAD_SIZE : HEAD_SIZE + game.state_size]
                print(change(struct, random), file=results, flush=True)
                try:
                    try_state(play, middle, memory.tobytes(), random)
                except Broken as broken:
                    print(broken, file=results)
                    sys.exit(1)
                restore(play, state, [1])


def change(struct: np.ndarray, random: np.random.RandomState) -> str:
    """Change one number of a struct, (bytes,) uint8. Returns the change as text."""
    kinds = [np.dtype(kind) for kind in KINDS if int(kind[1]) <= len(struct)]
    kind = kinds[random.randint(len(kinds))]
    at = kind.itemsize * random.randint(len(struct) // kind.itemsize)
    field = struct[at : at + kind.itemsize].view(kind)
    with np.errstate(all="ignore"):
        if kind.kind == "f":
            field[0] = FLOATS[random.randint(len(FLOATS))]
        elif random.randint(3):
            field[0] = np.array(INTEGERS[random.randint(len(INTEGERS))]).astype(kind)
        else:
            field[0] += np.array(random.randint(-3, 4)).astype(kind)
    return f"with {field[0]} as the {kind.name} at byte {at} of its struct"


def try_state(play: Play, middle, memory: bytes, random: np.random.RandomState):
    """Restore a changed state into environment 1 and play on. Raises Broken for a fault.

    middle: the batch of environment 1 only.
    """
    others = play.core.get_state([0, 2])
    if not restore(play, close_state(play.core._signature(), 1, memory), [1]):
        return
    play.observe()
    play.render(1)
    for action in random.randint(0, len(play.core.actions), AHEAD):
        play.arrays["actions"][1] = action
        note("step", play, slice(1, 2))
        middle.step()
        for name in ("observation", "reward"):
            need(np.isfinite(play.arrays[name][1]).all(), f"the {name} is not finite")
    play.render(1)
    need(play.core.get_state([0, 2]) == others, "the state of a neighbour was changed")
    state = play.core.get_state([1])
    need(not any(state[len(state) - padding(play.core):]), "the bytes behind the struct were written")
    for name, guarded in play.guarded.items():
        need(not guarded.damaged(), f"bytes beside the buffer {name} were written")
