"""The contract's rules. Each is a function of a `Game`: it watches random play of a few environments and raises `Broken`."""

import numpy as np

from envs_c.engine.state import memory_of, with_memory
from envs_c.engine.vecenv import HEAD_SIZE
from envs_c.errors import InvalidState
from envs_c.testing.causes import cause
from envs_c.testing.described import misdescribed
from envs_c.testing.play import Play, actions_of
from envs_c.testing.watchdog import note
from envs_c.testing.workers import ask, module_of
from envs_c.views import names

# Of the bytes behind a struct: who writes one of them is found by another; as integers they are 0, positive and negative.
PATTERNS = (0x00, 0x5A, 0xA5)
STEPS = 120
LIMIT = 23         # steps: short, for many ends in every game, some of them in the same step
VIEWS = names(lambda view: view.plain)
RULES = {}


class Broken(AssertionError):
    """A game breaks a rule; the message says how."""


class MemoryDamaged(Broken):
    """A game wrote outside its memory: the results of further rules would mean nothing."""


def rule(function):
    """Add a function to RULES by its name; its docstring is the rule."""
    RULES[function.__name__] = function
    return function


def rule_text(name: str) -> str:
    """A rule as one line of text."""
    text = RULES[name].__doc__ or name.replace("_", " ")  # python -OO keeps no docstrings
    return text.strip().splitlines()[0]


def need(holds, fault: str, kind: type[Broken] = Broken):
    """Raise Broken, or another `kind` of it, with this fault unless `holds`."""
    if not holds:
        raise kind(fault)


def need_equal(game, equal: bool, fault: str):
    """Raise Broken unless `equal`. If the game's outputs depend on more than seed and actions, the fault says why."""
    need(equal, fault if equal else cause(game) or fault)


def need_same(game, ours: list[bytes], theirs: list[bytes], fault: str):
    """Raise Broken with this fault and the first step at which two plays of a game differ, if there is one."""
    step = next((i for i, (one, other) in enumerate(zip(ours, theirs, strict=True)) if one != other), None)
    need_equal(game, step is None, f"{fault}, from step {step} on")


@rule
def describes_itself(game):
    """Name, title, summary, actions, options and sizes are fit for the documentation, Gymnasium and the command line."""
    need(game.summary.endswith("."), f"summary {game.summary!r} must be a sentence that ends in a full stop")
    need(len(set(game.actions)) == len(game.actions), f"two actions have the same name: {game.actions}")
    need(all(action == action.upper() for action in game.actions), f"actions must be in upper case, not {game.actions}")
    need(game.state_size > 0 and game.frame_skip >= 1 and game.version >= 1,
         "state_size, frame_skip and version must be at least 1")
    for name, option in game.options.items():
        need(option.low <= option.default <= option.high, f"option {name}: the default {option.default} is out of its range")
        need(option.help, f"option {name} has no help")
    if game.two_players is not None:
        need(game.two_players.opponents, "a game for two players must have at least one built-in opponent")
        kinds = {interface(game, options) for options in (game.two_players.both, *game.two_players.opponents.values())}
        need(len(kinds) == 1, "actions and features must be the same against an opponent and if one caller plays both sides")


def interface(game, options: dict):
    """The actions and features under these options: they must be equal for one policy to play under several."""
    actions, shape, low, high = game.describe(game.check_options(options))
    return actions, shape, np.asarray(low).tobytes(), np.asarray(high).tobytes()


@rule
def stays_in_its_state(game):
    """A game reads and writes only its struct, whose size it gives to bind()."""
    ours, *others = (alone(game, pattern) for pattern in PATTERNS)
    for theirs in others:
        need_same(game, ours, theirs, f"it reads behind its struct of {game.state_size} bytes: outputs depend on bytes there")


def alone(game, pattern: int) -> list[bytes]:
    """The outputs of environment 1 of three, of which only it is stepped. Raises MemoryDamaged if it writes elsewhere.

    pattern: the value of the bytes behind each struct, which must keep it.
    """
    play = Play(game, 3, autoreset="next_step", time_limit=LIMIT)
    play.reset()
    behind = fill_padding(play, pattern)
    middle = play.core.bind(1, 2, **{name: array[1:2] for name, array in play.arrays.items()})
    others, outputs = play.core.get_state([0, 2]), []
    for step in range(STEPS):
        play.arrays["actions"][1] = actions_of(game, STEPS, 1)[step, 0]
        note("step", play, slice(1, 2))
        middle.step()
        need(play.core.get_state([0, 2]) == others,
             f"stepping environment 1 changed the state of its neighbours, in step {step}", MemoryDamaged)
        state = play.core.get_state([1])
        need(state[len(state) - len(behind):] == behind,
             f"the bytes behind the struct of {game.state_size} bytes were written, in step {step}", MemoryDamaged)
        outputs.append(b"".join(play.arrays[name][1].tobytes() for name in ("observation", "reward", "terminated")))
    return outputs


def fill_padding(play, pattern: int) -> bytes:
    """Write `pattern` into the bytes behind each struct; returns those of one environment: zeros if `valid` is too strict."""
    core, size = play.core, padding(play.core)
    state = core.get_state()
    memory = np.frombuffer(memory_of(state), np.uint8).reshape(core.num_envs, core.stride).copy()
    memory[:, core.stride - size:] = pattern
    try:
        play.restore(with_memory(state, memory.tobytes()))
    except InvalidState:  # the rule accepts_its_own_states says so
        return bytes(size)
    return bytes([pattern]) * size


def padding(core) -> int:
    """Bytes between the end of a game's struct and the next environment; they stay 0."""
    return core.stride - HEAD_SIZE - core.game.state_size


@rule
def stays_in_its_buffers(game):
    """observe, draw and mask write every byte of their output in each call, and no byte beside it."""
    for view in VIEWS:
        for num_envs in (1, 3):
            settings = {"view": view, "time_limit": LIMIT}
            dark, bright = (Play(game, num_envs, fill, **settings) for fill in (0x00, 0xFF))
            outputs = [[play.reset(), *play.future(STEPS)] for play in (dark, bright)]
            for play in (dark, bright):
                for name, guarded in play.guarded.items():
                    need(not guarded.damaged(), f"bytes beside the buffer {name} were written ({view}); an environment's "
                                                f"part of it has {guarded.array[0].nbytes} bytes", MemoryDamaged)
            need_same(game, *outputs, f"a part of the {view} or of the mask is not written: it kept its former value")


@rule
def lies_in_its_spaces(game):
    """Features are finite and in feature_low .. feature_high, rewards finite, masks 0 and 1 with at least one legal action.

    Under the default options each feature also lies in the range of its row of `features`. Lives are at least 1 during an
    episode, and 0 or more at its end.
    """
    for options in option_sets(game):
        play = Play(game, 8, time_limit=4 * LIMIT, options=options, autoreset="next_step", count_lives=True)
        play.reset()
        check_ranges(play, 0, options)
        for step, actions in enumerate(actions_of_core(play, STEPS)):
            play.step(actions)
            check_ranges(play, step, options)


def option_sets(game):
    """The default options, and each option at its two ends."""
    yield {}
    for name, option in game.options.items():
        for value in {option.low, option.high} - {option.default}:
            yield {name: value}


def actions_of_core(play: Play, steps: int) -> np.ndarray:
    """Random actions as from `actions_of`, for a game whose number of actions depends on its options."""
    return np.random.RandomState(0).randint(0, len(play.core.actions), (steps, play.core.num_envs), dtype=np.int32)


def check_ranges(play: Play, step: int, options: dict):
    """Raise Broken if an output of the last step is out of range."""
    where = f" in step {step}{f' with {options}' if options else ''}"
    features, action_mask, core = play.arrays["observation"], play.arrays["action_mask"], play.core
    need(np.isfinite(features).all(), f"a feature is not finite{where}")
    for bound, wrong in ((core.feature_low, features < core.feature_low), (core.feature_high, features > core.feature_high)):
        for place in np.argwhere(wrong)[:1]:
            raise Broken(f"feature {place[1:].tolist()} is {features[tuple(place)]}{where}, beyond its bound {np.max(bound)}")
    if not options and (fault := misdescribed(play.game, features, where)):
        raise Broken(fault)
    need(np.isfinite(play.arrays["reward"]).all(), f"a reward is not finite{where}")
    if core.lives is not None and not play.game.has_ram:  # a cartridge's are what ALE reads from the RAM
        for i in np.flatnonzero(core.lives < (play.arrays["terminated"] == 0))[:1]:
            raise Broken(f"`lives` gives {core.lives[i]}{where}, where the episode "
                         f"{'has ended' if play.arrays['terminated'][i] else 'goes on'}: it must count the lives left, the "
                         "current one included, and 0 after the last")
    if play.game.has_mask:
        need(np.isin(action_mask, (0, 1)).all(), f"a mask has bytes other than 0 and 1{where}")
        need(action_mask.any(1).all(), f"no action is legal{where}")


@rule
def is_deterministic(game):
    """The outputs of an environment depend only on its seed and its actions: random numbers come from `rng`."""
    for view in VIEWS:
        outputs = []
        for _ in range(2):
            play = Play(game, view=view, time_limit=2 * LIMIT, sticky=0.25)
            outputs.append([play.reset(), *play.future(STEPS)])
        need_same(game, *outputs, f"the same seed and the same actions gave different {view}, rewards or ends")


@rule
def resets_everything(game):
    """A reset writes the whole state: after a seeded reset nothing depends on the play before it."""
    fresh, used = Play(game, time_limit=50), Play(game, time_limit=50, seed=2)
    used.reset()
    used.future(37, seed=6)
    for play in (fresh, used):
        play.core.seed(11)
    need_same(game, [fresh.reset(), *fresh.future(STEPS)], [used.reset(), *used.future(STEPS)],
              "after a reset with the same seed, an environment that had been played differed from a new one")


@rule
def shares_nothing(game):
    """Environments share no variable: one does not depend on others, nor on the order in which they are stepped."""
    alone, beside, other = Play(game), Play(game), Play(game, seed=5)
    outputs = [alone.reset(), *alone.future(STEPS)]
    other.reset()
    interleaved = [beside.reset()]
    for mine, theirs in zip(actions_of(game, STEPS, 4), actions_of(game, STEPS, 4, seed=3), strict=True):
        other.step(theirs)
        interleaved.append(beside.step(mine))
    need_same(game, outputs, interleaved, "an environment differed when another one was stepped in between")


@rule
def looks_without_touching(game):
    """observe, draw, mask and lives do not change the state, and give the same output if they are called again."""
    for view in VIEWS:
        play = Play(game, view=view, autoreset="next_step", count_lives=True)
        play.reset()
        for step, actions in enumerate(actions_of(game, STEPS // 4, 4)):
            outputs = play.step(actions)
            state, pictures = play.core.get_state(), [play.render(i).tobytes() for i in range(4)]
            lives = None if play.core.lives is None else play.core.lives.tolist()
            need_equal(game, play.observe() == outputs, f"a second call gave different {view} or another mask, in step {step}")
            need_equal(game, lives is None or play.core.lives.tolist() == lives, f"a second call gave other lives, step {step}")
            need_equal(game, [play.render(i).tobytes() for i in range(4)] == pictures,
                       f"a second call drew a different picture, in step {step}")
            need(play.core.get_state() == state, f"observe, draw, mask or lives changed the state, in step {step}")


def future_of(game, state: bytes) -> list[bytes]:
    """The outputs after a state of `is_plain_data`'s environments, and the state at the end."""
    play = Play(game, time_limit=LIMIT, seed=9)
    play.restore(state)
    return [*play.future(STEPS // 2, seed=4), play.core.get_state()]


@rule
def is_plain_data(game):
    """The state is plain data without pointers: it continues the same in another environment and in another process."""
    play = Play(game, time_limit=LIMIT)
    play.reset()
    play.future(27)
    state = play.core.get_state()
    outputs = [*play.future(STEPS // 2, seed=4), play.core.get_state()]
    need_same(game, outputs, future_of(game, state),
              "a state copied into another environment continued differently: it has a pointer")
    status, there = ask(module_of(game), "future", given=state)
    need(status == 0, f"a state copied into another process ended it with status {status}: it has a pointer")
    need_equal(game, there == b"".join(outputs), "a state copied into another process continued differently, or ended with "
                                                 "different bytes: it has a pointer, or memory that was never written")
