"""The console's speed beside ale-py's: `python -m benchmarks.console.speed`, `python -m benchmarks.console.speed qbert pong`.

Everything runs in one process on one core, with the same kind of play: random actions, and at an episode's end the state after
the reset again. Columns, in thousands a second:

    ALE          frames of `ALEInterface.act`
    interpreter  frames of the console without pictures, by the interpreter
    compiled     the same, by the compiled cartridge
    vector       steps of `ale_py.AtariVectorEnv`: four frames and a picture of 84x84
    pixels       the same steps of the compiled console, by --envs environments

Without --envs the last two columns stand there for 1, 64 and 1,024 environments. Ratios are against ale-py in the same run. A
game takes 40 seconds with --envs 64 --seconds 1, and minutes by default; a cartridge is compiled first, once.
"""

import math
import time
from pathlib import Path

import numpy as np
from ale_py import Action, ALEInterface, AtariVectorEnv, LoggerMode

from benchmarks.common import above_zero, at_least, head, new_parser, publish
from envs_c.console import cartridges, recompiled
from envs_c.engine.vecenv import VecEnv
from trainer.log.text import markdown

GAMES = ("seaquest", "qbert", "space_invaders", "breakout", "pong", "phoenix", "battle_zone", "ms_pacman", "beam_rider",
         "montezuma_revenge", "enduro")
ENVS = (1, 64, 1024)
STICKY = 0.0
NOTE = "Thousands a second of CPU time, the best of three parts; ratios to ale-py."
SHAPES = {"features": (128,), "pixels": (84, 84)}


def rate(step, count: int, seconds: float) -> float:
    """Calls a second of CPU time times `count`; the best of three parts, after a first call."""
    best, _ = 0.0, step()
    for _ in range(3):
        start, calls = time.process_time(), 0
        while (spent := time.process_time() - start) < seconds / 3:
            step()
            calls += 1
        best = max(best, calls * count / spent)
    return best


def ale_frames(name: str, seconds: float) -> float:
    """Frames a second of ALEInterface.act."""
    ALEInterface.setLoggerMode(LoggerMode.Error)
    ale, draw = ALEInterface(), np.random.default_rng(0)
    ale.setInt("random_seed", 0)
    ale.setFloat("repeat_action_probability", STICKY)
    ale.loadROM(cartridges.present()[name])
    ale.reset_game()
    start = ale.cloneState()

    def step():
        for action in draw.integers(18, size=60):
            ale.act(Action(int(action)))
            if ale.game_over():
                ale.restoreState(start)

    return rate(step, 60, seconds)


def vector_steps(name: str, envs: int, seconds: float) -> float:
    """Steps a second of AtariVectorEnv, on one thread."""
    env = AtariVectorEnv(game=name, num_envs=envs, num_threads=1, frameskip=4, stack_num=1, repeat_action_probability=STICKY)
    env.reset(seed=0)
    draw, actions = np.random.default_rng(0), env.single_action_space.n
    return rate(lambda: env.step(draw.integers(actions, size=envs)), envs, seconds)


def our_steps(name: str, envs: int, view: str, seconds: float) -> float:
    """Steps a second of the console, of four frames each; view: features or pixels."""
    game = cartridges.cartridge(name)
    env = VecEnv(game, envs, frame_skip=4, view=view, num_threads=1, autoreset="disabled", seed=0, sticky=STICKY)
    draw, actions = np.random.default_rng(0), np.zeros(envs, np.int32)
    observation = np.zeros((envs, *SHAPES[view]), np.uint8)
    reward, terminated, truncated = np.zeros((3, envs), np.float32)
    batch = env.bind(0, envs, actions=actions, observation=observation, reward=reward, terminated=terminated,
                     truncated=truncated)
    batch.reset()
    start = env.get_state()

    def step():
        actions[:] = draw.integers(len(game.actions), size=envs)
        batch.step()
        if terminated.any():
            env.set_state(start)

    return rate(step, envs, seconds)


def state_cost(name: str, envs: int = 64) -> tuple[int, float, float]:
    """Bytes of an environment's state, and microseconds of CPU time to save and to restore one."""
    game = cartridges.cartridge(name)
    env = VecEnv(game, envs, num_threads=1, seed=0)
    zeros = np.zeros((3, envs), np.float32)
    env.bind(0, envs, actions=np.zeros(envs, np.int32), observation=np.zeros((envs, 128), np.uint8), reward=zeros[0],
             terminated=zeros[1], truncated=zeros[2]).reset()
    state = env.get_state()
    save, restore = 1e6 / rate(env.get_state, envs, 0.3), 1e6 / rate(lambda: env.set_state(state), envs, 0.3)
    return game.state_size, save, restore


def compare(name: str, envs: tuple[int, ...], seconds: float) -> dict[str, float]:
    """All columns of one game, a second."""
    cartridges.compile_now(name)
    _, key, _ = cartridges.INSERTED[cartridges.cartridge(name)]
    found = {"ALE": ale_frames(name, seconds), "compiled": 4 * our_steps(name, 64, "features", seconds)}
    for count in envs:
        found[f"vector {count:,}"] = vector_steps(name, count, seconds)
        found[f"pixels {count:,}"] = our_steps(name, count, "pixels", seconds)
    recompiled.detach(key)
    found["interpreter"] = 4 * our_steps(name, 64, "features", seconds)
    return found


def geometric(values: list[float]) -> float:
    return math.exp(sum(map(math.log, values)) / len(values))


def main():
    parser = new_parser("console.speed", __doc__)
    parser.add_argument("games", nargs="*", metavar="GAME", help=f"names such as qbert (default: {', '.join(GAMES)})")
    parser.add_argument("--envs", type=at_least(1),
                        help="only this number of environments for pictures (default: 1, 64 and 1024)")
    parser.add_argument("--seconds", type=above_zero, default=1.5, help="a measurement (default: 1.5)")
    parser.add_argument("--out", type=Path, help="file to write the table to")
    options = parser.parse_args()
    there = cartridges.present()
    for name in options.games or GAMES:
        if name not in there:
            parser.error(f"GAME must be one whose cartridge is there, not {name}: {', '.join(there) or 'none'}; "
                         f"{cartridges.how_to_get()}")
    if not options.seconds > 0:
        parser.error(f"--seconds must be above 0, not {options.seconds}")
    envs, rows, ratios = (options.envs,) if options.envs else ENVS, [], {}
    pairs = [("interpreter", "ALE"), ("compiled", "ALE"), *((f"pixels {n:,}", f"vector {n:,}") for n in envs)]
    for name in options.games or GAMES:
        found = compare(name, envs, options.seconds)
        row = [name, f"{found['ALE'] / 1e3:.1f}"]
        for ours, theirs in pairs:
            ratios.setdefault(ours, []).append(found[ours] / found[theirs])
            row += [f"{found[theirs] / 1e3:.2f}"] if theirs != "ALE" else []
            row += [f"{found[ours] / 1e3:.1f} ({ratios[ours][-1]:.1f}x)"]
        rows.append(row)
        print("  ".join(row), flush=True)
    heads = ["game", "ALE", "interpreter", "compiled", *(word for n in envs for word in (f"vector {n:,}", f"pixels {n:,}"))]
    size, save, restore = state_cost(options.games[0] if options.games else GAMES[0])
    means = ", ".join(f"{name} {geometric(values):.1f}" for name, values in ratios.items())
    publish(head("The console's speed beside ale-py's") + "\n" + markdown(heads, rows)
            + f"\n{NOTE} Geometric means of the ratios: {means}.\n"
            + f"\nState of an environment: {size:,} bytes, saved in {save:.2f} us and restored in {restore:.2f} us.\n",
            options.out)


if __name__ == "__main__":
    main()
