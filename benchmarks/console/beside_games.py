"""The games after cartridges beside the console with these cartridges: `python -m benchmarks.console.beside_games [GAME ...]`.

Both play random actions in one process on one core, 64 environments with four frames a step. Columns, in thousands of steps a
second of CPU time: our game's features and pictures of 84x84, the console's RAM and its pictures of 84x84, compiled. Below the
table is the cost of the console's environments: bytes of a state, the time to save and to restore one, and --many of them.
"""

from pathlib import Path

import numpy as np

from benchmarks.cartridges.twins import TWINS
from benchmarks.common import above_zero, at_least, head, new_parser, publish
from benchmarks.console.speed import rate, state_cost
from envs_c import catalog
from envs_c.console import cartridges
from envs_c.engine.vecenv import VecEnv
from trainer.log.text import markdown

ENVS = 64
NOTE = "Thousands of steps a second of CPU time, the best of three parts."
COLUMNS = ("game", "features", "pictures", "console, RAM", "console, pictures", "features / RAM", "pictures / pictures")


def steps(game, envs: int, view: str, seconds: float) -> float:
    """Steps a second of a `Game`; view: features or pixels. An episode that ends begins anew in the next step."""
    env = VecEnv(game, envs, frame_skip=4, view=view, num_threads=1, seed=0)
    draw, actions = np.random.default_rng(0), np.zeros(envs, np.int32)
    observation = np.zeros((envs, *env.observation_shape), env.observation_dtype)
    reward, terminated, truncated = np.zeros((3, envs), np.float32)
    batch = env.bind(0, envs, actions=actions, observation=observation, reward=reward, terminated=terminated,
                     truncated=truncated)
    batch.reset()

    def step():
        actions[:] = draw.integers(len(game.actions), size=envs)
        batch.step()

    return rate(step, envs, seconds)


def row_of(name: str, seconds: float) -> list[str]:
    """The row of one game."""
    games = catalog.game(name), cartridges.cartridge(f"{cartridges.PREFIX}{name}")
    found = [steps(game, ENVS, view, seconds) for game in games for view in ("features", "pixels")]
    return [name, *(f"{value / 1e3:,.1f}" for value in found), f"{found[0] / found[2]:.0f}", f"{found[1] / found[3]:.0f}"]


def main(argv: list[str] | None = None):
    parser = new_parser("console.beside_games", __doc__)
    parser.add_argument("games", nargs="*", metavar="GAME", help=f"games after cartridges (default: {', '.join(TWINS)})")
    parser.add_argument("--seconds", type=above_zero, default=0.6, help="a measurement (default: %(default)s)")
    parser.add_argument("--many", type=at_least(1), default=10_000,
                        help="environments of the line below the table (default: 10000)")
    parser.add_argument("--out", type=Path, help="file to write the table to")
    options = parser.parse_args(argv)
    there = [name for name in TWINS if name in cartridges.present()]
    for name in options.games:
        if name not in there:
            parser.error(f"GAME must be one of {', '.join(there) or cartridges.how_to_get()}, not {name}")
    if not options.seconds > 0:
        parser.error(f"--seconds must be above 0, not {options.seconds}")
    rows = []
    for name in options.games or there:
        cartridges.compile_now(f"{cartridges.PREFIX}{name}")
        rows.append(row_of(name, options.seconds))
        print("  ".join(rows[-1]), flush=True)
    name = f"{cartridges.PREFIX}{rows[-1][0]}"
    (size, save, restore) = state_cost(name)
    many = steps(cartridges.cartridge(name), options.many, "features", options.seconds)
    publish(head("The games after cartridges beside the console") + "\n" + markdown(list(COLUMNS), rows)
            + f"\n{NOTE} An environment's state of the console: {size:,} bytes, saved in "
            + f"{save:.2f} us and restored in {restore:.2f} us. {options.many:,} environments of {name}: "
            + f"{options.many * size / 1e6:.0f} MB of states, {many / 1e3:,.1f} thousand steps a second on one core.\n",
            options.out)


if __name__ == "__main__":
    main()
