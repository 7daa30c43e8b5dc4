"""Games from outside: `load` compiles a .pyx that keeps the contract in game.pxd, once for each content."""

import contextlib
import hashlib
import importlib.util
import io
import os
import re
import sys
import sysconfig
import tempfile
from pathlib import Path

from envs_c.errors import CompileFailed, ContractError, InvalidArgument
from envs_c.game import Game

PACKAGE = Path(__file__).parent
FLAGS = ["-O3", "-fno-math-errno", "-ffp-contract=off", "-w"]
DIRECTIVES = {"language_level": 3, "boundscheck": False, "wraparound": False, "cdivision": True, "initializedcheck": False,
              "nonecheck": False}


def load(path) -> Game:
    """Compile the game at `path`, a .pyx; returns its `Game`. `envs_c.load` registers it, too.

    The module is kept in a cache folder (ENVS_C_CACHE, or envs_c under XDG_CACHE_HOME or ~/.cache) under a hash of the
    source, of the .pxd and .pxi files beside it, of the engine's .pxd files and of the build's flags, so that a second call
    compiles nothing. DEBUG=1 in the
    environment compiles with bounds checks, MARCH chooses the CPU to compile for.

    Raises InvalidArgument where the file is not there or not a .pyx, CompileFailed with Cython's or the compiler's words,
    and ContractError where the module defines no `GAME`.
    """
    source = Path(path).expanduser().resolve()
    if source.suffix != ".pyx" or not source.stem.isidentifier():
        raise InvalidArgument(f"game file {str(path)!r}: its name must be an identifier and end in .pyx, as in my_game.pyx")
    if not source.is_file():
        raise InvalidArgument(f"game file {str(path)!r} is not there")
    module = built(source)
    name = f"envs_c_outside_{source.stem}_{module.parent.name}"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(source.stem, module)
        loaded = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(loaded)
        sys.modules[name] = loaded
    game = getattr(sys.modules[name], "GAME", None)
    if not isinstance(game, Game):
        raise ContractError(f"{source} defines no GAME; end it with GAME = Game(...).bind(...), "
                            "as envs_c/games/cartpole.pyx does")
    return game


def cache_folder() -> Path:
    """Where compiled games from outside are kept."""
    if "ENVS_C_CACHE" in os.environ:
        return Path(os.environ["ENVS_C_CACHE"])
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "envs_c"


def build_choices() -> tuple[list[str], dict]:
    """The compiler's flags and Cython's directives, as DEBUG and MARCH in the environment choose them."""
    debug = os.environ.get("DEBUG", "") == "1"
    march = os.environ.get("MARCH", "native")
    cpu_flag = "-mcpu" if sys.platform == "darwin" else "-march"
    flags = [*FLAGS, *([f"{cpu_flag}={march}"] if march else []), *(["-O1", "-g"] if debug else [])]
    return flags, DIRECTIVES | ({"boundscheck": True, "initializedcheck": True, "nonecheck": True} if debug else {})


def extension_modules(*sources: str) -> list:
    """`ext_modules` for the setup.py of a package that brings games: each .pyx a module of its own name."""
    from Cython.Build import cythonize
    from setuptools import Extension
    flags, directives = build_choices()
    return cythonize([Extension(Path(source).stem, [source], extra_compile_args=flags) for source in sources],
                     include_path=[str(PACKAGE.parent)], build_dir="build", compiler_directives=directives)


def built(source: Path) -> Path:
    """The compiled module of `source`, from the cache or made now."""
    flags, directives = build_choices()
    facts = [source.read_bytes(), sys.version, flags, directives, cpu()]
    facts += [contract.read_bytes() for contract in sorted(PACKAGE.glob("*.pxd"))]
    facts += [(part.name, part.read_bytes()) for part in sorted(source.parent.glob("*.px[di]"))]
    folder = cache_folder() / hashlib.sha256(repr(facts).encode()).hexdigest()[:20]
    module = folder / f"{source.stem}{sysconfig.get_config_var('EXT_SUFFIX')}"
    if not module.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix="build-") as scratch:
            made = compile_module(source, Path(scratch), flags, directives)
            folder.mkdir(exist_ok=True)
            os.replace(made, module)  # whole or not at all, also where two processes build at once
    return module


def cpu() -> str:
    """What `-march=native` depends on, so that a home folder on several machines works."""
    with contextlib.suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        return "".join(sorted({line for line in lines if line.startswith(("model name", "flags"))}))
    return ""


def compile_module(source: Path, scratch: Path, flags: list[str], directives: dict) -> Path:
    """Translate and compile `source` in a scratch folder; returns the module's path there."""
    try:
        from Cython.Build import cythonize
        from Cython.Compiler.Errors import CompileError
        from setuptools import Distribution, Extension
        from setuptools.errors import CompileError as CompilerError
    except ImportError as error:
        raise CompileFailed(f"to compile {source} needs {error.name}: pip install cython setuptools") from None
    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            modules = cythonize([Extension(source.stem, [str(source)], extra_compile_args=flags)], quiet=True,
                                include_path=[str(PACKAGE.parent)], build_dir=str(scratch), compiler_directives=directives)
            command = Distribution({"name": source.stem, "ext_modules": modules}).get_command_obj("build_ext")
            command.build_lib = command.build_temp = str(scratch)
            command.ensure_finalized()
            command.run()
    except CompileError:
        raise CompileFailed(f"Cython does not compile {source}:\n{tidy(said.getvalue())}") from None
    except CompilerError as error:
        raise CompileFailed(f"the C compiler does not compile {source}: {error}\n{said.getvalue()}") from None
    return Path(command.get_ext_fullpath(source.stem))


def tidy(text: str) -> str:
    """Cython's report without its rulers and heading."""
    lines = [line for line in text.splitlines() if line.strip("-") and line != "Error compiling Cython file:"]
    return re.sub(r"\n{2,}", "\n", "\n".join(lines)).strip()
