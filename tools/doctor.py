"""Checks that this machine can build insertcoin. Prints one line that says what is missing and how to get it.

    python tools/doctor.py               run all checks
    python tools/doctor.py python venv   run the named checks only

Silent if all is well, but for a note on a Mac without OpenMP; otherwise the exit status is 1. The Makefile and setup.py run
the same checks. Only the standard library and syntax that Python 2.7 can parse: a Python that is too old must get as far as
the message about it.
"""

import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile

OLDEST_PYTHON = (3, 11)
# The environment variables that change the compiled extensions.
BUILD_VARIABLES = ("DEBUG", "MARCH", "SANITIZE", "CC", "CFLAGS", "CPPFLAGS", "LDFLAGS", "LIBOMP_PREFIX")
# For child processes whose output is read: a compiler's errors are found by their words.
ENGLISH = {"LC_ALL": "C.UTF-8", "LANGUAGE": ""}
LIBOMP_PREFIXES = ("/opt/homebrew/opt/libomp", "/usr/local/opt/libomp")  # Homebrew, on ARM and on Intel

MOST_LINES = 20  # of a failed build's output
PLAIN_PROGRAM = "int main(void) { return 0; }\n"
OPENMP_PROGRAM = "#include <omp.h>\nint main(void) { return omp_get_max_threads() < 1; }\n"


class Missing(Exception):
    """Something that the set-up needs is missing; the message is the line to print."""


def check_python(version=None):
    """Raise Missing if Python is older than 3.11."""
    version = tuple(sys.version_info if version is None else version)[:3]
    if version < OLDEST_PYTHON:
        raise Missing(
            "Python %s is too old, 3.11 or newer is needed: install one and name it, as in "
            "`PYTHON=python3.12 make setup`" % ".".join(str(part) for part in version)
        )


def check_system(system=None):
    """Raise Missing if the operating system is neither Linux nor macOS. setup.py leaves this check out on Windows."""
    system = sys.platform if system is None else system
    if not system.startswith(("linux", "darwin")):
        raise Missing("%s is not supported, Linux and macOS are: on Windows use WSL" % system)


def check_venv():
    """Raise Missing if this Python cannot make virtual environments."""
    for module in ("venv", "ensurepip"):
        try:
            __import__(module)
        except ImportError:
            raise Missing(
                "this Python (%s) has no module %s to make .venv with: install it (Debian, Ubuntu: "
                "apt-get install python3-venv) or name another Python in PYTHON" % (sys.executable, module)
            )


def check_compiler():
    """Raise Missing if no C compiler can build a program."""
    if not _compiles(PLAIN_PROGRAM, []):
        raise Missing(
            "the C compiler `%s` cannot make a program: install the C library's development files (Debian, Ubuntu: "
            "apt-get install build-essential) or name another compiler in CC" % " ".join(compiler())
        )


def check_headers(folders=None):
    """Raise Missing if no folder has Python.h; folders: by default the include folders of this Python."""
    if folders is None:
        paths = sysconfig.get_paths()
        folders = (paths["include"], paths["platinclude"])
    if not any(os.path.isfile(os.path.join(folder, "Python.h")) for folder in folders):
        raise Missing(
            "Python's headers are missing (no Python.h in %s): install them (Debian, Ubuntu: "
            "apt-get install python3-dev) or name another Python in PYTHON" % folders[0]
        )


def check_openmp():
    """Raise Missing if the C compiler cannot build a program that uses OpenMP; on macOS print a note."""
    compile_flags, link_flags = openmp_flags()
    if sys.platform == "win32":
        return
    if not compile_flags:
        sys.stderr.write(
            "insertcoin: note: no OpenMP library, so games and the trainer's kernels will use one thread; for more: "
            "`brew install libomp`, then build again\n"
        )
    elif sys.platform != "darwin" and not _compiles(OPENMP_PROGRAM, compile_flags + link_flags):
        raise Missing(
            "the C compiler `%s` cannot build a program with OpenMP (%s): install gcc, with libgomp, and set CC=gcc"
            % (" ".join(compiler()), " ".join(compile_flags))
        )


CHECKS = {
    "python": check_python,
    "system": check_system,
    "venv": check_venv,
    "compiler": check_compiler,
    "headers": check_headers,
    "openmp": check_openmp,
}


def compiler():
    """The C compiler's command as a list: $CC, else the compiler that built Python, else gcc, cc or clang.

    On Windows it is clang-cl. Raises Missing if none of them is on PATH.
    """
    if sys.platform == "win32":
        if not shutil.which("clang-cl"):
            raise Missing("clang-cl is not on PATH: install LLVM, and the C++ build tools of Visual Studio")
        return ["clang-cl"]
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
    """The C compiler's flags for OpenMP: a list for compiling, one for linking the engine.

    Both are empty on a Mac without libomp, and on Windows.

    The trainer's kernels are not linked: they take the runtime that torch has loaded. On a Mac the engine is not linked either:
    envs_c/engine/openmp.py loads a runtime before it.
    """
    if sys.platform == "win32":
        return [], []
    if sys.platform != "darwin":
        return ["-fopenmp"], ["-fopenmp"]
    # Apple's clang supports OpenMP but comes without its runtime library.
    compile_flags, libraries = ["-Xpreprocessor", "-fopenmp"], ["-lomp"]
    for prefix in libomp_prefixes():
        if os.path.isdir(prefix):
            compile_flags, libraries = compile_flags + ["-I" + prefix + "/include"], ["-L" + prefix + "/lib"] + libraries
            break
    return (compile_flags, []) if _compiles(OPENMP_PROGRAM, compile_flags + libraries) else ([], [])


def libomp_prefixes():
    """The folders where a Mac may have libomp."""
    return [os.environ["LIBOMP_PREFIX"]] if os.environ.get("LIBOMP_PREFIX") else LIBOMP_PREFIXES


def cpu():
    """The facts that -march=native depends on, as text. If it changes, the extensions must be rebuilt."""
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


OFFLINE = re.compile(
    "NewConnectionError|NameResolutionError|name resolution|Network is unreachable|Connection refused|ProxyError"
    "|ConnectTimeout|ReadTimeout|Read timed out|Max retries exceeded|RemoteDisconnected|ConnectionResetError"
)


def explain_pip(output):
    """One line about a pip that failed: the cause, and what to do."""
    if OFFLINE.search(output):
        return "no network: pip cannot reach its package index: connect, or correct pip's configuration, and run again"
    # The build's own message is the cause; else the first of several errors is, except pip's list of skipped versions.
    lines = output.splitlines()
    ours = [line.strip() for line in lines if re.match(r"\s*insertcoin: (?!note: )", line)]
    if ours:
        return ours[0][len("insertcoin: "):]
    errors = [line for line in lines if re.match("ERROR: (?!Ignored the following)", line)]
    cause = (errors or output.strip().splitlines()[-1:] or ["no reason given"])[0]
    return "pip failed: %s" % re.sub("^ERROR: ", "", cause)[:200]


def explain_build(output):
    """One line about a build that failed, from the output of setup.py."""
    ours = [line[len("insertcoin: "):] for line in output.splitlines() if re.match("insertcoin: (?!note: )", line)]
    errors = error_lines(output) or output.strip().splitlines()[-1:] or ["no reason given"]
    return ours[-1] if ours else "the build failed: %s" % errors[-1].strip()[:200]


def error_lines(output):
    """The lines of a build's output that say where it failed: Cython's message with the source, or the compiler's errors."""
    lines = [line for line in output.splitlines() if line.strip()]
    cython = [number for number, line in enumerate(lines) if line.startswith("Error compiling Cython file")]
    if cython:
        return [line for line in lines[cython[0]:] if not line.startswith("insertcoin: ")][:MOST_LINES]
    return [line for line in lines if re.search(": (fatal )?error: ", line)][:MOST_LINES]


def report(names=tuple(CHECKS)):
    """Run the named checks in order. Prints the first problem and returns 1, or returns 0."""
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
        sys.exit("insertcoin: unknown check %s; the checks are %s" % (", ".join(unknown), ", ".join(CHECKS)))
    sys.exit(report(tuple(sys.argv[1:] or CHECKS)))
