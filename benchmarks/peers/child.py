"""One process of the comparison: `python -m benchmarks.peers.child environments|trainings NAME NUM_ENVS`.

It prints a line of JSON when it is ready: {"version": ...}, or {"missing": reason}. For each line with a number of seconds it
measures that long and prints {"rate": steps per second}. A training prints {"rate", "steps", "seconds", "score"} and goes on
with the next line where it was; seconds are those of training since its begin.
"""

import importlib.metadata
import json
import re
import sys
import time
from collections.abc import Iterator

from benchmarks.peers.environments import ENVIRONMENTS
from benchmarks.peers.trainings import TRAININGS


def say(**fields):
    print(json.dumps(fields), flush=True)


def rates(play, seconds: Iterator[float]):
    """Measure `play` for each number of seconds."""
    for limit in seconds:
        play()
        begin, steps = time.perf_counter(), 0
        while time.perf_counter() - begin < limit:
            steps += play()
        say(rate=steps / (time.perf_counter() - begin))


def progress(iterations: Iterator[tuple[int, float]], steps: int, seconds: Iterator[float]):
    """Train for each number of seconds.

    iterations: after each, (steps so far, mean score of the last 100 episodes). steps: those of the first one.
    """
    trained, score = 0.0, 0.0
    for limit in seconds:
        begin, before = time.perf_counter(), steps
        while time.perf_counter() - begin < limit:
            steps, score = next(iterations)
        spent = time.perf_counter() - begin
        trained += spent
        say(rate=(steps - before) / spent, steps=steps, seconds=trained, score=score)


def main(kind: str, name: str, num_envs: str):
    row = ENVIRONMENTS[name] if kind == "environments" else TRAININGS[name]
    try:
        made = row.make(int(num_envs))
        steps = next(made)[0] if kind == "trainings" else 0  # memory is touched, functions are compiled
        version = importlib.metadata.version(row.package)
    except Exception as error:  # of any package: the row says it
        plain = re.sub(r"[^ -~]|-{4,}", " ", f"{type(error).__name__}: {error}")
        say(missing=" ".join(plain.split())[:120])
        return
    say(version=version)
    seconds = (float(line) for line in sys.stdin)
    if kind == "trainings":
        progress(made, steps, seconds)
    else:
        rates(made, seconds)


if __name__ == "__main__":
    main(*sys.argv[1:])
