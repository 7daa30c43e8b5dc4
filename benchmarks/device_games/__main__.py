"""The games as GPU programs, without a GPU: `python -m benchmarks.device_games`.

For each game: whether its PTX, run by the emulator of tests/support, equals the CPU's engine bit for bit in features and in
pictures, with snapshots exchanged after half of the steps; and what NVIDIA's assembler ptxas makes of the kernels `step` and
`draw`: registers, and bytes of stack and of spills, of a thread, the largest of both and of all architectures. A second table
has the trainer's own kernels. Results are kept in --json as they come, and computed again only if the game or a compiler has
changed.

It needs the extra cuda, gcc for tables and pictures, and for games' registers ptxas: of CUDA, or `pip install --no-deps
nvidia-cuda-nvcc`.
"""

import argparse
import json
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path

import envs_c
from benchmarks.common import at_least, check_games, head, new_parser, publish
from benchmarks.device_games import assembler
from benchmarks.device_games.parts import STEPS, Found, assemble, equal, own_kernels
from envs_c.bare import device as compiler
from envs_c.files import write_atomically
from trainer.log.text import markdown

ARCHITECTURES = ("75", "80", "90", "100", "120")
SHORT = ("cartpole", "pong", "tmaze")
NAMES = {"features": "games equal in features", "pixels": "in pictures"}


class Kept:
    """Results in a file of JSON.

    path: the file, or None to keep nothing.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.found: dict[str, Found] = json.loads(path.read_text(encoding="utf-8")) if path and path.exists() else {}

    def known(self, key: str, facts: str) -> bool:
        """True if there is a result that was computed from the same facts."""
        return self.found.get(key, {}).get("facts") == facts

    def put(self, key: str, facts: str, result: Found) -> None:
        """Write a result."""
        self.found[key] = {"facts": facts} | result
        if self.path:
            write_atomically(self.path, [json.dumps(self.found, indent=1).encode()])


def work_through(options: argparse.Namespace, architectures: tuple[str, ...]) -> dict[str, Found]:
    """The results of all games and views, by "game, view, part". Prints each as it comes."""
    kept, todo = Kept(options.json), {}
    release = assembler.version(options.ptxas) if options.ptxas else ""
    wanted: list[str] = []
    for name in options.games:
        for view in options.views:
            source = compiler.digest(envs_c.game(name), view == "pixels")
            parts: dict[str, tuple[str, Callable, tuple]] = {"emulated": (f"{source} {STEPS[view]}", equal, ())}
            if options.ptxas:
                parts["assembled"] = f"{source} {architectures} {release}", assemble, (architectures, options.ptxas)
            for part, (facts, function, more) in parts.items():
                wanted.append(key := f"{name}, {view}, {part}")
                if not kept.known(key, facts):
                    todo[key] = facts, function, (name, view, *more)
    with ProcessPoolExecutor(options.jobs, get_context("spawn")) as pool:
        running = {pool.submit(function, *arguments): (key, facts) for key, (facts, function, arguments) in todo.items()}
        for done in as_completed(running):
            key, facts = running[done]
            kept.put(key, facts, done.result())
            print(f"{key}: {done.result()}", flush=True)
    return {key: kept.found[key] for key in wanted}


def row(name: str, views: tuple[str, ...], found: dict[str, Found]) -> dict[str, str]:
    """The results of one game, by column of the table."""
    cells = {"game": name} | {view: found[f"{name}, {view}, emulated"]["equal"] for view in views}
    for view in views:
        if result := found.get(f"{name}, {view}, assembled"):
            numbers = [f"{number:,}" for number in result["used"]] if "used" in result else [result["refused"], "", ""]
            cells |= dict(zip((f"registers, {view}", f"stack, {view}", f"spills, {view}"), numbers, strict=True))
    return cells


def closing(found: dict[str, Found], games: list[str], views: tuple[str, ...], architectures: tuple[str, ...]) -> str:
    """The last line, such as "16 of 16 games equal in features, 16 of 16 cubins for sm_75, 80"."""
    parts = [f"{sum(found[f'{name}, {view}, emulated']['equal'] == 'yes' for name in games)} of {len(games)} {NAMES[view]}"
             for view in views]
    if not any(key.endswith("assembled") for key in found):
        return ", ".join([*parts, "no ptxas here, so no cubins"])
    whole = sum(all("used" in found[f"{name}, {view}, assembled"] for view in views) for name in games)
    return ", ".join([*parts, f"{whole} of {len(games)} cubins for sm_{', '.join(architectures)}"])


def options_of(argv: list[str]) -> argparse.Namespace:
    """The parsed command line."""
    parser = new_parser("device_games", __doc__)
    parser.add_argument("--games", nargs="+", default=list(envs_c.catalog.built_in()),
                        help="games of envs_c, or paths of a .pyx (default: all of envs_c)")
    parser.add_argument("--views", nargs="+", choices=STEPS, default=list(STEPS), help="(default: features pixels)")
    parser.add_argument("--short", action="store_true", help=f"{', '.join(SHORT)}, features, sm_75 and sm_120, games only")
    parser.add_argument("--emulate", action="store_true", help="only compare the games, and assemble nothing")
    parser.add_argument("--ptxas", default=assembler.find_ptxas(), help="NVIDIA's assembler (default: that on PATH)")
    parser.add_argument("--jobs", type=at_least(1), default=1, help="games at the same time (default: 1)")
    parser.add_argument("--json", type=Path, help="file to keep results in")
    parser.add_argument("--out", type=Path, help="file to write the tables to")
    options = parser.parse_args(argv)
    if options.short:
        options.games, options.views = list(SHORT), ["features"]
    if options.emulate:
        options.ptxas = None
    check_games(parser, options.games)
    return options


def main(argv: list[str]) -> int:
    """Print the tables. Returns 1 if a game differs, or the assembler refuses one."""
    options = options_of(argv)
    games, views, architectures = options.games, tuple(options.views), ARCHITECTURES
    if options.short:
        architectures = ARCHITECTURES[0], ARCHITECTURES[-1]
    found = work_through(options, architectures)
    rows = [row(name, views, found) for name in games]
    line = closing(found, games, views, architectures)
    emulated = sum(one.get("seconds", 0) for one in found.values()) / 60
    text = (f"{head('Games as GPU programs')}\nThe emulator took {emulated:.1f} minutes of a processor.\n\n"
            f"{markdown(list(rows[0]), [list(one.values()) for one in rows])}\n\n{line}\n")
    if not options.short and not options.emulate:
        kernels = [[name, *used] for name, used in own_kernels(architectures).items()]
        text += ("\n## The trainer's own kernels\n\nAs NVRTC's assembler compiles them for the same architectures.\n\n"
                 f"{markdown(['kernel', 'registers', 'stack', 'spills'], kernels)}\n")
    publish(text, options.out)
    print(line)
    return int(any("refused" in one or one.get("equal", "yes") != "yes" for one in found.values()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
