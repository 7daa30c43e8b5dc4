"""Games from other folders: `load` compiles a .pyx with the contract of game.pxd, once for each content.

The compiled modules lie in a folder of the cache.
"""

import contextlib
import hashlib
import importlib.util
import io
import os
import re
import stat
import sys
import sysconfig
import traceback
from pathlib import Path

from envs_c import compiler, flags, game_cache, machine
from envs_c.errors import CompileFailed, ContractError, EnvsError, InvalidArgument
from envs_c.files import naming, replace
from envs_c.game import Game
from envs_c.lock import Lock

PACKAGE = Path(__file__).parent
NO_WARNINGS = ["-w"]  # of the C compiler, about code written by Cython
SOURCES = {}  # Game -> (path, digest_of its files), of the games that were loaded
_loading = Lock()  # a compiled module is initialised once, by one thread
_one_at_a_time = Lock()  # while Cython translates, the output of the process goes elsewhere


def load(path, texts: dict[str, bytes] | None = None) -> Game:
    """Compile the game at `path`, a .pyx, and import it. `envs_c.load` also registers it.

    The module is kept in the cache under a hash of the source, of the .pxd and .pxi files beside it, of this package's .pxd
    files, of the compiler's flags and of the CPU: a second call compiles nothing.

    texts: the contents of the files, if they were read before by `texts_of`; the files are then not read again.

    Environment variables: DEBUG=1 compiles with bounds checks; MARCH is the CPU to compile for; ENVS_C_FLAGS adds flags for
    the C compiler (-O0 compiles fastest); ENVS_C_CACHE is the cache folder, which only its owner may write.

    Returns its `Game`. Raises InvalidArgument if the file does not exist or is not a .pyx, if the cache cannot be written to,
    or if others can write to it; CompileFailed with the output of Cython or of the C compiler; and ContractError if the module
    defines no `GAME`, or if importing it fails.
    """
    source = expanded(path).resolve()
    if source.suffix != ".pyx" or not source.stem.isidentifier():
        raise InvalidArgument(f"game file {str(path)!r} must have an identifier as its name and end in .pyx, as in my_game.pyx")
    if not source.is_file():
        raise InvalidArgument(f"game file {str(path)!r} does not exist")
    texts = texts_of(source) if texts is None else texts
    module = built(source, texts)
    name = f"envs_c_outside_{source.stem}_{module.parent.name}"
    with _loading.held():
        if name not in sys.modules:
            spec = importlib.util.spec_from_file_location(source.stem, module)
            try:
                loaded = importlib.util.module_from_spec(spec)
                spec.loader.exec_module(loaded)
            except EnvsError:
                raise
            except ImportError as error:
                _require_programs(module)
                raise _import_failed(source, error) from error
            except Exception as error:
                raise _import_failed(source, error) from error
            sys.modules[name] = loaded
    game = getattr(sys.modules[name], "GAME", None)
    if not isinstance(game, Game):
        raise ContractError(f"{source} defines no GAME; end it with GAME = Game(...).bind(...), "
                            "as envs_c/games/cartpole.pyx does")
    SOURCES[game] = source, digest_of(texts)
    return game


def _require_programs(module: Path) -> None:
    """Raise InvalidArgument if the disk of a compiled module cannot hold programs: it is mounted with noexec."""
    if hasattr(os, "ST_NOEXEC") and os.statvfs(module).f_flag & os.ST_NOEXEC:
        raise InvalidArgument(f"the cache of compiled games, {game_cache.folder()}, cannot hold programs, for its disk is "
                              f"mounted with noexec; {game_cache.ANOTHER}")


def _import_failed(source: Path, error: Exception) -> ContractError:
    """The error for a game that was compiled but cannot be imported."""
    return ContractError(f"{source}{_line_of(error, source)}: {type(error).__name__}: {error}")


def _line_of(error: Exception, source: Path) -> str:
    """", line N" of a game's file for an error while it was imported; empty if the error's traceback has no such line."""
    lines = [number for frame, number in traceback.walk_tb(error.__traceback__)
             if Path(frame.f_code.co_filename).name == source.name]
    return f", line {lines[-1]}" if lines else ""


def hint_of_path(name: str) -> str:
    """A hint for an unknown game: the game in the folder `name`, or that the path of a game ends in .pyx; else empty."""
    path = Path(name)
    inside = path / f"{path.name}.pyx"
    with contextlib.suppress(OSError, ValueError):  # the name is none that a file can have
        if inside.is_file():
            return f"did you mean {inside}?"
        if path.is_file():
            return "a game's path must end in .pyx."
    return ""


def expanded(path) -> Path:
    """The path with ~ replaced by a home folder. Raises InvalidArgument if there is no such user."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        raise InvalidArgument(f"path {str(path)!r} must not name the home of an unknown user: write ./~ for a name with ~"
                              ) from None


def build_choices() -> tuple[list[str], dict]:
    """The C compiler's flags and Cython's directives, as DEBUG, MARCH and ENVS_C_FLAGS in the environment select them."""
    more = os.environ.get("ENVS_C_FLAGS", "").split()
    return [*flags.GAME_FLAGS, *NO_WARNINGS, *flags.cpu_flags(), *flags.debug_flags(), *more], flags.directives()


def extension_modules(*sources: str) -> list:
    """`ext_modules` for the setup.py of a package with games: each .pyx becomes a module of its own name."""
    from Cython.Build import cythonize
    from setuptools import Extension
    compiler_flags, directives = build_choices()
    return cythonize([Extension(Path(source).stem, [source], extra_compile_args=compiler_flags) for source in sources],
                     include_path=[str(PACKAGE.parent)], build_dir="build", compiler_directives=directives)


def texts_of(source: Path) -> dict[str, bytes]:
    """The contents of `source` and of the .pxd, .pxi and .h files beside it, by name."""
    parts = (part for ending in ("px[di]", "h") for part in sorted(source.parent.glob(f"*.{ending}")) if part.is_file())
    return {part.name: part.read_bytes() for part in (source, *parts)}


def digest_of(texts: dict[str, bytes]) -> str:
    """A hash of the files that `texts_of` returns."""
    return hashlib.sha256(repr(sorted(texts.items())).encode()).hexdigest()


def built(source: Path, texts: dict[str, bytes] | None = None, more: tuple[str, ...] = ()) -> Path:
    """The compiled module of `source`; compiles it if the cache does not hold it.

    texts: as in `load`.
    more: flags for the C compiler that find mistakes; their messages then name lines of the .pyx.
    """
    compiler_flags, directives = build_choices()
    compiler_flags += more
    texts = texts_of(source) if texts is None else texts
    facts = [source.name, texts, sys.version, compiler_flags, directives, machine.cpu_facts()]
    facts += [part.read_bytes() for part in sorted(PACKAGE.rglob("*.pxd"))]  # a game may cimport those of another one, too
    kept = game_cache.folder()
    folder = kept / hashlib.sha256(repr(facts).encode()).hexdigest()[:game_cache.HASH]
    module = folder / f"{source.stem}{sysconfig.get_config_var('EXT_SUFFIX')}"
    game_cache.make_private(kept)
    if not os.path.lexists(module):
        with game_cache.scratch_in(kept) as scratch:
            made = compile_module(source, texts, scratch, compiler_flags, directives, more)
            made.chmod(0o700)
            game_cache.make_private(folder)
            replace(made, module)  # two processes may compile the same game at once
    game_cache.check_private(folder, stat.S_ISDIR)
    game_cache.check_private(module, stat.S_ISREG)
    return module


def compile_module(source: Path, texts: dict[str, bytes], scratch: Path, compiler_flags: list[str], directives: dict,
                   more: tuple[str, ...] = ()) -> Path:
    """Translate and compile `source` in the folder `scratch`; returns the module's path there. Raises CompileFailed.

    texts: the contents of `source` and of the .pxd, .pxi and .h files beside it, by name. The files may have changed since they
        were read, so copies are compiled.
    more: those of `compiler_flags` that the linker needs too; messages then name lines of the .pyx, not of the C file.
    """
    try:
        from Cython.Build import cythonize
        from Cython.Compiler.Errors import CompileError
        from setuptools import Extension
        from setuptools.errors import CompileError as CompilerError
        from setuptools.errors import LinkError
    except ImportError as error:
        raise CompileFailed(f"{source} cannot be compiled without {error.name}: pip install cython setuptools") from None
    output = io.StringIO()
    for name, text in texts.items():
        with naming(scratch / name):
            (scratch / name).write_bytes(text)
    extension = Extension(source.stem, [str(scratch / source.name)], extra_compile_args=compiler_flags,
                          include_dirs=[str(scratch)], extra_link_args=list(more))

    def library(named: bool) -> Path:
        """named: True if messages of the C compiler are to name lines of the .pyx."""
        with _one_at_a_time.held(), contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            modules = cythonize([extension], quiet=True, force=True, include_path=[str(PACKAGE.parent), str(scratch)],
                                build_dir=str(scratch), compiler_directives=directives, emit_linenums=named)
        return compiler.linked(modules, scratch)
    try:
        try:
            return library(named=bool(more))
        except CompilerError:
            (scratch / compiler.PRINTED).unlink(missing_ok=True)
            return library(named=True)
    except CompileError:
        raise CompileFailed(f"Cython cannot compile {source}:\n{tidy(output.getvalue(), scratch, source)}") from None
    except (CompilerError, LinkError) as error:
        here = "|".join(re.escape(str(folder)) for folder in names_of(scratch))  # a folder's name may have spaces
        text = re.sub(rf"(?:(?:{here}).*?|\S*)\b{source.stem}\.c:[\d:]+", lambda _: f"{source}:",
                      compiler.printed(scratch) or str(error))
        raise CompileFailed(f"the C compiler cannot compile {source}:\n{tidy(text, scratch, source)}") from None


def tidy(text: str, scratch: Path, source: Path) -> str:
    """The first of Cython's errors, for others often follow from it, and how many there are more.

    Ruler lines and headings are left out; the copies in `scratch` are named as the files of the user.
    """
    for folder in names_of(scratch):
        text = text.replace(f"{folder}{os.sep}", f"{source.parent}{os.sep}")
    before, *errors = text.split("Error compiling Cython file:\n")
    lines = [line for line in (errors[0] if errors else before).splitlines() if line.strip("-")]
    more = f"\n(and {len(errors) - 1} more, which may follow from this one)" if len(errors) > 1 else ""
    return re.sub(r"\n{2,}", "\n", "\n".join(lines)).strip() + more


def names_of(folder: Path) -> list[str]:
    """The paths by which compilers name a folder: whole, as it was given, and from the working folder, as Cython does.

    On another drive of Windows there is none from the working folder.
    """
    names = [os.path.normpath(folder.absolute()), str(folder)]
    with contextlib.suppress(ValueError):
        names.append(os.path.relpath(folder))
    return names
