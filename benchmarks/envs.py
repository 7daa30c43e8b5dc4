"""Steps a second of every game: `python -m benchmarks.envs`.

Random actions, 1,024 environments, through the core (`VecEnv.bind`): one thread at frame skip 1 and at the game's own,
and all threads at that. Beside each figure stands the limit that writing the same bytes to the same buffer sets, measured
in the same run.
"""

import argparse
import sys
from pathlib import Path

import numpy as np

import envs_c
from benchmarks.common import head, median_seconds, publish, rate, table
from envs_c.checks import cores

ROLL = 64  # actions are drawn before, for so many steps
VARIANTS = {"go": [{"size": 7}, {"size": 9}]}  # games that are measured under options, not only as they are


class Bench:
    """One game, view and number of threads, ready to step; `step` takes the next random actions."""

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
        for _ in range(2000):  # until the environments are spread over their episodes
            self.step()

    def step(self):
        self.actions[:] = self.rolls[self.taken % ROLL]
        self.taken += 1
        self.batch.step()

    def write(self):
        """Write as many bytes as a step's observations."""
        self.observation.fill(1)


def measure(game: str, view: str, options: dict, num_envs: int) -> list[str]:
    """A row of the table."""
    own = Bench(game, view, 1, num_envs, None, options)
    single = num_envs / median_seconds(own.step)
    limit = num_envs / median_seconds(own.write)
    every = single if own.frame_skip == 1 else num_envs / median_seconds(Bench(game, view, 1, num_envs, 1, options).step)
    name = " ".join([game, *(f"{option}={value}" for option, value in options.items())])
    row = [name, view, own.observation[0].nbytes, rate(every), own.frame_skip, rate(single), f"{1e9 / single:.1f}", rate(limit)]
    if cores() == 1:
        return [*row, "-", "-"]
    several = num_envs / median_seconds(Bench(game, view, cores(), num_envs, None, options).step)
    return [*row, rate(several), f"{several / single:.2f}"]


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.envs", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("games", nargs="*", default=None, metavar="GAME", help="games to measure (default: all)")
    parser.add_argument("--num-envs", type=int, default=1024, help="environments (default: 1024)")
    parser.add_argument("--out", type=Path, help="write the table to this file, too")
    options = parser.parse_args()
    for name in options.games:
        if name not in envs_c.games():
            parser.error(f"there is no game {name!r}; the games are {', '.join(envs_c.games())}")
    cases = [(game, view, variant) for game in options.games or envs_c.games() for variant in VARIANTS.get(game, [{}])
             for view in ("features", "pixels")]
    rows = []
    for number, (game, view, variant) in enumerate(cases, 1):
        print(f"{number} of {len(cases)}: {game} {view}", file=sys.stderr, flush=True)
        rows.append(measure(game, view, variant, options.num_envs))
    columns = ["game", "view", "bytes", "steps/s, 1 core, every frame", "frame skip", "steps/s with it, 1 core", "ns a step",
               "writes/s, same bytes, 1 core", f"steps/s with it, {cores()} cores", "gain"]
    publish(head("Steps a second") + "\n" + table(columns, rows), options.out)


if __name__ == "__main__":
    main()
