"""Writes a game as C that needs no Python to run: `python -m envs_c.bare.emit GAME FOLDER`; see README.md beside this file.

FOLDER then holds NAME.c, as Cython emits it, NAME.h, which maps its names to those of bare.h, and include/, Python's headers
with the sizes of the processor that the compiler is for.
"""

import math
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import envs_c
from envs_c import flags, outside
from envs_c.errors import CompileFailed, ContractError, EnvsError, InvalidArgument

PACKAGE = outside.PACKAGE
ROOT = PACKAGE.parent
FUNCTION, TYPE = r"(__pyx_f_\w+)", r"(__pyx_t_\w+)"
RUN_CHUNK = re.compile(rf"^ +__pyx_f_\w+_run_chunk\({FUNCTION}, {FUNCTION}, {FUNCTION}, {FUNCTION}, (NULL|__pyx_f_\w+), "
                       rf"\(sizeof\((?:struct )?{TYPE}\)\), ", re.MULTILINE)
BIND = re.compile(rf"->bind\(.*, {FUNCTION}, {FUNCTION}, {FUNCTION}, \(sizeof\([^)]*\)\), (?:NULL|&(__pyx_t_\w+))\)")
TYPES = ("Io", "Head", "Screen", "Canvas", "Rng")
SIZES = ("INT", "LONG", "LONG_LONG", "SHORT", "VOID_P", "SIZE_T", "WCHAR_T", "FLOAT", "DOUBLE", "LONG_DOUBLE")
MOST_VALUES = 64  # of an option that changes actions or features; larger ranges are not looked at

NOT_ON_WINDOWS = "#ifdef _WIN32\n#undef HAVE_SYS_SELECT_H\n#endif\n"  # Linux has it

# The module's own functions are then unused, and compilers leave them out, so nothing of Python is linked.
WITHOUT_PYTHON = """\
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030b0000
#include <Python.h>
#undef PyMODINIT_FUNC
#define PyMODINIT_FUNC __attribute__((unused)) static PyObject *
__attribute__((unused)) static int __Pyx_ApplySequenceOrMappingFlag(PyTypeObject *, int); /* Cython forgets its `static` */
"""


def source_of(name: str) -> Path:
    """The .pyx of a built-in game, relative to the repository."""
    (source,) = (PACKAGE / "games").rglob(f"{name}.pyx")
    return source.relative_to(ROOT)


def path_of(game) -> Path:
    """The .pyx of a game. Raises InvalidArgument for a cartridge, which has none, and for a game of another package, whose
    source is unknown."""
    if game.name in built_in():
        return ROOT / source_of(game.name)
    if game.has_ram:
        raise InvalidArgument(f"game {game.name!r} is a cartridge, which has no .pyx: leave it out")
    if game not in outside.SOURCES:
        raise InvalidArgument(f"game {game.name!r} must be named by the path of its .pyx here, not by its name")
    return outside.SOURCES[game][0]


def has_source(game) -> bool:
    """True if the .pyx of a game is known: it is built in, or was loaded by its path."""
    return game.name in built_in() or game in outside.SOURCES


def built_in() -> tuple[str, ...]:
    """The names of the built-in games."""
    return envs_c.catalog.built_in()


def is_current(made: Path) -> bool:
    """True if this file exists and no source of the package is newer."""
    sources = (path for kind in ("*.pyx", "*.pxd") for path in PACKAGE.rglob(kind))
    return made.exists() and made.stat().st_mtime >= max(path.stat().st_mtime for path in sources)


def run_cython(source: Path, target: Path) -> None:
    """Emit the C of a .pyx, a path or relative to the repository, with the directives of all builds. Raises CompileFailed."""
    directives = ",".join(f"{key}={value}" for key, value in flags.directives().items() if key != "language_level")
    done = subprocess.run([sys.executable, "-m", "cython", "-3", "-X", directives, "-I", ".", str(source), "-o",
                           str(target.resolve())], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise CompileFailed(f"Cython cannot compile {source}:\n{done.stderr.strip()}")


def emit(game, folder: Path) -> None:
    """Write NAME.c, NAME.h, include/ and the headers beside the .pyx to `folder`. game: a `Game`, or a built-in one's name.

    Raises CompileFailed, and ContractError if the game fills its tables outside `prepare`.
    """
    game = envs_c.game(game) if isinstance(game, str) else game
    emit_source(path_of(game), game, folder, names)
    for name, text in outside.texts_of(path_of(game)).items():
        if name.endswith(".h"):
            if name == f"{game.name}.h":
                raise ContractError(f"the header {name} beside game {game.name!r} must have another name than the game: here "
                                    "the game's own C has this one")
            (folder / name).write_bytes(text)


def emit_source(source: Path, game, folder: Path, names_in: Callable[[str, str], str]) -> None:
    """Write the three for the .pyx of a game. names_in: the macros of names, from the emitted C and the game's name."""
    folder.mkdir(parents=True, exist_ok=True)
    emitted = folder / f"{game.name}.c"
    run_cython(source, emitted)
    text = emitted.read_text(encoding="utf-8")
    header = f'{WITHOUT_PYTHON}#include "{game.name}.c"\n{names_in(text, game.name)}{facts(game)}'
    (folder / f"{game.name}.h").write_text(header, encoding="utf-8")
    copy_headers(folder / "include")


def names(text: str, game: str) -> str:
    """The game's functions, its struct and the engine's types, as macros.

    text: the emitted C.
    """
    execution = text[text.index("/*--- Execution code ---*/"):]
    if calls := re.findall(rf"(?<!>){FUNCTION}\(", execution):
        shown = ", ".join(f"{plain(call)}()" for call in calls)
        raise ContractError(f"game {game!r} must fill its tables in prepare(), which bind takes, not when its file is "
                            f"imported, by {shown}: see envs_c/game.pxd")
    call = RUN_CHUNK.search(text)
    if call is None:
        raise ContractError(f"game {game!r} must call run_chunk in its chunk with the names of its functions and "
                            "sizeof(STRUCT): see envs_c/game.pxd")
    functions = call.groups()
    if found := set_at_import(text[:-len(execution)], execution, functions[0]):
        raise ContractError(f"game {game!r} must set {', '.join(found)} in prepare(), which bind takes, not when its file is "
                            "imported: a browser and a GPU run no code at the top of the file; a number that never changes can "
                            "be a name of `cdef enum`")
    rows = dict(zip(("reset", "step", "observe", "draw", "mask", "state"), functions, strict=True))
    bind = BIND.search(execution)
    rows["chunk"], rows["backdrop"], _, optional = bind.groups()
    for kind in ("valid", "lives", "prepare") if optional else ():
        given = re.findall(rf"^  {optional}\.{kind} = {FUNCTION};", execution[:bind.start()], re.MULTILINE)
        rows |= {kind: given[-1]} if given else {}
    return macros(rows | engine_functions(text) | types(text, TYPES))


def set_at_import(functions: str, execution: str, reset: str) -> list[str]:
    """The C variables of a game's file that its code at the top sets and its functions read.

    functions, execution: the parts of the emitted C.
    reset: the emitted name of a function in the same file.
    """
    prefix = reset.replace("__pyx_f_", "__pyx_v_", 1).removesuffix(plain(reset))
    used = re.sub(r"^static [^=(\n]*;$", "", functions, flags=re.MULTILINE)  # without the declarations
    names = set(re.findall(rf"\b{prefix}(\w+)", execution))
    return sorted(name for name in names if re.search(rf"\b{prefix}{name}\b", used))


def engine_functions(text: str) -> dict[str, str]:
    """The names of the engine's functions that kernels call, in the emitted C."""
    return {kind: re.search(rf"^static CYTHON_INLINE void (__pyx_f_\w+_{name})\(", text, re.MULTILINE)[1]
            for kind, name in (("rows", "run_rows"), ("write_lives", "write_lives"))}


def types(text: str, kinds: Sequence[str]) -> dict[str, str]:
    """The names of these types, and of the engine's values, in the emitted C."""
    rows = {kind: re.search(rf"^struct (__pyx_t_\w+_{kind});", text, re.MULTILINE)[1] for kind in kinds}
    for value in ("STEP", "RESET", "OBSERVE", "NEXT_STEP"):
        rows[value] = rows["Io"].replace("__pyx_t_", "__pyx_e_").removesuffix("Io") + value
    return rows


def macros(rows: Mapping[str, object]) -> str:
    """A macro for each name."""
    return "".join(f"#define BARE_{name} {value}\n" for name, value in rows.items())


def plain(name: str) -> str:
    """The name of a function in its source: make_stamps for __pyx_f_7my_game_make_stamps."""
    rest = name.removeprefix("__pyx_f_")
    while digits := re.match(r"\d+", rest):
        rest = rest[digits.end() + int(digits[0]) + 1:]
    return rest


def facts(game) -> str:
    """The numbers of a game's description, as macros."""
    options = ", ".join(repr(float(option.default)) for option in game.options.values())
    described = [game.describe(game.check_options(given)) for given in extremes(game)]
    rows = {"WIDTH": game.screen[0], "HEIGHT": game.screen[1], "ACTIONS": len(game.actions), "FRAME_SKIP": game.frame_skip,
            "TIME_LIMIT": game.time_limit or 0, "OPTIONS": f"{{{options or '0.0'}}}",
            "FEATURES": math.prod(game.feature_shape), "FEATURE_BYTES": game.feature_dtype.itemsize, "FPS": game.fps,
            "MOST_ACTIONS": max(len(actions) for actions, *_ in described),
            "MOST_FEATURES": max(math.prod(shape) for _, shape, *_ in described)}
    return macros(rows)


def extremes(game) -> list[dict[str, float]]:
    """The default options, all at their lower ends, all at their upper ends, and each value of a single one."""
    ends = [{name: getattr(option, end) for name, option in game.options.items()} for end in ("low", "high")]
    return [{}, *ends, *({name: value} for name, option in game.options.items() for value in values_of(option))]


def values_of(option) -> range:
    """The values of an option that may change actions and features; none for fractions and for large ranges."""
    few = option.integer and option.high - option.low < MOST_VALUES
    return range(int(option.low), int(option.high) + 1) if few else range(0)


def copy_headers(folder: Path) -> None:
    """Copy Python's headers; the sizes of C's types in them become those of the compiler's target.

    Raises InvalidArgument, and changes nothing, if `folder` holds other files.
    """
    if folder.exists() and not (folder / "Python.h").is_file():
        raise InvalidArgument(f"{folder} must be new, or hold Python's headers of an earlier call: its files would be removed")
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(sysconfig.get_paths()["include"], folder)
    text = Path(sysconfig.get_config_h_filename()).read_text(encoding="utf-8")
    sizes = "".join(f"#undef SIZEOF_{name}\n#define SIZEOF_{name} __SIZEOF_{name.replace('VOID_P', 'POINTER')}__\n"
                    for name in SIZES)
    (folder / "pyconfig.h").write_text(f"{text}\n{sizes}{NOT_ON_WINDOWS}", encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in built_in():
        sys.exit(f"usage: python -m envs_c.bare.emit GAME FOLDER; GAME is one of {', '.join(built_in())}")
    try:
        emit(sys.argv[1], Path(sys.argv[2]))
    except EnvsError as error:
        sys.exit(str(error))
