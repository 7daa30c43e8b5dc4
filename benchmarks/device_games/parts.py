"""The work on one game: its kernels on the emulator beside the CPU's engine, and through ptxas. Each runs in a process."""

import sys
import time
from pathlib import Path
from typing import Any

import envs_c
from benchmarks.device_games import assembler
from bridge.on_device import cartpole
from envs_c.bare import device as compiler
from trainer.kernels.checks import sources

SUPPORT = Path(__file__).resolve().parents[2] / "tests" / "support"
STEPS = {"features": (3, 8), "pixels": (1, 1)}  # environments, steps
KERNELS = ("step", "draw")  # whose registers and stack count: a step, and with pictures its picture
BF16 = 80  # the first architecture of the kernels that multiply bfloat16

Found = dict[str, Any]


def equal(name: str, view: str) -> Found:
    """Compare the emulated kernels of a game with the engine. Returns "equal", "yes" or the first difference."""
    sys.path[:0] = [str(path) for path in (SUPPORT, SUPPORT / "devices") if str(path) not in sys.path]
    from game_runs import played
    from games_on_cpu import EmulatedGame
    from ptx.faults import Fault, UnknownInstruction
    game, begin = envs_c.game(name), time.process_time()
    try:
        played(game, EmulatedGame(game, view == "pixels"), *STEPS[view], view=view, sticky=0.25)
    except (AssertionError, Fault, UnknownInstruction) as error:
        return {"equal": f"no: {type(error).__name__}: {error}"}
    return {"equal": "yes", "seconds": time.process_time() - begin}


def assemble(name: str, view: str, architectures: tuple[str, ...], ptxas: str) -> Found:
    """Assemble the kernels of a game. Returns "used", the largest `Usage` of KERNELS, or "refused", the first error."""
    ptx = compiler.ptx(envs_c.game(name), pixels=view == "pixels")
    try:
        found = [assembler.assembled(ptx, arch, ptxas) for arch in architectures]
        return {"used": assembler.most([used[kernel] for used in found for kernel in KERNELS if kernel in used])}
    except RuntimeError as error:
        return {"refused": str(error)}


def own_kernels(architectures: tuple[str, ...]) -> dict[str, assembler.Usage]:
    """The largest usage of the trainer's own kernels, and of the CartPole written by hand, by name."""
    used: dict[str, list[assembler.Usage]] = {}
    for arch in architectures:
        for module in (*sources.modules(bf16=int(arch) >= BF16), cartpole.MODULE):
            for name, one in assembler.compiled(module, arch).items():
                used.setdefault(name, []).append(one)
    return {name: assembler.most(ones) for name, ones in sorted(used.items())}
