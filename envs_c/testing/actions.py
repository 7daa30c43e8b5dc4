"""The rule about undeclared actions. It tries numbers beyond them in other processes."""

import hashlib
import json

from envs_c.testing.play import Play, actions_of
from envs_c.testing.rules import STEPS, need, rule
from envs_c.testing.watchdog import note
from envs_c.testing.workers import ask, module_of

NEAR = range(8)  # numbers beyond the last action, counted from it
FAR = (0x3579BDF5, 0x4ECA8653, -0x1357_9BDD)  # if the action is used as an index, these end the process


@rule
def declares_every_action(game):
    """`actions` names every action: no number beyond the last one has an effect that none of the actions has.

    This cannot be tested if a game uses the action as an index (a number far beyond then ends the process).
    """
    count, module = len(game.actions), module_of(game)
    declared = [set(column) for column in zip(*outcomes(game, [None, *range(count)]), strict=True)]
    status, there = ask(module, "outcomes", *FAR)
    if status != 0 or strays(declared, json.loads(there)):
        return
    beyond = [count + offset for offset in NEAR]
    status, there = ask(module, "outcomes", *beyond)
    for action, row in zip(beyond, json.loads(there) if status == 0 else (), strict=False):
        need(not strays(declared, [row]), f"it declares {count} actions, 0 to {count - 1} ({', '.join(game.actions[:18])}), "
                                          f"but action {action} does something that none of them does")


def outcomes(game, actions: list[int | None]) -> list[list[str]]:
    """The outcome of each action in some states: a row for each action, a column for each state."""
    play = Play(game, 1, frame_skip=1, autoreset="next_step")
    play.reset()
    rows = [[] for _ in actions]
    for i, action in enumerate(actions_of(game, STEPS // 2, 1)[:, 0]):
        state = play.core.get_state()
        for row, tried in zip(rows, actions if i % 4 == 0 else (), strict=False):
            row.append(outcome(play, state, tried))
        play.restore(state)
        play.step(action)
    return rows


def outcome(play: Play, state: bytes, action: int | None) -> str:
    """A hash of the outputs of an action, declared or not, and of the next two steps. None takes no action."""
    play.restore(state)
    play.arrays["reward"][0] = play.arrays["terminated"][0] = 0
    if action is None:
        play.observe()
    else:
        play.arrays["actions"][0] = action
        note("step", play)
        play.batch._step_unchecked()
    names = ("observation", "reward", "terminated")
    outputs = [play.arrays[name].tobytes() for name in names]
    for _ in range(2):
        play.step(0)
        outputs += [play.arrays[name].tobytes() for name in names]
    return hashlib.blake2b(b"".join(outputs), digest_size=8).hexdigest()


def strays(declared: list[set[str]], rows: list[list[str]]) -> bool:
    """True if one of these actions had an outcome, in some state, that no declared action has there."""
    return any(outcome not in known for row in rows for known, outcome in zip(declared, row, strict=True))
