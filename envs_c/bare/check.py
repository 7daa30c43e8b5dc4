"""`envs_c check GAME --device`: a game's GPU program against the CPU's engine, without a GPU.

The emulator of PTX and the comparison (benchmarks/device_games) are parts of the repository and need torch, so they run as a
program of their own.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from envs_c.bare import device, emit
from envs_c.errors import ContractError, InvalidArgument

EMULATOR = emit.ROOT / "tests" / "support" / "devices" / "ptx"
VIEWS = {"features": "the features", "pixels": "the pictures"}
MANY_DOUBLES = 0.1  # of all instructions


def on_device(game) -> Iterator[str]:
    """Compile a game for GPUs and compare its emulated kernels with the engine; yields a line for each result.

    game: a `Game`.
    Raises CompileFailed if it cannot run on a GPU, ContractError if it differs there, and InvalidArgument outside the
    repository.
    """
    doubles, instructions = device.doubles(device.ptx(game))
    yield f"ok      compiles_for_gpus: {instructions:,} instructions of PTX, {doubles:,} of them with float64"
    if doubles > MANY_DOUBLES * instructions:
        yield "warning: most GPUs take 32 to 64 times as long for float64 as for float32"
    if not EMULATOR.is_dir():
        raise InvalidArgument("--device must be left out here: the emulator of GPUs is a part of the repository, and the games "
                              f"are in {emit.ROOT}")
    name = game.name if game.name in emit.built_in() else str(emit.path_of(game).resolve())
    for view, text in VIEWS.items():
        fault = compared(name, view)
        verdict = "BROKEN" if fault else "ok    "
        yield f"{verdict}  equal_on_gpus: {text} of the emulated GPU program are those of the CPU's engine"
        if fault:
            raise ContractError(f"game {game.name!r} differs on a GPU in {text}: {fault}")


def compared(name: str, view: str) -> str:
    """The first difference between a game's emulated kernels and the engine, or "". name: of the game, or its path."""
    with tempfile.TemporaryDirectory() as folder:
        kept = Path(folder) / "results.json"
        command = [sys.executable, "-m", "benchmarks.device_games", "--games", name, "--views", view, "--emulate", "--json"]
        done = subprocess.run([*command, str(kept)], cwd=emit.ROOT, capture_output=True, text=True, check=False)
        if not kept.is_file():
            return (done.stderr.strip().splitlines() or [f"it ended with code {done.returncode}"])[-1]
        (result,) = json.loads(kept.read_text(encoding="utf-8")).values()
    return "" if result["equal"] == "yes" else result["equal"].removeprefix("no: ")
