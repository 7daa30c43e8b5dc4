"""The games as GPU programs, without a GPU: `python -m benchmarks.device_games`.

A row for each game: whether its PTX, run by the emulator of tests/support, equals the CPU's engine bit for bit in features and
in pictures, and what NVIDIA's assembler ptxas makes of the kernel `step`: registers, and bytes of stack and of spills, of a
thread, the largest of all architectures. It needs the extra cuda, gcc for tables and pictures, and for the last columns ptxas
(of CUDA, or of the package nvidia-cuda-nvcc).
"""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import envs_c
from benchmarks.common import check_games, head, new_parser, publish
from envs_c.bare import device as compiler
from trainer.log.text import markdown

SUPPORT = Path(__file__).resolve().parents[1] / "tests" / "support"
ARCHITECTURES = ("75", "80", "90", "100", "120")
SHORT = ("cartpole", "pong", "tmaze")
STEPS = {"features": (3, 8), "pixels": (1, 1)}  # environments, steps
USED = re.compile(r"Compiling entry function 'step'(?:.|\n)*?(\d+) bytes stack frame, (\d+) bytes spill stores, "
                  r"(\d+) bytes spill loads(?:.|\n)*?Used (\d+) registers")


class Usage(NamedTuple):
    """What a thread of a kernel takes."""

    registers: int
    stack: int   # bytes
    spills: int  # bytes stored and loaded


def assembled(ptx: str, arch: str, ptxas: str) -> Usage:
    """What the kernel `step` takes on an architecture such as "90". Raises RuntimeError if ptxas refuses the text."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "game.ptx"
        path.write_text(ptx, encoding="utf-8")
        done = subprocess.run([ptxas, "-v", f"-arch=sm_{arch}", str(path), "-o", str(path.with_suffix(".cubin"))],
                              capture_output=True, text=True, check=False)
    found = USED.search(done.stderr)
    if done.returncode or not found:
        raise RuntimeError(f"ptxas refuses it for sm_{arch}: {done.stderr.strip()[-400:]}")
    stack, stored, loaded, registers = map(int, found.groups())
    return Usage(registers, stack, stored + loaded)


def equal(game, view: str) -> str:
    """Compare the emulated kernels with the engine. Returns "yes", or the first difference."""
    sys.path[:0] = [str(path) for path in (SUPPORT, SUPPORT / "devices") if str(path) not in sys.path]
    from game_runs import played
    from games_on_cpu import EmulatedGame
    num_envs, steps = STEPS[view]
    try:
        played(game, EmulatedGame(game, view == "pixels"), num_envs, steps, view=view, sticky=0.25)
    except AssertionError as error:
        return f"no: {error}"
    return "yes"


def row(name: str, views: tuple[str, ...], architectures: tuple[str, ...], ptxas: str | None) -> dict[str, str]:
    """The results of one game, by column."""
    game, found = envs_c.game(name), {"game": name}
    for view in views:
        found[view] = equal(game, view)
    if ptxas:
        for view in views:
            ptx = compiler.ptx(game, pixels=view == "pixels")
            used = [assembled(ptx, arch, ptxas) for arch in architectures]
            most = Usage(*(max(one) for one in zip(*used, strict=True)))
            found |= {f"registers, {view}": str(most.registers), f"stack, {view}": f"{most.stack:,}",
                      f"spills, {view}": f"{most.spills:,}"}
    return found


def closing(rows: list[dict[str, str]], views: tuple[str, ...], architectures: tuple[str, ...], ptxas: str | None) -> str:
    """The last line, such as "16 of 16 games equal in features, 16 of 16 cubins for sm_75, 80"."""
    names = {"features": "games equal in features", "pixels": "in pictures"}
    parts = [f"{sum(one[view] == 'yes' for one in rows)} of {len(rows)} {names[view]}" for view in views]
    cubins = f"{len(rows)} of {len(rows)} cubins for sm_{', '.join(architectures)}" if ptxas else "no ptxas here, so no cubins"
    return ", ".join([*parts, cubins])


def main(argv: list[str]) -> int:
    """Print the table. Returns 1 if a game differs."""
    parser = new_parser("device_games", __doc__)
    parser.add_argument("--games", nargs="+", default=list(envs_c.catalog.built_in()), help="games of envs_c (default: all)")
    parser.add_argument("--views", nargs="+", choices=STEPS, default=list(STEPS), help="(default: features pixels)")
    parser.add_argument("--short", action="store_true", help=f"{', '.join(SHORT)}, features, sm_75 and sm_120")
    parser.add_argument("--ptxas", default=shutil.which("ptxas"), help="NVIDIA's assembler (default: that on PATH)")
    parser.add_argument("--out", type=Path, help="file to write the table to")
    options = parser.parse_args(argv)
    games, views, architectures = options.games, tuple(options.views), ARCHITECTURES
    if options.short:
        games, views, architectures = list(SHORT), ("features",), ("75", "120")
    check_games(parser, games)
    rows = []
    for name in games:
        rows.append(row(name, views, architectures, options.ptxas))
        print(" | ".join(f"{key}: {value}" for key, value in rows[-1].items()), flush=True)
    line = closing(rows, views, architectures, options.ptxas)
    table = markdown(list(rows[0]), [list(one.values()) for one in rows])
    publish(head("Games as GPU programs") + f"\n{table}\n\n{line}\n", options.out)
    print(line)
    return int(any(one[view] != "yes" for one in rows for view in views))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
