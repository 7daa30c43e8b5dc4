"""The C compiler, called through setuptools: what it prints is kept for the errors, and nothing is printed."""

import os
import shutil
import sys
from pathlib import Path

from envs_c.errors import CompileFailed

PRINTED = "compiler.txt"  # in the folder of a compilation: what the compiler and the linker printed
LINES = 20                # of it, in an error
# Runs a command with its output in a file. The method of setuptools that starts commands differs between its versions, and so
# do its errors; each of them starts this one.
_TO_FILE = """
import subprocess, sys
with open(sys.argv[1], "ab") as file:
    try:
        sys.exit(subprocess.run(sys.argv[2:], stdout=file, stderr=file).returncode)
    except OSError as error:
        file.write(f"{sys.argv[2]}: {error.strerror}; install gcc, or let CC name a C compiler\\n".encode())
        sys.exit(1)
"""


def linked(modules: list, scratch: Path) -> Path:
    """Compile and link one Extension in the folder `scratch`; returns the library's path there.

    Raises CompileError or LinkError of setuptools; `printed` then has the compiler's text.
    """
    from setuptools import Distribution
    from setuptools.command.build_ext import build_ext

    class Build(build_ext):
        def build_extensions(self):
            for name in ("spawn", "call"):  # in older and in newer versions of setuptools
                if method := getattr(self.compiler, name, None):
                    setattr(self.compiler, name, into(scratch / PRINTED, method))
            _take_one_that_is_there(self.compiler)
            super().build_extensions()
    command = Distribution({"name": modules[0].name, "ext_modules": modules, "cmdclass": {"build_ext": Build}}
                           ).get_command_obj("build_ext")
    command.build_lib = command.build_temp = str(scratch)
    command.ensure_finalized()
    command.run()
    return Path(command.get_ext_fullpath(modules[0].name))


def _take_one_that_is_there(compiler) -> None:
    """Put gcc, cc or clang for the compiler that Python was built with, if that is not on PATH and CC names none."""
    instead = next(filter(shutil.which, ("gcc", "cc", "clang")), None)
    for name in ("compiler", "compiler_so", "linker_so"):
        command = getattr(compiler, name, None)
        if command and instead and "CC" not in os.environ and not shutil.which(command[0]):
            setattr(compiler, name, [instead, *command[1:]])


def into(file: Path, method):
    """A method that starts commands, with their output in a file."""
    return lambda command, **options: method([sys.executable, "-I", "-S", "-c", _TO_FILE, str(file), *command], **options)


def printed(scratch: Path) -> str:
    """What the compiler printed in the folder `scratch`: the first lines."""
    file = scratch / PRINTED
    lines = file.read_text(encoding="utf-8", errors="replace").splitlines() if file.exists() else []
    return "\n".join([*lines[:LINES], *([f"(and {len(lines) - LINES} lines more)"] if len(lines) > LINES else [])])


def compile_c(source: Path, compiler_flags: list[str]) -> Path:
    """Compile a C file that this package wrote; returns the library's path beside it. Raises CompileFailed."""
    try:
        from setuptools import Extension
        from setuptools.errors import CompileError, LinkError
    except ImportError as error:
        raise CompileFailed(f"{source.name} cannot be compiled without {error.name}: pip install setuptools") from None
    try:
        return linked([Extension(source.stem, [str(source)], extra_compile_args=compiler_flags)], source.parent)
    except (CompileError, LinkError) as error:
        raise CompileFailed(f"the C compiler cannot compile {source.name}:\n{printed(source.parent) or error}") from None
