"""The console for browsers: one WebAssembly file that plays any cartridge, and a table of ALE's games, without a cartridge.

A person picks a file of their own in the page. page/console.js knows its game by the digest, and inserts it.
"""

import base64
import json
import re
import tempfile
from pathlib import Path

from envs_c.arcade import build
from envs_c.bare import cartridge
from envs_c.bare.cartridge import NAME, SOURCE, emit_console, without_cartridge
from envs_c.console import cartridges, console
from envs_c.files import write_atomically
from envs_c.views import RAM, VIEWS

WASM, TABLE = "console.wasm", "cartridges.json"
PARTS = re.compile(rb"[^\0](?:.{0,7}[^\0])*", re.DOTALL)
MAIN = ('#define ARCADE_OPTIONS (bare_options + 1) /* without the cartridge\'s key */\n' + build.MAIN
        + '#include "cartridge.h"\n')


def build_console(folder: Path, agents: list[str], *, simd: bool = True) -> Path:
    """Compile the console unless it is up to date, and write its table.

    agents: names of the games that have an agent on the page.
    simd: as for `build.build`.

    Returns the path of console.wasm. Raises CompileFailed.
    """
    wasm, table = folder / WASM, folder / TABLE
    current = build.digest([SOURCE.read_bytes(), *(path.read_bytes() for path in sorted(SOURCE.parent.rglob("*.pxd"))),
                            Path(__file__).read_bytes(), Path(cartridge.__file__).read_bytes()], simd)
    if not wasm.exists() or build.recorded_digest(table) != current:
        with tempfile.TemporaryDirectory() as scratch:
            compile_console(Path(scratch), simd)
            folder.mkdir(parents=True, exist_ok=True)
            table.unlink(missing_ok=True)  # the pair is complete only with the table
            write_atomically(wasm, [Path(scratch, "game.wasm").read_bytes()])
    write_atomically(table, [json.dumps({**described(), "agents": agents, "digest": current}).encode()])
    return wasm


def compile_console(scratch: Path, simd: bool) -> None:
    """Write game.wasm to the folder `scratch`. Raises CompileFailed."""
    emit_console(scratch)
    build.compile_c(MAIN.format(build.CAPACITY, NAME), NAME, scratch, simd)


def described() -> dict:
    """The table, ready for JSON: `Table` in page/console.js."""
    about = build.describe(without_cartridge())
    about["views"] |= {view.name: {"picture": False} for view in VIEWS.values() if view.parts == (RAM,)}
    del about["options"]["cartridge"]
    return {"about": about, "kinds": cartridges.KINDS, "unknown": row_of(None, cartridges.UNKNOWN),
            "games": {row["md5"]: row_of(name, row) for name, row in cartridges.table().items()}}


def row_of(name: str | None, row: dict) -> dict:
    """One game of the table: `Row` in page/console.js. name: None for files that are not in the table."""
    facts = cartridges.facts_of(row)
    return {"name": name, "title": name and build.spaced(cartridges.title_of(name)), "kind": row["kind"],
            "actions": row["actions"], "modes": sorted({mode for mode, *_ in facts["modes"]}),
            "difficulties": sorted({0, *row["difficulties"]}), "height": row["height"], "lives": bool(row["lives"]),
            "facts": parts_of(console.bytes_of(facts))}


def parts_of(data: bytes) -> list[tuple[int, str]]:
    """The place and the base64 of each part of the bytes that is not zeros; fewer than 8 zeros are in a part."""
    return [(found.start(), base64.b64encode(found[0]).decode()) for found in PARTS.finditer(data)]
