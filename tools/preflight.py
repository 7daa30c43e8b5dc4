"""Names, in one line each, what this machine lacks to build insertcoin, and what to do about it.

`python tools/preflight.py` runs all checks, `python tools/preflight.py python` only the named ones; it is silent where
all is well, else prints one line and ends with status 1. The set-up (tools/prepare.py) and setup.py make the same
checks, so that every way in gives the same answer. Standard library only, and no syntax that Python 2.7 could not read:
an unsuitable Python must live long enough to be told so.
"""

import os
import platform
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile

OLDEST_PYTHON = (3, 11)
# What changes the compiled extensions, besides their sources.
BUILD_VARIABLES = ("DEBUG", "MARCH", "SANITIZE", "CC", "CFLAGS", "CPPFLAGS", "LDFLAGS", "LIBOMP_PREFIX")
LIBOMP_PREFIXES = ("/opt/homebrew/opt/libomp", "/usr/local/opt/libomp")  # where Homebrew keeps it, on ARM and on Intel

PLAIN_PROGRAM = "int main(void) { return 0; }\n"
OPENMP_PROGRAM = "#include <omp.h>\nint main(void) { return omp_get_max_threads() < 1; }\n"


class Missing(Exception):
    """What the set-up needs and this machine lacks; the message is the one line to show."""


def check_python(version=None, system=None):
    """Raise Missing on a Python older than 3.11, or on an operating system that the build does not know."""
    version = tuple(sys.version_info if version is None else version)[:3]
    system = sys.platform if system is None else system
    if version < OLDEST_PYTHON:
        raise Missing(
            "Python %s is too old, 3.11 or newer is needed: install one and name it, as in "
            "`PYTHON=python3.12 make setup`" % ".".join(str(part) for part in version)
        )
    if not system.startswith(("linux", "darwin")):
        raise Missing("%s is not supported, Linux and macOS are: on Windows use WSL" % system)


def check_venv():
    """Raise Missing where Python came without the modules that make virtual environments."""
    for module in ("venv", "ensurepip"):
        try:
            __import__(module)
        except ImportError:
            raise Missing(
                "this Python (%s) has no module %s to make .venv with: install it (Debian, Ubuntu: "
                "apt-get install python3-venv) or name another Python in PYTHON" % (sys.executable, module)
            )


def check_compiler():
    """Raise Missing where no C compiler makes a program."""
    if not _compiles(PLAIN_PROGRAM, []):
        raise Missing(
            "the C compiler `%s` cannot make a program: install the C library's development files (Debian, Ubuntu: "
            "apt-get install build-essential) or name another compiler in CC" % " ".join(compiler())
        )


def check_headers(folders=None):
    """Raise Missing where Python.h is in none of the folders: by default, those of the Python that runs this."""
    if folders is None:
        paths = sysconfig.get_paths()
        folders = (paths["include"], paths["platinclude"])
    if not any(os.path.isfile(os.path.join(folder, "Python.h")) for folder in folders):
        raise Missing(
            "Python's headers are missing (no Python.h in %s): install them (Debian, Ubuntu: "
            "apt-get install python3-dev) or name another Python in PYTHON" % folders[0]
        )


def check_openmp():
    """Raise Missing where the C compiler cannot compile and link a program that uses OpenMP."""
    compile_flags, link_flags = openmp_flags()
    if not _compiles(OPENMP_PROGRAM, compile_flags + link_flags):
        advice = "`brew install libomp`" if sys.platform == "darwin" else "install gcc, with libgomp, and set CC=gcc"
        raise Missing(
            "the C compiler `%s` cannot build a program with OpenMP (%s): %s"
            % (" ".join(compiler()), " ".join(compile_flags), advice)
        )


CHECKS = {
    "python": check_python,
    "venv": check_venv,
    "compiler": check_compiler,
    "headers": check_headers,
    "openmp": check_openmp,
}


def compiler():
    """The C compiler's command as a list: $CC, else the one that Python was built with, else gcc, cc or clang.

    Raises Missing where there is none on PATH.
    """
    chosen = os.environ.get("CC")
    candidates = [chosen] if chosen else [sysconfig.get_config_var("CC") or "cc", "gcc", "cc", "clang"]
    for candidate in candidates:
        command = shlex.split(candidate)
        if shutil.which(command[0]):
            return command
    if chosen:
        raise Missing("the C compiler CC=%s is not on PATH: correct CC, or unset it to use gcc" % chosen)
    raise Missing(
        "no C compiler (gcc, cc or clang) on PATH: install one (Debian, Ubuntu: apt-get install build-essential)"
    )


def openmp_flags():
    """The C compiler's flags for OpenMP, as two lists: to compile with, to link with."""
    if sys.platform != "darwin":
        return ["-fopenmp"], ["-fopenmp"]
    # Apple's clang knows OpenMP but ships no runtime for it.
    prefixes = [os.environ["LIBOMP_PREFIX"]] if os.environ.get("LIBOMP_PREFIX") else LIBOMP_PREFIXES
    compile_flags, link_flags = ["-Xpreprocessor", "-fopenmp"], ["-lomp"]
    for prefix in prefixes:
        if os.path.isdir(prefix):
            return compile_flags + ["-I" + prefix + "/include"], ["-L" + prefix + "/lib"] + link_flags
    return compile_flags, link_flags


def cpu():
    """What -march=native depends on, as text: another text means that the extensions must be built again."""
    names = ("flags", "Features", "model name", "CPU part")
    lines = [platform.machine()]
    if os.path.exists("/proc/cpuinfo"):
        with open("/proc/cpuinfo") as file:
            lines += sorted({line.strip() for line in file if line.startswith(names)})
    return "\n".join(lines)


def _compiles(program, flags):
    folder = tempfile.mkdtemp(prefix="insertcoin-")
    try:
        source = os.path.join(folder, "program.c")
        with open(source, "w") as file:
            file.write(program)
        command = compiler() + [source, "-o", os.path.join(folder, "program")] + flags
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        process.communicate()
        return process.returncode == 0
    finally:
        shutil.rmtree(folder)


def report(names=tuple(CHECKS)):
    """Run the named checks in order; print the first failure's line and return 1, or return 0."""
    try:
        for name in names:
            CHECKS[name]()
    except Missing as missing:
        sys.stderr.write("insertcoin: %s\n" % missing)
        return 1
    return 0


if __name__ == "__main__":
    unknown = [name for name in sys.argv[1:] if name not in CHECKS]
    if unknown:
        sys.exit("insertcoin: unknown check %s, there are: %s" % (", ".join(unknown), ", ".join(CHECKS)))
    sys.exit(report(tuple(sys.argv[1:] or CHECKS)))
