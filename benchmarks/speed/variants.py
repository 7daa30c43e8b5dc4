"""The games with the instructions of other CPUs: `python -m benchmarks.speed.variants --python PYTHON`.

A wheel has the games in variants, for CPUs with SSE4.2 (v2), AVX2 (v3) and AVX-512 (v4); INSERTCOIN_ISA names one. PYTHON is
that of an environment with the wheel: `make wheel`, then `pip install dist/insertcoin-*.whl` there, and ale-py for cartridges.
Each figure is the CPU time of a step of 64 environments in pixels with one thread: the median of the rounds, in which the
variants take turns, each in a process of its own. A cartridge is compiled by its variant first. Nothing is pressed (action 0):
in Breakout the ball is not served.
"""

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.common import at_least, check_games, head, new_parser, publish
from trainer.log.text import markdown

VARIANTS = ("v2", "v3", "v4")
GAMES = ("breakout", "pong", "asterix", "atari:seaquest", "atari:asterix", "atari:qbert", "atari:breakout", "atari:pong")
NOTE = "CPU time of a step of 64 environments in pixels. Nothing is pressed: in Breakout the ball is not served."
STEP = """
import statistics, sys, time
import envs_c
from envs_c.testing.play import bind, buffers
core = envs_c.VecEnv(envs_c.game(sys.argv[1]), 64, view="pixels", num_threads=1, seed=1)
batch = bind(core, buffers(core), 0, 64)
batch.reset()
times = []
for _ in range(260):
    begin = time.process_time()
    batch.step()
    times.append(time.process_time() - begin)
print(statistics.median(times[20:]))
"""


def run(python: str, variant: str, *command: str) -> subprocess.CompletedProcess:
    """Run Python with a variant of the games, outside the repository."""
    with tempfile.TemporaryDirectory() as folder:
        return subprocess.run([python, *command], cwd=folder, capture_output=True, text=True,
                              env=os.environ | {"INSERTCOIN_ISA": variant})


def variants_of(python: str) -> list[str]:
    """The variants that this CPU and the wheel have; ends the program if there are none."""
    tried = {variant: run(python, variant, "-c", "import envs_c") for variant in VARIANTS}
    found = [variant for variant, done in tried.items() if done.returncode == 0]
    if not found:
        sys.exit(f"--python {python}: no variant of the games can be imported there; install a wheel into it (make wheel). The "
                 f"last error: {tried[VARIANTS[0]].stderr.strip()[-200:]}")
    return found


def seconds_of(python: str, variant: str, game: str) -> float:
    """The median CPU seconds of a step."""
    done = run(python, variant, "-c", STEP, game)
    if done.returncode:
        sys.exit(f"{game} with {variant}: {done.stderr.strip()[-400:]}")
    return float(done.stdout)


def main():
    parser = new_parser("speed.variants", __doc__)
    parser.add_argument("--python", required=True, help="the Python of an environment with a wheel of insertcoin")
    parser.add_argument("--games", nargs="+", default=GAMES, metavar="GAME", help=f"(default: {' '.join(GAMES)})")
    parser.add_argument("--rounds", type=at_least(1), default=5, help="processes of each game and variant (default: 5)")
    parser.add_argument("--out", type=Path, help="file to write the table to")
    options = parser.parse_args()
    check_games(parser, options.games)
    variants, rows = variants_of(options.python), []
    for game in options.games:
        for variant in variants if game.startswith("atari:") else ():
            done = run(options.python, variant, "-m", "envs_c.console.compile", game.removeprefix("atari:"))
            if done.returncode:
                sys.exit(f"{game} cannot be compiled with {variant}: {done.stderr.strip()[-400:]}")
        rounds = [[seconds_of(options.python, variant, game) for variant in variants] for _ in range(options.rounds)]
        medians = [statistics.median(times) * 1e6 for times in zip(*rounds, strict=True)]
        rows.append([game, *(f"{one:,.1f}" for one in medians), f"{medians[0] / medians[-1]:.2f}"])
        print(" ".join(rows[-1]), file=sys.stderr, flush=True)
    columns = ["game", *(f"{variant}, us" for variant in variants), f"{variants[0]} / {variants[-1]}"]
    title = "The games with other CPUs' instructions"
    publish(f"{head(title)}\n{NOTE}\n\n{markdown(columns, rows)}", options.out)


if __name__ == "__main__":
    main()
