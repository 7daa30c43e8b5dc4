"""Breakout of each package, and Pong of one: a function of the number of environments that returns a function `play`.

`play` steps all environments with random actions and returns the number of steps that it made, those that an agent would choose
an action for. A package is imported in its function, so that the others need not be there.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

ROLLS = 64  # different actions, chosen beforehand
SCAN = 64   # steps in one call of a compiled JAX function

Play = Callable[[], int]


class Environment(NamedTuple):
    """A row of the table."""

    package: str   # whose version is printed
    work: str      # what one step is
    make: Callable[[int], Play]
    most: int = 1 << 20  # environments
    section: str = "Breakout: features"
    reference: str = "insertcoin, features"  # the row of the section that the others are compared with


def stepped(env, num_envs: int, actions: int) -> Play:
    """`play` of an environment with reset and step."""
    rolls = np.random.default_rng(0).integers(0, actions, (ROLLS, num_envs)).astype(np.int32)
    env.reset()
    calls = 0

    def play() -> int:
        nonlocal calls
        calls += 1
        env.step(rolls[calls % ROLLS])
        return num_envs
    return play


def ours(game: str, **settings) -> Callable[[int], Play]:
    """Our game with these settings of `envs_c.make`."""
    def make(num_envs: int) -> Play:
        import envs_c
        env = envs_c.make(game, num_envs, seed=1, **settings)
        return stepped(env, num_envs, env.single_action_space.n)
    return make


def envpool(num_envs: int) -> Play:
    """EnvPool's cartridge, by its synchronous interface."""
    import envpool as package
    env = package.make("Breakout-v5", env_type="gymnasium", num_envs=num_envs, seed=1)
    return stepped(env, num_envs, env.action_space.n)


def ale(num_envs: int) -> Play:
    """ale-py's vector environment."""
    from ale_py import AtariVectorEnv
    return stepped(AtariVectorEnv("breakout", num_envs), num_envs, 4)


def gymnasium(mode: str) -> Callable[[int], Play]:
    """ale-py's single environments in Gymnasium's vector environments, with Gymnasium's preprocessing."""
    def make(num_envs: int) -> Play:
        import ale_py
        import gymnasium as package
        from gymnasium.wrappers import AtariPreprocessing, FrameStackObservation
        package.register_envs(ale_py)
        env = package.make_vec("ALE/Breakout-v5", num_envs, vectorization_mode=mode, frameskip=1, repeat_action_probability=0,
                               wrappers=(AtariPreprocessing, lambda one: FrameStackObservation(one, 4)))
        return stepped(env, num_envs, 4)
    return make


def scanned(reset, step, num_envs: int, actions: int) -> Play:
    """`play` of JAX functions of one environment: compiled, for all environments at once, SCAN steps a call.

    reset: key to state. step: (key, state, action) to state, which resets at an episode's end.
    """
    import jax

    def once(state, key):
        keys = jax.random.split(key, num_envs + 1)
        chosen = jax.random.randint(keys[-1], (num_envs,), 0, actions)
        return jax.vmap(step)(keys[:-1], state, chosen), None

    @jax.jit
    def run(state, key):
        return jax.lax.scan(once, state, jax.random.split(key, SCAN))[0]

    keys = jax.random.split(jax.random.key(0), ROLLS)
    state, calls = jax.jit(jax.vmap(reset))(jax.random.split(jax.random.key(1), num_envs)), 0

    def play() -> int:
        nonlocal state, calls
        calls += 1
        state = jax.block_until_ready(run(state, keys[calls % ROLLS]))
        return SCAN * num_envs
    return play


def gymnax(num_envs: int) -> Play:
    """gymnax's Breakout of MinAtar."""
    import gymnax as package
    env, parameters = package.make("Breakout-MinAtar")

    def step(key, state, action):
        observation, after, reward, done, _ = env.step(key, state[0], action, parameters)
        return after, observation, reward, done

    def reset(key):
        observation, state = env.reset(key, parameters)
        return step(key, (state, observation, 0.0, False), 0)  # of the types that a step returns
    return scanned(reset, step, num_envs, 3)


def jaxtari(num_envs: int) -> Play:
    """JAXtari's Breakout, by its objects. The package asks for the owner's consent and for pictures, by `install-sprites`."""
    import jaxtari as package
    env = package.make("breakout")

    def step(_, state, action):
        return env.step(state, action)[1]

    def reset(key):
        return env.reset(key)[1]
    return scanned(reset, step, num_envs, 4)


def pufferlib(game: str, **settings) -> Callable[[int], Play]:
    """PufferLib's game in C (puffer.py compiles it), one thread."""
    def make(num_envs: int) -> Play:
        import importlib
        module = importlib.import_module(f"pufferlib.ocean.{game}.{game}")
        return stepped(getattr(module, game.capitalize())(num_envs=num_envs, **settings), num_envs, 3)
    return make


FRAMES = "84x84 grey, 4 frames stacked, frame skip 4"
EMULATED = f"{FRAMES}; the cartridge in an emulator"
PICTURES = {"section": "Breakout: pictures", "reference": "insertcoin, pixels"}
PONG = {"section": "Pong: features", "reference": "insertcoin, Pong"}
OWN = "a game of its own, frame skip 4, one thread"
ENVIRONMENTS = {
    "insertcoin, pixels": Environment("insertcoin", f"{FRAMES}; a game that equals the cartridge, several threads", ours(
        "breakout", view="pixels", frame_skip=4, frame_stack=4, copy=False), **PICTURES),
    "EnvPool": Environment("envpool", EMULATED, envpool, **PICTURES),
    "ale-py AtariVectorEnv": Environment("ale-py", EMULATED, ale, **PICTURES),
    "Gymnasium sync": Environment("gymnasium", EMULATED, gymnasium("sync"), 16, **PICTURES),
    "Gymnasium async": Environment("gymnasium", f"{EMULATED}, a process each", gymnasium("async"), 16, **PICTURES),
    "insertcoin, features": Environment("insertcoin", "118 features, frame skip 4, several threads", ours(
        "breakout", frame_skip=4, copy=False)),
    "insertcoin, one thread": Environment("insertcoin", "118 features, frame skip 4", ours(
        "breakout", frame_skip=4, copy=False, num_threads=1)),
    "PufferLib": Environment("pufferlib", f"118 features, {OWN}", pufferlib("breakout", frameskip=4)),
    "gymnax": Environment("gymnax", "MinAtar's 10x10 game, each frame, compiled by JAX", gymnax),
    "JAXtari": Environment("JAXtari", "objects, a copy of the game by hand, compiled by JAX", jaxtari),
    "insertcoin, Pong": Environment("insertcoin", "8 features, frame skip 4, one thread", ours(
        "pong", frame_skip=4, copy=False, num_threads=1), **PONG),
    "PufferLib, Pong": Environment("pufferlib", f"8 features, {OWN}", pufferlib("pong", frameskip=4), **PONG),
}
