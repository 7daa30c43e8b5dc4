"""Writes the machine code of a game's step loop with its C source: `python tools/asm.py breakout`.

The C source quotes the .pyx line above each statement, so build/asm/GAME.s shows the rules and their instructions.
"""

import re
import subprocess
import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
GAMES = ROOT / "envs_c" / "games"


def main(game: str) -> int:
    """Disassemble the functions of `game` that loop over environments; print the path of the listing."""
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    modules = {file.name.removesuffix(suffix): file for file in GAMES.rglob(f"*{suffix}")}
    if game not in modules:
        sys.exit(f"insertcoin: GAME must be one of {', '.join(sorted(modules))}, not {game!r}")
    module = modules[game]
    try:
        symbols = _run("nm", module).split("\n")
        names = [line.split()[-1] for line in symbols if "chunk" in line and line.split()[-2] in "tT"]
        listing = [_run("objdump", "-d", "-S", "-M", "intel", "--no-show-raw-insn", f"--disassemble={name}", module)
                   for name in names]
    except FileNotFoundError as error:
        sys.exit(f"insertcoin: {error.filename} is missing: install binutils")
    target = ROOT / "build" / "asm" / f"{game}.s"
    target.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(listing)
    target.write_text(text, encoding="utf-8")
    instructions = len(re.findall(r"^ +[0-9a-f]+:\t", text, re.MULTILINE))
    print(f"{target.relative_to(ROOT)}: {len(names)} function(s), {instructions} instructions")
    return 0


def _run(*command: str | Path) -> str:
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python tools/asm.py GAME")
    sys.exit(main(sys.argv[1]))
