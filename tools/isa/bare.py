"""Compiles the games without Python (envs_c/bare) for any processor, plays with them, and compares the outputs.

The play is that of the golden checksums: the same environments, seeds and actions, so the checksums must be equal. The coloured
pictures at its end are compared with those of this Python's games.
"""

import hashlib
import subprocess
from pathlib import Path

import envs_c
from envs_c import flags
from envs_c.bare import emit
from envs_c.testing.play import actions_of, bind, buffers
from tools.isa.debian import ROOT
from tools.isa.golden import golden

FOLDER = ROOT / "build" / "bare"
MAIN = '#include "{}.h"\n#include "bare.h"\n#include "play.h"\n'


def compiled(name: str, row: str, compiler: list[str]) -> Path:
    """The program of a game; it is compiled for a row of __main__.py by the command `compiler`."""
    folder = FOLDER / name
    if not emit.is_current(folder / f"{name}.h"):
        emit.emit(name, folder)
    (folder / "main.c").write_text(MAIN.format(name), encoding="utf-8")
    program = folder / row
    size = golden(ROOT / "tests")["GOLDEN_SIZE"]["num_envs"]
    subprocess.run([*compiler, *flags.GAME_FLAGS, "-w", f"-DBARE_COUNT={size}", "-I", str(folder / "include"),
                    "-I", "envs_c/bare", "-I", "tools/isa", str(folder / "main.c"), "-o", str(program), "-lm"],
                   cwd=ROOT, check=True)
    return program


def faults(name: str, program: list[str]) -> list[str]:
    """What differs from the golden checksums and from this Python's pictures, a line each."""
    facts = golden(ROOT / "tests")
    size, found = facts["GOLDEN_SIZE"], []
    game = envs_c.game(name)
    actions = actions_of(game, size["steps"], size["num_envs"]).copy()
    for view in ("features", "pixels"):
        arguments = [str(size["seed"]), str(int(view == "pixels")), str(size["steps"])]
        output = subprocess.run([*program, *arguments], input=actions.tobytes(), capture_output=True, check=True).stdout
        pictures = pictures_after(game, actions, size)
        outputs, drawn = output[:-len(pictures)], output[-len(pictures):]
        checksum = hashlib.blake2b(outputs, digest_size=8).hexdigest()
        if checksum != facts["GOLDEN"][name, view]:
            found.append(f"{name} {view}: {checksum} is not {facts['GOLDEN'][name, view]}")
        if drawn != pictures:
            found.append(f"{name} {view}: other pictures")
    return found


def pictures_after(game, actions, size: dict) -> bytes:
    """The coloured pictures of all environments after these actions, as this Python's games draw them."""
    core = envs_c.VecEnv(game, size["num_envs"], seed=size["seed"])
    arrays = buffers(core)
    batch = bind(core, arrays, 0, size["num_envs"])
    batch.reset()
    for row in actions:
        arrays["actions"][:] = row
        batch.step()
    return b"".join(core.render(i).tobytes() for i in range(size["num_envs"]))
