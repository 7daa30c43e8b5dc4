"""Where the CPU multiplies bfloat16 without AMX, the kernels for AMX pass their tests with its instructions written in C."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from c_programs import needs_compiler

from envs_c.machine import cpu_features

ROOT = Path(__file__).parents[3]
BUILD = """
import sys
from Cython.Build import cythonize
from setuptools import Extension, setup

sys.path.insert(0, "envs_c")
import flags

shared = "trainer/kernels/shared"
setup(script_args=["-q", "build_ext", "--inplace"], packages=[], py_modules=[], ext_modules=cythonize([
    Extension(f"trainer.kernels.{name}".replace("/", "."), [f"trainer/kernels/{name}.pyx"],
              include_dirs=["trainer/kernels/" + name.partition("/")[0], shared],
              extra_compile_args=["-O2", "-fopenmp", "-include", "tests/support/amx/amx_in_c.h"], extra_link_args=["-fopenmp"])
    for name in ("shared/tiles", "dense/tiled", "heads/tiled", "lstm/tiled", "pictures/tiled")],
    compiler_directives=flags.directives(), quiet=True))
"""
TESTS = [*(f"tests/trainer/kernels/test_kernels_{name}.py" for name in ("tiles", "dense", "pictures")),
         "tests/trainer/ppo/test_minibatch_loss.py", "tests/trainer/policy/test_pixels.py"]
OTHERS = "not where_the_cpu_has_them"  # the CPU has no AMX


def run(tree: Path, *arguments: str) -> subprocess.CompletedProcess:
    path = os.pathsep.join(map(str, (tree, tree / "tests" / "support" / "amx")))
    return subprocess.run([sys.executable, *arguments], cwd=tree, env=os.environ | {"PYTHONPATH": path}, capture_output=True,
                          text=True, check=False, timeout=900)


@pytest.mark.slow
@needs_compiler
@pytest.mark.skipif("avx512_bf16" not in cpu_features(), reason="the functions beside the products need AVX512-BF16")
def test_the_kernels_for_amx_pass_their_tests_with_its_instructions_in_c(tmp_path):
    ignored = shutil.ignore_patterns("__pycache__", "*.html")
    for name in ("trainer", "envs_c", "bridge", "tests/support", "tests/trainer"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=ignored)
    for module in [*(tmp_path / "trainer" / "kernels").glob("*/tile*.so")]:
        module.unlink()
    built = run(tmp_path, "-c", BUILD)
    assert built.returncode == 0, built.stderr
    for name in ("pyproject.toml", "tests/conftest.py"):  # after the build, which would read the first
        shutil.copy(ROOT / name, tmp_path / name)
    done = run(tmp_path, "-m", "pytest", "-q", "-p", "use_amx", "-p", "no:cacheprovider", "-k", OTHERS, *TESTS)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
    assert int(done.stdout.split(" passed")[0].split()[-1]) > 100
