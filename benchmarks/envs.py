"""Steps per second of every game: `python -m benchmarks.envs`.

Random play in 1,024 environments, through `VecEnv.bind`: with one thread at frame skip 1, with one thread at the game's own
frame skip, and with all threads at that frame skip. For comparison, the same run measures how fast one thread writes the same
bytes to the same buffer: no game can be faster.
"""

import sys
from pathlib import Path

import numpy as np

import envs_c
from benchmarks.common import at_least, check_games, head, median_seconds, new_parser, publish
from envs_c.machine import cores
from trainer.log.numbers import count
from trainer.log.text import markdown

ROLL = 64  # steps for which actions are drawn in advance
VARIANTS = {"go": [{"size": 7}, {"size": 9}]}  # options under which a game is measured; default: none


class Bench:
    """One game after 2,000 random steps. `step` takes the next random actions.

    frame_skip: None for the game's default.
    options: of the game; None for the defaults.
    """

    def __init__(self, game: str, view: str, threads: int, num_envs: int, frame_skip: int | None = None, options=None):
        env = envs_c.VecEnv(envs_c.game(game), num_envs, view=view, num_threads=threads, frame_skip=frame_skip,
                            options=options, seed=1)
        self.frame_skip = env.frame_skip
        self.observation = np.zeros((num_envs, *env.observation_shape), env.observation_dtype)
        outputs = np.zeros((3, num_envs), np.float32)
        self.actions = np.zeros(num_envs, np.int32)
        self.batch = env.bind(0, num_envs, actions=self.actions, observation=self.observation, reward=outputs[0],
                              terminated=outputs[1], truncated=outputs[2])
        random = np.random.default_rng(0)
        self.rolls = random.integers(0, len(env.actions), (ROLL, num_envs)).astype(np.int32)
        self.taken = 0
        self.batch.reset()
        for _ in range(2000):  # so that the environments are at different points of their episodes
            self.step()

    def step(self):
        self.actions[:] = self.rolls[self.taken % ROLL]
        self.taken += 1
        self.batch.step()

    def write(self):
        """Write the bytes of one step's observations."""
        self.observation.fill(1)


def measure(game: str, view: str, options: dict, num_envs: int) -> list[str]:
    """Return a row of the table."""
    own = Bench(game, view, 1, num_envs, None, options)
    single = num_envs / median_seconds(own.step)
    limit = num_envs / median_seconds(own.write)
    every = single if own.frame_skip == 1 else num_envs / median_seconds(Bench(game, view, 1, num_envs, 1, options).step)
    name = " ".join([game, *(f"{option}={value}" for option, value in options.items())])
    row = [name, view, own.observation[0].nbytes, count(every), own.frame_skip, count(single), f"{1e9 / single:.1f}",
           count(limit)]
    if cores() == 1:
        return [*row, "-", "-"]
    several = num_envs / median_seconds(Bench(game, view, cores(), num_envs, None, options).step)
    return [*row, count(several), f"{several / single:.2f}"]


def main():
    parser = new_parser("envs", __doc__)
    parser.add_argument("games", nargs="*", default=None, metavar="GAME", help="games to measure (default: all)")
    parser.add_argument("--num-envs", type=at_least(1), default=1024, help="number of environments (default: 1024)")
    parser.add_argument("--out", type=Path, help="file to write the table to")
    options = parser.parse_args()
    check_games(parser, options.games)
    cases = [(game, view, variant) for game in options.games or envs_c.games() for variant in VARIANTS.get(game, [{}])
             for view in ("features", "pixels")]
    rows = []
    for number, (game, view, variant) in enumerate(cases, 1):
        print(f"{number} of {len(cases)}: {game} {view}", file=sys.stderr, flush=True)
        rows.append(measure(game, view, variant, options.num_envs))
    columns = ["game", "view", "bytes", "steps/s, 1 core, every frame", "frame skip", "steps/s with it, 1 core", "ns per step",
               "writes/s, same bytes, 1 core", f"steps/s with it, {cores()} cores", "gain"]
    publish(head("Steps per second") + "\n" + markdown(columns, rows), options.out)


if __name__ == "__main__":
    main()
