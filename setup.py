"""Builds every *.pyx under envs_c/ and trainer/; everything else about the package stands in pyproject.toml.

    python setup.py build_ext --inplace

Environment variables choose the build; a change of any of them, of the compiler or of the CPU builds anew:

    DEBUG=1      bounds, None and initialization checks in Cython code, -O1 -g
    MARCH=...    what to compile for: native (the default), x86-64-v3, ...; empty for the compiler's own default
    SANITIZE=... address, undefined or thread

Each such choice has a folder of its own under build/, so going back and forth between two compiles nothing twice.
"""

import filecmp
import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "tools"))
import preflight

try:
    import Cython
    from Cython.Build import cythonize
    from Cython.Compiler.Errors import CompileError
    from setuptools import Extension, setup
    from setuptools.command.build_ext import build_ext
except ImportError as error:
    sys.exit(f"insertcoin: the build needs {error.name}: `make setup` installs it, or `pip install setuptools cython`")

ROOTS = ("envs_c", "trainer")
SANITIZERS = ("address", "undefined", "thread")
MARCH = os.environ.get("MARCH", "native")
DEBUG = os.environ.get("DEBUG", "")
SANITIZE = os.environ.get("SANITIZE", "")

# Games give the same bits on every CPU and from every compiler: no fast-math, and no fused multiply-add that the source
# does not ask for. The trainer's kernels are held to a tolerance instead.
GAME_FLAGS = ["-O3", "-fno-math-errno", "-ffp-contract=off", "-g1"]
KERNEL_FLAGS = ["-O3", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=fast", "-g1"]

DIRECTIVES = {
    "language_level": 3,
    "boundscheck": False,
    "wraparound": False,  # stays off in a debug build too, where a negative index is then an error
    "cdivision": True,
    "initializedcheck": False,
    "nonecheck": False,
}
DEBUG_DIRECTIVES = {"boundscheck": True, "initializedcheck": True, "nonecheck": True}


def variant_flags() -> tuple[list[str], list[str]]:
    """The flags that DEBUG, SANITIZE and MARCH add: to compile with, to link with. Raises Missing on unknown values."""
    if DEBUG not in ("", "0", "1"):
        raise preflight.Missing(f"DEBUG={DEBUG} is unknown: it may be 1, 0 or empty")
    if SANITIZE and SANITIZE not in SANITIZERS:
        raise preflight.Missing(f"SANITIZE={SANITIZE} is unknown: it may be {', '.join(SANITIZERS)} or empty")
    compile_flags, link_flags = preflight.openmp_flags()
    if MARCH:
        compile_flags.append(f"-mcpu={MARCH}" if sys.platform == "darwin" else f"-march={MARCH}")
    if DEBUG == "1":
        compile_flags += ["-O1", "-g"]
    if SANITIZE:
        sanitizer = f"-fsanitize={SANITIZE}"
        compile_flags += [sanitizer, "-O1", "-g", "-fno-omit-frame-pointer"]
        link_flags.append(sanitizer)
    if SANITIZE == "undefined":
        # Python's own flags make signed overflow defined; here it is to be reported, and to end the process.
        compile_flags += ["-fno-wrapv", "-fno-sanitize-recover=undefined"]
    return compile_flags, link_flags


def extensions() -> list[Extension]:
    """One Extension for each .pyx, which is rebuilt when it, what it cimports or a header beside it has changed."""
    compile_flags, link_flags = variant_flags()
    return [
        Extension(
            ".".join(source.with_suffix("").parts),
            [str(source)],
            depends=sorted(map(str, source.parent.glob("*.h"))),
            include_dirs=[str(source.parent)],
            extra_compile_args=(GAME_FLAGS if root == "envs_c" else KERNEL_FLAGS) + compile_flags,
            extra_link_args=link_flags,
        )
        for root in ROOTS
        for source in sorted(Path(root).rglob("*.pyx"))
    ]


def build_folder() -> str:
    """build/NAME, another one for each combination of flags, compiler, CPU, Python and Cython."""
    version = subprocess.run([*preflight.compiler(), "--version"], capture_output=True, text=True, check=False).stdout
    facts = [preflight.cpu(), version, sys.version, Cython.__version__, Path(__file__).read_text(encoding="utf-8")]
    facts += [f"{name}={os.environ.get(name)}" for name in preflight.BUILD_VARIABLES]
    name = "debug" if DEBUG == "1" else SANITIZE or "release"
    return f"build/{name}-{hashlib.sha256(repr(facts).encode()).hexdigest()[:10]}"


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class BuildExtensions(build_ext):
    """build_ext that runs Cython into the build folder, and keeps the modules in the source tree in step with it."""

    def build_extensions(self):
        """Translate what has changed with Cython, then compile what has changed, both on all cores."""
        try:
            compiled = cythonize(
                [Extension(extension.name, extension.sources) for extension in self.extensions],
                build_dir=str(Path(self.build_temp) / "cython"),
                compiler_directives=DIRECTIVES | (DEBUG_DIRECTIVES if DEBUG == "1" else {}),
                nthreads=cores() if sys.platform == "linux" else 0,
                force=bool(self.force),
                quiet=self.verbose < 1,
            )
        except CompileError as error:  # Cython has printed what it is, and where
            sys.exit(f"insertcoin: Cython does not compile {error}")
        sources = {extension.name: extension.sources for extension in compiled}
        for extension in self.extensions:
            extension.sources = sources[extension.name]
        super().build_extensions()

    def copy_extensions_to_source(self):
        """Put the built modules beside their sources, and remove those whose source is gone.

        setuptools copies newer ones only: after a debug build, the release build to go back to is the older of the two.
        """
        modules = {Path(self.get_ext_filename(self.get_ext_fullname(extension.name))) for extension in self.extensions}
        for module in modules:
            built = Path(self.build_lib, module)
            if not module.exists() or not filecmp.cmp(built, module, shallow=False):
                shutil.copy2(built, f"{module}.new")
                os.replace(f"{module}.new", module)  # never a half-written module, nor one changed under a running game
        for root in ROOTS:
            for module in set(Path(root).rglob(f"*{sysconfig.get_config_var('EXT_SUFFIX')}")) - modules:
                module.unlink()


def main():
    """Check the machine, then hand over to setuptools."""
    os.chdir(Path(__file__).resolve().parent)
    if preflight.report():
        sys.exit(1)
    try:
        ext_modules = extensions()
    except preflight.Missing as missing:
        sys.exit(f"insertcoin: {missing}")
    os.environ["CC"] = " ".join(preflight.compiler())  # setuptools looks at $CC, then at what Python was built with
    setup(
        license="MIT",
        ext_modules=ext_modules,
        cmdclass={"build_ext": BuildExtensions},
        options={"build": {"build_base": build_folder()}, "build_ext": {"parallel": cores()}},
    )


if __name__ == "__main__":
    main()
