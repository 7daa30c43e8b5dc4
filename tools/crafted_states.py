"""Proves that a crafted state does no harm: `python -m tools.crafted_states [GAME ...] [--states 2000] [--steps 1000]`.

For each game it takes true states from deep play under many options, changes one or a few fields of each, computes the
checksum again and calls `set_state`. After each accepted state it plays random steps in both views and draws in colour. Each
game runs in a process of its own. A fault is a crash, a report of a sanitizer, a call that does not return, an observation
or a reward that is not finite, or a write outside the environment. It is printed with the command that repeats it.

`make crafted` runs this under the address sanitizer and under the undefined-behaviour sanitizer.
"""

import argparse
import json
import os
import re
import shlex
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

import envs_c
from envs_c.engine.state import close_state
from envs_c.engine.vecenv import HEAD_SIZE
from envs_c.machine import cores
from envs_c.testing.play import bind, buffers
from envs_c.testing.rules import option_sets

ROOT = Path(__file__).resolve().parent.parent
NUM_ENVS = 32                          # environments of the play that true states come from
MOMENTS = (0, 1, 7, 50, 200, 800, 3000)  # steps after which it takes their states
SELECT = 20                            # steps between two selections of the best environments
RENDER = 50                            # steps between two pictures in colour
MIXED = 4                              # sets of options with random values of all options
RETURN = 16                            # the place of a float64 in an environment's memory: the episode's return
SANITIZED = "libasan" in os.environ.get("LD_PRELOAD", "")
EXTREMES = {
    "u1": [0, 1, 2, 5, 16, 64, 127, 128, 200, 254, 255],
    "i2": [0, -1, 1, 127, 128, 255, 256, 1000, -1000, 2**15 - 1, -(2**15)],
    "i4": [0, -1, 1, 10, 127, 128, 255, 256, 4096, 65536, 10**6, -(10**6), 2**30, 2**31 - 1, -(2**31)],
    "i8": [0, -1, 1, 2**31, 2**62, 2**63 - 1, -(2**63)],
    "f4": [0, -1, 1, 100, -100, 1e5, -1e5, 1e9, -1e9, 1e30, -1e30, np.nan, np.inf, -np.inf, 1e-40],
    "f8": [0, -1, 1, 100, -100, 1e5, -1e5, 1e9, -1e9, 1e300, -1e300, np.nan, np.inf, -np.inf, 1e-310],
}


# --- True states --------------------------------------------------------------------------------------------------------

def all_options(game) -> list[dict]:
    """The default options, each option at its two ends, and some sets of random values."""
    random = np.random.default_rng(0)
    mixed = []
    for _ in range(MIXED if game.options else 0):
        values = {name: random.uniform(option.low, option.high) for name, option in game.options.items()}
        mixed.append({name: round(value) if game.options[name].integer else value for name, value in values.items()})
    return [*option_sets(game), *mixed]


def true_states(game, options: dict, steps: int, seed: int = 0, **settings) -> np.ndarray:
    """States of random play at several moments up to `steps`: (states, stride) uint8.

    In half of the environments the worse ones continue from the states of the better ones every few steps, so they see the
    deeper levels.
    """
    core = envs_c.VecEnv(game, NUM_ENVS, seed=seed, options=options, num_threads=1, **settings)
    arrays, random = buffers(core), np.random.default_rng(seed)
    batch = bind(core, arrays, 0, NUM_ENVS)
    batch.reset()
    taken = [memory_of(core)]
    for step in range(1, steps + 1):
        arrays["actions"][:] = random.integers(len(core.actions), size=NUM_ENVS)
        batch.step()
        if step % SELECT == 0:
            select(core)
        if step in MOMENTS or step == steps:
            taken.append(memory_of(core))
    return np.concatenate(taken)


def select(core):
    """Restore the states of the better quarter of the environments into the worst quarter."""
    memory, quarter = memory_of(core), NUM_ENVS // 4
    returns = memory[: 2 * quarter, RETURN : RETURN + 8].copy().view(np.float64)[:, 0]
    order = np.argsort(returns, kind="stable")
    core.set_state(core.get_state(order[quarter:]), order[:quarter])


def memory_of(core) -> np.ndarray:
    """The memory of all environments, (N, stride) uint8."""
    return np.frombuffer(core.get_state(), np.uint8)[-core.num_envs * core.stride :].reshape(core.num_envs, -1)


# --- Crafted states -----------------------------------------------------------------------------------------------------

def craft(states: np.ndarray, size: int, random: np.random.Generator) -> tuple[np.ndarray, list[str]]:
    """One of `states` with a change or a few, (stride,) uint8, and the description of each change.

    size: bytes of the game's struct.
    """
    state = states[random.integers(len(states))].copy()
    changes = []
    for _ in range(random.choice([1, 2, 4], p=[0.7, 0.2, 0.1])):
        other = states[random.integers(len(states))]
        start, length = (0, HEAD_SIZE) if random.random() < 0.05 else (HEAD_SIZE, size)
        changes.append(change(state[start : start + length], other[start : start + length], random))
    return state, changes


def change(memory: np.ndarray, other: np.ndarray, random: np.random.Generator) -> str:
    """Change one field, or a few bytes. Fields are aligned, but their places are guessed. Returns a description."""
    way = random.choice(["extreme", "near", "swap", "bytes", "bits"], p=[0.4, 0.2, 0.2, 0.1, 0.1])
    if way in ("bytes", "bits"):
        place = random.integers(len(memory), size=random.integers(1, 4))
        memory[place] = random.integers(256, size=len(place)) if way == "bytes" else memory[place] ^ 1 << random.integers(8)
        return f"{way} {place.tolist()}"
    kinds = [kind for kind in EXTREMES if int(kind[1]) <= len(memory)]
    kind = kinds[random.integers(len(kinds))]
    width = int(kind[1])
    at = width * int(random.integers(len(memory) // width))
    value = memory[at : at + width].view(kind)
    with np.errstate(all="ignore"):
        if way == "extreme":
            value[0] = EXTREMES[kind][random.integers(len(EXTREMES[kind]))]
        elif way == "near":
            value[0] += np.array(random.integers(-3, 4)).astype(kind)
        else:
            value[0] = other[at : at + width].view(kind)[0]
    return f"{way} {kind}[{at}] = {value[0]}"


# --- In the process of a game -------------------------------------------------------------------------------------------

class Stage:
    """Environments of one set of options in both views, and the true states for them.

    Without a sanitizer the crafted state plays between two neighbours, whose memory must not change.
    """

    def __init__(self, game, options: dict, depth: int):
        self.states = true_states(game, options, depth)
        settings = {"options": options, "seed": 1, "sticky": 0.25, "autoreset": "same_step", "num_threads": 1}
        self.place, count = (0, 1) if SANITIZED else (1, 3)
        self.cores = [envs_c.VecEnv(game, count, view=view, **settings) for view in ("features", "pixels")]
        self.arrays = [buffers(core) for core in self.cores]
        self.batches = [bind(core, arrays, self.place, self.place + 1)
                        for core, arrays in zip(self.cores, self.arrays, strict=True)]

    def accepts(self, state: np.ndarray) -> bool:
        """Restore a crafted state in both views; False if it is refused."""
        try:
            for core in self.cores:
                core.set_state(close_state(core._signature(), 1, state.tobytes()), [self.place])
        except envs_c.InvalidState:
            return False
        return True

    def play(self, steps: int, random: np.random.Generator):
        """Play random steps in both views. Raises AssertionError for a fault."""
        for core, arrays, batch in zip(self.cores, self.arrays, self.batches, strict=True):
            before = memory_of(core)
            batch.observe()
            try:
                core.render(self.place)
            except envs_c.NotReset:
                return
            actions = random.integers(len(core.actions), size=steps).tolist()
            for step, action in enumerate(actions):
                arrays["actions"][self.place] = action
                batch.step()
                if step % RENDER == 0:
                    core.render(self.place)
            for name in ("observation", "reward", "final_observation"):
                assert np.isfinite(arrays[name]).all(), f"{name} is not finite"
            after = memory_of(core)
            assert all((before[i] == after[i]).all() for i in range(core.num_envs) if i != self.place), "a neighbour changed"


def work(name: str, seed: int, first: int, states: int, steps: int, depth: int, limit: int):
    """Try states first .. states-1 of a game. Prints a line before and after each; ends by a signal if one takes too long."""
    game, stages = envs_c.game(name), {}
    settings = all_options(game)
    for number in range(first, states):
        random = np.random.default_rng([seed, number])
        options = settings[number % len(settings)]
        key = repr(options)
        if key not in stages:
            stages[key] = Stage(game, options, depth)
        stage = stages[key]
        state, changes = craft(stage.states, game.state_size, random)
        print(json.dumps([number, options, changes]), flush=True)
        signal.setitimer(signal.ITIMER_VIRTUAL, limit)  # of CPU time; the signal ends the process
        accepted = stage.accepts(state)
        if accepted:
            stage.play(steps, random)
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        print("accepted" if accepted else "refused", flush=True)


# --- In the process that the user starts --------------------------------------------------------------------------------

@dataclass
class Result:
    """The counts of one game."""

    name: str
    states: int = 0
    accepted: int = 0
    refused: int = 0
    faults: list[str] = field(default_factory=list)


def try_game(name: str, arguments: argparse.Namespace) -> Result:
    """Try all states of a game, in a new process after each fault."""
    result = Result(name)
    while result.states < arguments.states and len(result.faults) < arguments.faults:
        first = result.states + arguments.first
        line = [sys.executable, *command(name, arguments, first, arguments.first + arguments.states), "--worker"]
        process = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT)
        output, errors = process.communicate()
        lines = output.splitlines()
        result.accepted += lines.count("accepted")
        result.refused += lines.count("refused")
        begun = [line for line in lines if line.startswith("[")]
        result.states += len(begun)
        if process.returncode == 0:
            break
        number, options, changes = json.loads(begun[-1]) if begun else (first, {}, ["before the first state"])
        result.states += not begun
        result.faults.append(reason(process.returncode, errors, arguments.limit))
        print(f"FAULT {name}: {result.faults[-1]}\n  state {number}, options {options}: {'; '.join(changes)}\n"
              f"  python {shlex.join(command(name, arguments, number, number + 1))}", flush=True)
    print(f"{name}: {result.accepted} accepted, {result.refused} refused, {len(result.faults)} faults", flush=True)
    return result


def command(name: str, arguments: argparse.Namespace, first: int, end: int) -> list[str]:
    """Python's arguments for states first .. end-1 of a game."""
    line = ["-m", "tools.crafted_states", name, "--first", str(first), "--states", str(end - first)]
    for option in ("seed", "steps", "depth", "limit"):
        line += [f"--{option}", str(getattr(arguments, option))]
    return line


def reason(status: int, errors: str, limit: int) -> str:
    """The fault of a process that ended with this status, in one line."""
    found = re.search(r"(AddressSanitizer: .*|runtime error: .*)", errors)
    if found:
        frame = re.search(r"#\d+ \S+ in (__pyx_\S+) (\S+)", errors)
        return found[1] + (f" in {frame[1]} {frame[2]}" if frame else "")
    if status == -signal.SIGVTALRM:
        return f"did not return within {limit} seconds of CPU time"
    if status < 0:
        return f"killed by {signal.Signals(-status).name}"
    return (errors.strip().splitlines() or [f"status {status}"])[-1]


def parse(argv: list[str]) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("games", nargs="*", help="names of games; default: all")
    parser.add_argument("--states", type=int, default=2000, help="crafted states of each game")
    parser.add_argument("--steps", type=int, default=1000, help="random steps in each view after each accepted state")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="the number of the first state")
    parser.add_argument("--depth", type=int, default=3000, help="steps of the play that true states come from")
    parser.add_argument("--limit", type=int, default=20, help="seconds of CPU time for one state")
    parser.add_argument("--faults", type=int, default=3, help="faults after which a game is left")
    parser.add_argument("--jobs", type=int, default=cores(), help="games at the same time")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args(argv)
    for name in arguments.games:
        try:
            envs_c.game(name)
        except envs_c.UnknownGame as error:
            parser.error(str(error))
    return arguments


def main(argv: list[str]) -> int:
    """Try the games; returns 1 if there was a fault."""
    arguments = parse(argv)
    if arguments.worker:
        end = arguments.first + arguments.states
        work(arguments.games[0], arguments.seed, arguments.first, end, arguments.steps, arguments.depth, arguments.limit)
        return 0
    with ThreadPoolExecutor(arguments.jobs) as pool:
        results = list(pool.map(lambda name: try_game(name, arguments), arguments.games or envs_c.games()))
    print(f"\n{'game':16}{'states':>8}{'refused':>9}{'accepted':>9}{'faults':>8}")
    for result in results:
        print(f"{result.name:16}{result.states:8}{result.refused:9}{result.accepted:9}{len(result.faults):8}")
    return int(any(result.faults for result in results))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
