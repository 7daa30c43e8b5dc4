"""Random calls of envs_c with right, odd and hostile arguments: VecEnv, Batch, the Gymnasium interface, the registry."""

import importlib
import secrets
from random import Random

import gymnasium
import numpy as np

import envs_c
from envs_c import game_cache
from envs_c.game import Feature, Game, Option, TwoPlayers
from envs_c.testing.play import Guarded
from tools.fuzz.case import ALLOWED, Box, Fault
from tools.fuzz.values import array, odd

RATE = 0.12  # probability that an argument is odd
LONGEST = 12  # calls of one case
GARBAGE = ["", "GAME = 5\n", "cdef struct (", "\0", "from envs_c.game cimport nothing\n"]
GYMNASIUM = (*ALLOWED, gymnasium.error.Error)


def setup(box: Box) -> None:
    """Make the cache of compiled games, and load the compiler: its 170 MB are no growth from case to case."""
    importlib.import_module("Cython.Build")
    game_cache.folder().mkdir(mode=0o700)


def case(rng: Random, box: Box) -> None:
    """Make environments, and call some of their methods."""
    secrets.randbits = rng.getrandbits  # a seed from the operating system would make a case different each time
    kind = rng.choices([vector, core, single, registry], [4, 4, 2, 1])[0]
    kind(rng, box)


def settings(rng: Random, game: Game, rate: float = RATE) -> dict:
    """Settings of environments, a few of them given."""
    right = {
        "view": lambda: rng.choice(["features", "pixels"]), "frame_skip": lambda: rng.randint(1, 5),
        "sticky": lambda: rng.random(), "noop_max": lambda: rng.choice([0, 0, 5]), "time_limit": lambda: rng.choice([0, 3, 50]),
        "reward_clip": lambda: rng.choice([None, 1, (-1, 2)]), "num_threads": lambda: rng.randint(0, 3),
        "autoreset": lambda: rng.choice(["next_step", "same_step", "disabled"]), "seed": lambda: rng.getrandbits(64),
    }
    given = {name: odd(rng) if rng.random() < rate else make() for name, make in right.items() if rng.random() < 0.5}
    if rng.random() < 0.02:
        given[rng.choice(["", "views", "game", "é"])] = odd(rng)
    return given


def options(rng: Random, game: Game) -> dict:
    """Options of a game."""
    given = {name: odd(rng) if rng.random() < RATE else rng.choice([option.low, option.high, option.default])
             for name, option in game.options.items() if rng.random() < 0.4}
    if rng.random() < 0.05:
        given[rng.choice(["nosuch", "", "x" * 500])] = odd(rng)
    return given


def size(rng: Random) -> object:
    """A number of environments."""
    return odd(rng) if rng.random() < RATE else rng.choice([1, 2, 3, 5, 5, 9, 70])


def actions(rng: Random, env, count: int) -> object:
    """Actions for `count` environments."""
    if rng.random() < RATE:
        return rng.choice([odd(rng), array(rng, count), [0] * (count + 1), [2**40] * count])
    top = len(env.actions) + (rng.random() < RATE)
    return [rng.randrange(top) for _ in range(count)]


def mask(rng: Random, count: int) -> object:
    """A mask of environments, or None."""
    if rng.random() < 0.5:
        return None
    return odd(rng) if rng.random() < RATE else np.array([rng.random() < 0.5 for _ in range(count)])


def indices(rng: Random, count: int) -> object:
    """Some environments."""
    picked = rng.sample(range(count), rng.randint(1, count))
    return rng.choice([None, picked, np.array(picked), odd(rng), [count], [-1], [0, 0], array(rng, count)])


def some_game(rng: Random) -> Game:
    """One of the built-in games."""
    return envs_c.game(rng.choice(envs_c.games()))


def vector(rng: Random, box: Box) -> None:
    """`envs_c.make` or `gymnasium.make_vec`, and the methods of its environments."""
    game = some_game(rng)
    given = settings(rng, game) | options(rng, game)
    more = {"frame_stack": rng.choice([1, 2, 4, odd(rng)]), "copy": rng.choice([True, False, odd(rng)])}
    given |= {name: value for name, value in more.items() if rng.random() < 0.3}
    if rng.random() < 0.2:
        name = f"envs_c:Arcade/{game.title}-v0"
        env = box.attempt(lambda: gymnasium.make_vec(name, num_envs=size(rng), **given), GYMNASIUM)
    else:
        name = rng.choice([game.name, game.name, game.name, game.name, odd(rng)])
        env = box.attempt(lambda: envs_c.make(name, size(rng), **given))
    states = [b""]
    for _ in range(rng.randint(1, LONGEST) if env is not None else 0):
        one_call(rng, box, env.unwrapped, states)


def one_call(rng: Random, box: Box, env, states: list[bytes]) -> None:
    """Call one method of an ArcadeVectorEnv. states: snapshots so far."""
    n = env.num_envs
    call = rng.choices(["reset", "step", "render", "get", "set", "close", "seed"], [4, 8, 1, 2, 2, 0.3, 1])[0]
    if call == "reset":
        seed = rng.choice([None, 3, [None] * n, list(range(n)), odd(rng)])
        box.attempt(lambda: env.reset(seed=seed, options=rng.choice([None, {"reset_mask": mask(rng, n)}, odd(rng)])))
    elif call == "step":
        result = box.attempt(lambda: env.step(actions(rng, env.core, n)))
        if result is not None and not env.observation_space.contains(result[0]):
            raise Fault(f"an observation of {env.game.name} lies outside the observation space")
    elif call == "render":
        box.attempt(env.render)
    elif call == "get":
        state = box.attempt(lambda: env.get_state(indices(rng, n)))
        states.append(b"" if state is None else state)
    elif call == "set":
        state = rng.choice(states)
        box.attempt(lambda: env.set_state(rng.choice([state, state, odd(rng)]), indices(rng, n)))
    elif call == "seed":
        box.attempt(lambda: env.core.seed(odd(rng), mask(rng, n)))
    else:
        box.attempt(env.close)


def core(rng: Random, box: Box) -> None:
    """`VecEnv`, and batches whose buffers lie between guarded strips of memory."""
    game, count = some_game(rng), size(rng)
    given = settings(rng, game)
    given |= {name: odd(rng) if rng.random() < RATE else value for name, value in
              (("chunk_size", rng.choice([0, 1, 16])), ("first", rng.choice([0, 7])), ("options", options(rng, game)))}
    env = box.attempt(lambda: envs_c.VecEnv(odd(rng) if rng.random() < 0.03 else game, count, **given))
    if env is None or env.num_envs > 1000:
        return
    batches, guarded = [], []
    for _ in range(rng.randint(1, LONGEST)):
        call = rng.choices(["bind", "batch", "env", "init"], [3, 8, 2, 0.3])[0]
        if call == "bind":
            arrays = {name: Guarded(made, 0) for name, made in buffers(rng, env).items()}
            guarded += arrays.values()
            batch = box.attempt(lambda arrays=arrays: bind(rng, env, {name: one.array for name, one in arrays.items()}))
            batches += [] if batch is None else [batch]
        elif call == "batch" and batches:
            of_batch(rng, box, rng.choice(batches))
        elif call == "init":
            again = rng.choice([env, *batches, type(env).__new__(type(env)), envs_c.Batch.__new__(envs_c.Batch)])
            box.attempt(lambda again=again: rng.choice([lambda: again.__init__(*[odd(rng)] * rng.randint(0, 4)),
                                                        lambda: again.step(), lambda: again.get_state()])(),
                        (*ALLOWED, AttributeError))
        else:
            of_core(rng, box, env)
    if any(one.damaged() for one in guarded):
        raise Fault(f"{game.name} wrote outside a buffer")


def buffers(rng: Random, env) -> dict[str, np.ndarray]:
    """Arrays for all environments."""
    n, observation, action_mask = env.num_envs, env.observation_shape, len(env.actions)
    made = {"actions": np.zeros(n, np.int32), "observation": np.zeros((n, *observation), env.observation_dtype),
            **{name: np.zeros(n, np.float32) for name in ("reward", "terminated", "truncated")}}
    if env.autoreset == "same_step" or rng.random() < 0.3:
        made["final_observation"] = np.zeros((n, *observation), env.observation_dtype)
    if rng.random() < 0.5:
        made |= {name: np.zeros((n, action_mask), np.uint8) for name in ("action_mask", "final_action_mask")}
    return made


def bind(rng: Random, env, arrays: dict[str, np.ndarray]):
    """Bind a range of environments to their rows of these arrays, some of which are odd."""
    n = env.num_envs
    lo, hi = sorted(rng.choices(range(n + 1), k=2)) if rng.random() < 0.5 else (0, n)
    given = {name: made[lo:hi] for name, made in arrays.items()}
    if rng.random() < RATE:
        given[rng.choice(list(given))] = rng.choice([odd(rng), array(rng, hi - lo), rng.choice(list(given.values()))])
    if rng.random() < RATE:
        lo, hi = rng.choice([(hi, lo), (-1, 2), (0, n + 1), (0, 2**31 - 1), (odd(rng), odd(rng)), (0, 2**40)])
    return env.bind(lo, hi, **given)


def of_batch(rng: Random, box: Box, batch) -> None:
    """Call one method of a batch."""
    count = batch.hi - batch.lo
    call = rng.choices(["step", "reset", "observe", "ended"], [6, 3, 1, 1])[0]
    if call == "ended":
        ended = [np.zeros(rng.choice([count, 0, 1]), dtype) for dtype in ("float64", "int32", "int64")]
        if rng.random() < RATE:
            ended[rng.randrange(3)] = odd(rng)
        box.attempt(lambda: batch.copy_ended(*ended, rng.choice([0, 1, -1, 2**40, odd(rng)])),
                    (*ALLOWED, BufferError, OverflowError))
    elif call == "step":
        if batch.buffers[0].flags.writeable:
            given = np.asarray([rng.randrange(-1, len(batch.env.actions) + 1) for _ in range(count)], np.int32)
            batch.buffers[0][:] = given if rng.random() < RATE else given.clip(0, len(batch.env.actions) - 1)
        box.attempt(lambda: batch.step(mask(rng, count)))
    else:
        box.attempt(lambda: batch.observe() if call == "observe" else batch.reset(mask(rng, count)))


def of_core(rng: Random, box: Box, env) -> None:
    """Call one method of a VecEnv."""
    n = env.num_envs
    box.attempt(rng.choices([
        lambda: env.seed(rng.choice([None, 1, [1] * n, odd(rng)]), mask(rng, n)), env.over,
        lambda: env.render(rng.choice([0, n - 1, n, odd(rng)])),
        lambda: env.set_state(env.get_state(indices(rng, n)), indices(rng, n)), env.close], [2, 1, 2, 2, 0.3])[0])


def made(name: str, **settings):
    """`gymnasium.make`. It repeats a TypeError with all arguments in its message; then the first one is raised."""
    try:
        return gymnasium.make(name, disable_env_checker=True, **settings)
    except Exception as error:
        if isinstance(error.__context__, envs_c.UnknownSetting):
            raise error.__context__ from None
        raise


def single(rng: Random, box: Box) -> None:
    """`gymnasium.make`, and the methods of its environment."""
    game = some_game(rng)
    given = settings(rng, game) | options(rng, game)
    given.pop("autoreset", None)
    name = f"envs_c:Arcade/{game.title}-v0"
    env = box.attempt(lambda: made(name, render_mode=rng.choice([None, "rgb_array", odd(rng)]), **given), GYMNASIUM)
    if env is None:
        return
    env = env if rng.random() < 0.5 else env.unwrapped
    for _ in range(rng.randint(1, LONGEST)):
        action = odd(rng) if rng.random() < RATE else rng.randrange(env.action_space.n)
        box.attempt(rng.choices([
            lambda: env.reset(seed=rng.choice([None, 1, odd(rng)]), options=rng.choice([None, {}, odd(rng)])),
            lambda action=action: env.step(action), env.render, env.close], [3, 8, 1, 0.3])[0], GYMNASIUM)


def registry(rng: Random, box: Box) -> None:
    """Games by name and by path, their registration, and descriptions of new games."""
    value = odd(rng)
    kind = rng.randrange(5)
    if kind == 0:
        box.attempt(lambda: envs_c.game(value))
    elif kind == 1:
        path = rng.choice([value, "nosuch.pyx", "", ".", "a b.pyx", ".pyx", "~nosuchuser/x.pyx", "x\0.pyx",
                           "x" * 5000 + ".pyx"])
        box.attempt(lambda: envs_c.load(path), (*ALLOWED, OSError))
    elif kind == 2:
        box.attempt(lambda: envs_c.register(rng.choice([value, Game.__new__(Game), some_game(rng)])))
    elif kind == 3:
        # It is written as code. ZeroDivisionError: NumPy's message about a dtype shows the value, whose __repr__ may raise it.
        allowed = (*ALLOWED, OverflowError, AttributeError, ZeroDivisionError)
        game = box.attempt(lambda: Game(**description(rng)), allowed)
        if game is not None:
            box.attempt(lambda: rng.choice([lambda: envs_c.VecEnv(game, 2), lambda: repr(game), game.check_options])({}))
    elif rng.random() < 0.05:  # Cython takes its time
        source = box.folder / "garbage.pyx"
        source.write_text(rng.choice(GARBAGE), encoding="utf-8")
        box.attempt(lambda: envs_c.load(source))
        source.unlink()
        game_cache.clear()


def description(rng: Random) -> dict:
    """The arguments of `Game`, some of them odd."""
    right = {"name": "bare", "title": "Bare", "summary": "A game.", "version": 1, "actions": ("GO",), "feature_shape": (1,),
             "feature_dtype": "float32", "screen": (160, 210), "frame_skip": 1, "time_limit": None, "fps": 60,
             "options": {"speed": Option(1, 0, 2, "how fast")}, "features": (Feature("x", 0, 1),),
             "two_players": TwoPlayers({}, {}), "feature_low": 0, "feature_high": 1}
    return {name: odd(rng) if rng.random() < RATE else value for name, value in right.items()}
