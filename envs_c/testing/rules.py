"""The contract's rules, each a function of a `Game` that raises `Broken`; they watch random play of a few environments."""

import hashlib
import json
import math

import numpy as np

from envs_c.testing.play import Play, actions_of
from envs_c.testing.workers import ask, module_of
from envs_c.vecenv import HEAD_SIZE

SMALL = 84         # rows and columns of the grey picture
STEPS = 120
LIMIT = 23         # steps; so that episodes end in every game, some of them in the same step
VIEWS = ("features", "pixels")
NEAR = range(8)                       # actions beyond the last, counted from there
FAR = (0x3579BDF5, 0x4ECA8653, -0x1357_9BDD)  # an action that is used as an index ends the process there
RULES = {}


class Broken(AssertionError):
    """A rule is broken; the message says how."""


def rule(function):
    """Put a function into RULES by its name; its docstring is the rule."""
    RULES[function.__name__] = function
    return function


def rule_text(name: str) -> str:
    """A rule in words, a line."""
    return RULES[name].__doc__.strip().splitlines()[0]


def need(holds, words: str):
    if not holds:
        raise Broken(words)


def first_difference(ours: list[bytes], theirs: list[bytes]) -> int | None:
    """The first step at which two plays said different things."""
    return next((i for i, (one, other) in enumerate(zip(ours, theirs, strict=True)) if one != other), None)


def same(ours: list[bytes], theirs: list[bytes], words: str):
    step = first_difference(ours, theirs)
    need(step is None, f"{words}, from step {step} on")


@rule
def describes_itself(game):
    """Name, title, summary, actions, options and sizes are what the README, Gymnasium and the command line can show."""
    need(game.name.isidentifier(), f"name {game.name!r} is no identifier")
    need(game.title.isalnum(), f"title {game.title!r} has more than letters and digits in it; it is part of a Gymnasium id")
    need(game.summary.endswith("."), f"summary {game.summary!r} is no sentence that ends in a full stop")
    need(len(set(game.actions)) == len(game.actions), f"two actions have one name: {game.actions}")
    need(all(action == action.upper() for action in game.actions), f"actions are upper case, not {game.actions}")
    need(game.state_size > 0 and game.frame_skip >= 1 and game.version >= 1, "state_size, frame_skip and version are 1 or more")
    for name, option in game.options.items():
        need(option.low <= option.default <= option.high, f"option {name}: the default {option.default} is out of its range")
        need(option.help, f"option {name} has no help")
    if game.two_players is not None:
        need(game.two_players.opponents, "a game for two players has an opponent of its own to be measured by, or more")
        kinds = {alike(game, options) for options in (game.two_players.both, *game.two_players.opponents.values())}
        need(len(kinds) == 1, "actions and features are others where one caller plays both sides than against an opponent")


def alike(game, options: dict):
    """What has to be the same under different options for one policy to play under all of them."""
    actions, shape, low, high = game.describe(game.check_options(options))
    return actions, shape, np.asarray(low).tobytes(), np.asarray(high).tobytes()


@rule
def stays_in_its_state(game):
    """A game writes no more than the struct whose size it gives to bind()."""
    play = Play(game, 3, autoreset="next_step", time_limit=LIMIT)
    play.reset()
    middle = play.core.bind(1, 2, **{name: array[1:2] for name, array in play.arrays.items()})
    others = play.core.get_state([0, 2])
    for step in range(STEPS):
        play.arrays["actions"][1] = actions_of(game, STEPS, 1)[step, 0]
        middle.step()
        need(play.core.get_state([0, 2]) == others,
             f"stepping environment 1 changed the state of its neighbours, in step {step}")
        state = play.core.get_state([1])
        need(not any(state[len(state) - padding(play.core):]),
             f"the bytes behind the struct of {game.state_size} bytes were written, in step {step}")


def padding(core) -> int:
    """Bytes between the end of a game's struct and the next environment, which nobody writes."""
    return core.stride - HEAD_SIZE - core.game.state_size


@rule
def stays_in_its_buffers(game):
    """observe, draw and mask write every byte of what they are handed, in each call, and not one beside it."""
    for view in VIEWS:
        for num_envs in (1, 3):
            settings = {"view": view, "time_limit": LIMIT}
            dark, bright = (Play(game, num_envs, fill, **settings) for fill in (0x00, 0xFF))
            said = [[play.reset(), *play.future(STEPS)] for play in (dark, bright)]
            for play in (dark, bright):
                for name, guarded in play.guarded.items():
                    need(not guarded.harmed(), f"bytes beside the buffer {name} were written ({view}); an environment's "
                                               f"part of it has {guarded.array[0].nbytes} bytes")
            same(*said, f"a part of the {view} or the mask is not written: it kept what was there before")


@rule
def lies_in_its_spaces(game):
    """Features are finite and in feature_low .. feature_high, rewards finite, masks 0 and 1 with a legal action in each."""
    for options in option_sets(game):
        play = Play(game, 8, time_limit=4 * LIMIT, options=options)
        play.reset()
        within(play, 0, options)
        for step, actions in enumerate(actions_of_core(play, STEPS)):
            play.step(actions)
            within(play, step, options)


def option_sets(game):
    """The defaults, and each option at its two ends."""
    yield {}
    for name, option in game.options.items():
        for value in {option.low, option.high} - {option.default}:
            yield {name: value}


def actions_of_core(play: Play, steps: int) -> np.ndarray:
    """As `actions_of`, for a game whose number of actions is an option's."""
    return np.random.RandomState(0).randint(0, len(play.core.actions), (steps, play.core.num_envs), dtype=np.int32)


def within(play: Play, step: int, options: dict):
    where = f" in step {step}{f' with {options}' if options else ''}"
    seen, mask, core = play.arrays["observation"], play.arrays["action_mask"], play.core
    need(np.isfinite(seen).all(), f"a feature is not finite{where}")
    for bound, wrong in ((core.feature_low, seen < core.feature_low), (core.feature_high, seen > core.feature_high)):
        for place in np.argwhere(wrong)[:1]:
            raise Broken(f"feature {place[1:].tolist()} is {seen[tuple(place)]}{where}, beyond its bound {np.max(bound)}")
    need(np.isfinite(play.arrays["reward"]).all(), f"a reward is not finite{where}")
    if play.game.has_mask:
        need(np.isin(mask, (0, 1)).all(), f"a mask has other bytes than 0 and 1{where}")
        need(mask.any(1).all(), f"no action is legal{where}")


@rule
def is_deterministic(game):
    """What an environment does depends on its seed and its actions alone: random numbers come from `rng`."""
    for view in VIEWS:
        said = []
        for _ in range(2):
            play = Play(game, view=view, time_limit=LIMIT, sticky=0.25)
            said.append([play.reset(), *play.future(STEPS)])
        same(*said, f"the same seed and the same actions gave other {view}, rewards or ends")


@rule
def begins_anew(game):
    """A reset writes the whole state: what came before a seeded reset changes nothing of what comes after it."""
    fresh, used = Play(game, time_limit=50), Play(game, time_limit=50, seed=2)
    used.reset()
    used.future(37, seed=6)
    for play in (fresh, used):
        play.core.seed(11)
    same([fresh.reset(), *fresh.future(STEPS)], [used.reset(), *used.future(STEPS)],
         "after a reset with the same seed an environment that had been played did otherwise than a new one")


@rule
def shares_nothing(game):
    """Environments share no variable: how one goes depends neither on others nor on the order in which they are stepped."""
    alone, beside, other = Play(game), Play(game), Play(game, seed=5)
    said = [alone.reset(), *alone.future(STEPS)]
    other.reset()
    interleaved = [beside.reset()]
    for mine, theirs in zip(actions_of(game, STEPS, 4), actions_of(game, STEPS, 4, seed=3), strict=True):
        other.step(theirs)
        interleaved.append(beside.step(mine))
    same(said, interleaved, "an environment did otherwise when another one was stepped in between")


@rule
def looks_without_touching(game):
    """observe, draw and mask change nothing in the state, and say the same when they are called again."""
    for view in VIEWS:
        play = Play(game, view=view, autoreset="next_step")
        play.reset()
        for step, actions in enumerate(actions_of(game, STEPS // 4, 4)):
            said = play.step(actions)
            state, pictures = play.core.get_state(), [play.core.render(i).tobytes() for i in range(4)]
            play.batch.observe()
            need(play.said() == said, f"the {view} or the mask, asked for again, are others, in step {step}")
            need([play.core.render(i).tobytes() for i in range(4)] == pictures, f"the picture is another one, in step {step}")
            need(play.core.get_state() == state, f"looking changed the state, in step {step}")


def future_of(game, state: bytes) -> list[bytes]:
    """What comes after a state of `is_plain_data`'s environments, and the state at the end."""
    play = Play(game, time_limit=LIMIT, seed=9)
    play.core.set_state(state)
    return [*play.future(STEPS // 2, seed=4), play.core.get_state()]


@rule
def is_plain_data(game):
    """The state is plain data without pointers: it goes on the same in another environment, and in another process."""
    play = Play(game, time_limit=LIMIT)
    play.reset()
    play.future(27)
    state = play.core.get_state()
    said = [*play.future(STEPS // 2, seed=4), play.core.get_state()]
    same(said, future_of(game, state), "a state that was put into another environment went on otherwise: it keeps a pointer")
    status, there = ask(module_of(game), "future", given=state)
    need(status == 0, f"a state that was put into another process ended it, with status {status}: it keeps a pointer")
    need(there == b"".join(said), "a state that was put into another process went on otherwise, or holds other bytes at the "
                                  "end: it keeps a pointer, or memory that was never written")


def outcomes(game, actions) -> list[list[str]]:
    """Hashes of what each action does, action by action, in some states."""
    play = Play(game, 1, frame_skip=1, autoreset="next_step")
    play.reset()
    rows = [[] for _ in actions]
    for i, action in enumerate(actions_of(game, STEPS // 2, 1)[:, 0]):
        state = play.core.get_state()
        for row, tried in zip(rows, actions if i % 4 == 0 else (), strict=False):
            row.append(outcome(play, state, tried))
        play.core.set_state(state)
        play.step(action)
    return rows


def outcome(play: Play, state: bytes, action: int | None) -> str:
    """A hash of what is seen of an action in this step and the next two, whether the game has it or not; None does nothing."""
    play.core.set_state(state)
    play.arrays["reward"][0] = play.arrays["terminated"][0] = 0
    if action is None:
        play.batch.observe()
    else:
        play.arrays["actions"][0] = action
        play.batch._step_unchecked()
    names = ("observation", "reward", "terminated")
    said = [play.arrays[name].tobytes() for name in names]
    for _ in range(2):
        play.step(0)
        said += [play.arrays[name].tobytes() for name in names]
    return hashlib.blake2b(b"".join(said), digest_size=8).hexdigest()


@rule
def has_no_more_actions_than_it_says(game):
    """step does nothing on a number beyond its actions that it does on none of them: an action is missing in `actions`.

    Where a game uses the action as an index (so that one far beyond ends the process) that cannot be told.
    """
    count, module = len(game.actions), module_of(game)
    declared = [set(column) for column in zip(*outcomes(game, [None, *range(count)]), strict=True)]
    status, there = ask(module, "outcomes", *FAR)
    if status != 0 or strays(declared, json.loads(there)):
        return
    beyond = [count + offset for offset in NEAR]
    status, there = ask(module, "outcomes", *beyond)
    for action, row in zip(beyond, json.loads(there) if status == 0 else (), strict=False):
        need(not strays(declared, [row]), f"it says that it has {count} actions, 0 to {count - 1} "
                                          f"({', '.join(game.actions[:18])}), but action {action} does what none of them does")


def strays(declared: list[set[str]], rows: list[list[str]]) -> bool:
    """Whether some action did in some state what no action of the game does there."""
    return any(outcome not in known for row in rows for known, outcome in zip(declared, row, strict=True))


def area_average(picture: np.ndarray) -> np.ndarray:
    """What INTER_AREA makes of a picture (H, W, 3): (84, 84) float64 mean grey (BT.601 luma)."""
    grey = np.rint(picture @ np.array([0.299, 0.587, 0.114]))
    height, width = grey.shape
    fine = np.repeat(np.repeat(grey, SMALL // math.gcd(height, SMALL), 0), SMALL // math.gcd(width, SMALL), 1)
    return fine.reshape(SMALL, fine.shape[0] // SMALL, SMALL, fine.shape[1] // SMALL).mean((1, 3))


@rule
def paints_one_picture(game):
    """The grey picture is the area average of the coloured one, to one level of grey."""
    play = Play(game, 8, view="pixels")
    play.reset()
    for step, actions in enumerate(actions_of(game, 2 * STEPS, 8)):
        play.step(actions)
        for i in range(8) if step % 6 == 0 else ():
            error = np.abs(area_average(play.core.render(i)) - play.arrays["observation"][i])
            row, column = np.unravel_index(error.argmax(), error.shape)
            need(error.max() <= 1, f"grey pixel ({row}, {column}) is {error.max():.1f} away from the colours' average, in step "
                                   f"{step}: shapes meet within it; put their edges where grey pixels meet, or use canvas_swap")
