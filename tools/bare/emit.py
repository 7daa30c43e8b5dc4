"""Writes a game as C that needs no Python to run: `python -m tools.bare.emit GAME FOLDER`; see README.md beside this file.

FOLDER then holds NAME.c, as Cython emits it, NAME.h, which maps its names to those of bare.h, and include/, Python's headers
with the sizes of the processor that the compiler is for.
"""

import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import envs_c
from envs_c import flags

ROOT = Path(__file__).resolve().parents[2]
FUNCTION, TYPE = r"(__pyx_f_\w+)", r"(__pyx_t_\w+)"
RUN_CHUNK = re.compile(rf"^ +__pyx_f_\w+_run_chunk\({FUNCTION}, {FUNCTION}, {FUNCTION}, {FUNCTION}, (NULL|__pyx_f_\w+), "
                       rf"\(sizeof\((?:struct )?{TYPE}\)\), ", re.MULTILINE)
TYPES = ("Io", "Head", "Screen", "Canvas", "Rng")
SIZES = ("INT", "LONG", "LONG_LONG", "SHORT", "VOID_P", "SIZE_T", "WCHAR_T", "FLOAT", "DOUBLE", "LONG_DOUBLE")

# The module's own functions are then unused, and compilers leave them out, so nothing of Python is linked.
WITHOUT_PYTHON = """\
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030b0000
#include <Python.h>
#undef PyMODINIT_FUNC
#define PyMODINIT_FUNC __attribute__((unused)) static PyObject *
"""


def source_of(name: str) -> Path:
    """The .pyx of a built-in game, relative to the repository."""
    (source,) = (ROOT / "envs_c" / "games").rglob(f"{name}.pyx")
    return source.relative_to(ROOT)


def built_in() -> tuple[str, ...]:
    """The names of the built-in games."""
    return envs_c.catalog.built_in()


def is_current(made: Path) -> bool:
    """True if this file exists and no source of the package is newer."""
    sources = (path for kind in ("*.pyx", "*.pxd") for path in (ROOT / "envs_c").rglob(kind))
    return made.exists() and made.stat().st_mtime >= max(path.stat().st_mtime for path in sources)


def run_cython(source: Path, target: Path) -> None:
    """Emit the C of a .pyx, named relative to the repository, with the directives of all builds."""
    directives = ",".join(f"{key}={value}" for key, value in flags.directives().items() if key != "language_level")
    subprocess.run([sys.executable, "-m", "cython", "-3", "-X", directives, "-I", ".", str(source), "-o",
                    str(target.resolve())], cwd=ROOT, check=True)


def emit(name: str, folder: Path) -> None:
    """Write NAME.c, NAME.h and include/ to `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    emitted = folder / f"{name}.c"
    run_cython(source_of(name), emitted)
    text = emitted.read_text(encoding="utf-8")
    header = f'{WITHOUT_PYTHON}#include "{name}.c"\n{names(text, name)}{facts(envs_c.game(name))}'
    (folder / f"{name}.h").write_text(header, encoding="utf-8")
    copy_headers(folder / "include")


def names(text: str, game: str) -> str:
    """The game's functions, its struct and the engine's types, as macros.

    text: the emitted C.
    """
    functions = RUN_CHUNK.search(text).groups()
    rows = dict(zip(("reset", "step", "observe", "draw", "mask", "state"), functions, strict=True))
    rows["backdrop"] = re.search(rf"^static void (__pyx_f_\w+{game}_backdrop)\(", text, re.MULTILINE)[1]
    rows["chunk"] = re.search(rf"^static void (__pyx_f_\w+{game}_chunk)\(", text, re.MULTILINE)[1]
    for kind in TYPES:
        rows[kind] = re.search(rf"^struct (__pyx_t_\w+_{kind});", text, re.MULTILINE)[1]
    for value in ("STEP", "RESET", "NEXT_STEP"):
        rows[value] = rows["Io"].replace("__pyx_t_", "__pyx_e_").removesuffix("Io") + value
    body = text[text.index("/*--- Execution code ---*/"):]
    tables = re.findall(r"^  (__pyx_f_\w+\([^;]*\));$", body, re.MULTILINE)  # the calls when the module is imported
    rows["TABLES()"] = f"do {{ {' '.join(f'{call};' for call in tables)} }} while (0)"
    return "".join(f"#define BARE_{name} {value}\n" for name, value in rows.items())


def facts(game) -> str:
    """The numbers of a game's description, as macros."""
    features = 1
    for length in game.feature_shape:
        features *= length
    options = ", ".join(repr(option.default) for option in game.options.values())
    rows = {"WIDTH": game.screen[0], "HEIGHT": game.screen[1], "ACTIONS": len(game.actions), "FRAME_SKIP": game.frame_skip,
            "TIME_LIMIT": game.time_limit or 0, "OPTIONS": f"{{{options or '0.0'}}}", "FEATURES": features,
            "FEATURE_BYTES": game.feature_dtype.itemsize, "FPS": game.fps}
    return "".join(f"#define BARE_{name} {value}\n" for name, value in rows.items())


def copy_headers(folder: Path) -> None:
    """Copy Python's headers; the sizes of C's types in them become those of the compiler's target."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(sysconfig.get_paths()["include"], folder)
    text = Path(sysconfig.get_config_h_filename()).read_text(encoding="utf-8")
    sizes = "".join(f"#undef SIZEOF_{name}\n#define SIZEOF_{name} __SIZEOF_{name.replace('VOID_P', 'POINTER')}__\n"
                    for name in SIZES)
    (folder / "pyconfig.h").write_text(f"{text}\n{sizes}", encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in built_in():
        sys.exit(f"usage: python -m tools.bare.emit GAME FOLDER; GAME is one of {', '.join(built_in())}")
    emit(sys.argv[1], Path(sys.argv[2]))
