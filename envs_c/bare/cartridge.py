"""The console as C that needs no Python to run: one program for all cartridges, without a cartridge in it.

Whoever runs it inserts a cartridge: the file's bytes and the game's Facts (envs_c/console/state.pxd).
"""

import functools
import re
from pathlib import Path

from envs_c.bare import emit
from envs_c.console import cartridges, console
from envs_c.console.description import Cartridge

SOURCE = emit.PACKAGE / "console" / "console.pyx"
NAME = "console"  # of the emitted C
TALLEST = 250     # rows of a PAL cartridge's screen; others have fewer
# of console.pyx
OWN = ("reset", "step", "observe", "draw", "draw_two", "lives", "valid", "prepare", "chunk", "backdrop", "load")
TABLES = ("cartridges", "loaded", "cartridge_count")  # its variables


def is_cartridge(game) -> bool:
    """True for the `Game` of a cartridge."""
    return isinstance(game, Cartridge)


def emit_console(folder: Path) -> None:
    """Write console.c, console.h and include/ to `folder`, as `emit.emit` does for a game. Raises CompileFailed."""
    emit.emit_source(SOURCE, without_cartridge(), folder, names)


@functools.cache
def without_cartridge():
    """The `Game` of an unknown cartridge with the tallest screen, which cannot be played: nothing is inserted."""
    facts = {**cartridges.facts_of(cartridges.UNKNOWN), "height": TALLEST}
    return console.game_of(NAME, "Console", 0, facts, cartridges.ACTIONS, cartridges.ACTIONS)


def names(text: str, game: str) -> str:
    """The console's functions, variables and types, and the engine's, as macros. text: the emitted C."""
    prefix = re.search(r"^static void (__pyx_f_\w+_)prepare\(", text, re.MULTILINE)[1]
    rows = {name: f"{prefix}{name}" for name in OWN}
    rows |= {name: f"{prefix.replace('__pyx_f_', '__pyx_v_')}{name}" for name in TABLES}
    found = emit.types(text, (*emit.TYPES, "Rom", "Play"))
    return emit.macros(rows | emit.engine_functions(text) | found | {"state": found["Play"], "mask": "NULL"})
