"""A wheel that is built and installed: its tags, its machine code, and every game in each variant on each Python."""

import os
import platform
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from setup_support import ROOT, TOOLS, load

import envs_c
from envs_c import isa, machine
from tools.isa import compile, debian

X86 = (sys.platform, platform.machine()) == ("linux", "x86_64")
GOLDEN = TOOLS / "isa" / "golden.py"
ALL = 2 * len(envs_c.games())
LEVELS = isa.supported(machine.cpu_features())
pytestmark = [pytest.mark.slow, pytest.mark.skipif(not X86, reason="wheels with variants are for x86-64 Linux")]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """The wheel of this tree."""
    return load(TOOLS / "build_wheel.py").build(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def code(wheel, tmp_path_factory) -> dict[str, str]:
    """The disassembled modules of the wheel, by their paths in it."""
    folder = tmp_path_factory.mktemp("unpacked")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return {str(module.relative_to(folder)): subprocess.run(["objdump", "-d", module], capture_output=True, text=True,
                                                            check=True).stdout for module in folder.rglob("*.so")}


def test_the_wheel_is_for_all_pythons_from_3_11_and_for_systems_of_2014(wheel):
    assert "cp311-abi3-" in wheel.name and "manylinux2014_x86_64" in wheel.name


def test_the_baseline_has_no_wide_registers_and_the_variants_do(code):
    plain = [name for name in code if "x86-64-" not in name]
    assert len(plain) > 15 and all(name.endswith(".abi3.so") for name in code)
    assert [name for name in plain if re.search(r"%[yz]mm", code[name])] == []
    for level, register in (("v3", "%ymm"), ("v4", "%zmm")):
        variants = [name for name in code if f"/x86-64-{level}/" in name]
        assert len(variants) == len([name for name in plain if re.search("/(games|console|kernels)/", name)])
        assert any(register in code[name] for name in variants)
    assert not any("%zmm" in code[name] for name in code if "/x86-64-v3/" in name)


def test_the_wheel_brings_one_openmp_runtime_for_the_engine(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if "gomp" in name]
        engine, kernels = (archive.read(f"{name}.abi3.so") for name in ("envs_c/engine/engine", "trainer/kernels/lstm/cpu"))
    assert names == ["envs_c/engine/libgomp.so.1"] and b"libgomp.so.1" in engine
    assert b"libgomp" not in kernels and b"GOMP_parallel" in kernels  # they take torch's


def interpreter(version: str) -> str:
    """A Python of this version: this one, or one that pyenv or uv has installed beside it."""
    if sys.version_info[:2] == tuple(map(int, version.split("."))):
        return sys.executable
    found = sorted(Path(sys.base_prefix).parent.glob(f"*{version}*/bin/python{version}"))
    return str(found[-1]) if found else pytest.skip(f"no Python {version} beside {sys.base_prefix}")


@pytest.fixture(scope="module", params=["3.11", "3.12", "3.13"])
def own(wheel, tmp_path_factory, request) -> Path:
    """The Python of an empty environment with the wheel."""
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([interpreter(request.param), "-m", "venv", folder], check=True)
    python = folder / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "-q", "--no-input", wheel], check=True)
    return python


def play(command: list, folder: Path, level: str, environment: dict[str, str]) -> str:
    """The output of golden.py, which is started in `folder` without a compiler on PATH."""
    done = subprocess.run([*map(str, command), str(GOLDEN), str(ROOT / "tests")], cwd=folder, capture_output=True, text=True,
                          env={**environment, "INSERTCOIN_ISA": level, "PATH": "/nonexistent"}, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_games_step_with_the_runtime_of_the_wheel(own, tmp_path):
    code = ("import envs_c; env = envs_c.VecEnv(envs_c.game('pong'), 64, num_threads=2); "
            "print({line.split()[-1] for line in open('/proc/self/maps') if 'gomp' in line})")
    done = subprocess.run([own, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout.count("libgomp") == 1 and "envs_c/engine/libgomp.so.1" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize("level", LEVELS)
def test_every_game_plays_the_same_in_each_variant(own, tmp_path, level):
    assert f", {level}: {ALL} of {ALL} golden checksums hold" in play([own], tmp_path, level, {})


@pytest.mark.parametrize("level", LEVELS)
def test_a_cartridge_plays_in_each_variant_as_in_this_build(own, tmp_path, level):
    code = ("import own_rom; from support import play_core; from envs_c.console import cartridges, console; "
            "game = cartridges.game_of(own_rom.DATA, None, own_rom.ROW); "
            "print(console.__file__, *(play_core(game, 16, 200, seed=7, view=view) for view in ('ram', 'pixels', 'rgb')))")
    settings = {"PYTHONPATH": str(ROOT / "tests" / "support"), "ENVS_C_RECOMPILE": "0", "INSERTCOIN_ISA": level}
    found, expected = (subprocess.run([python, "-c", code], cwd=folder, env={**os.environ, **changes}, capture_output=True,
                                      text=True, check=True).stdout.split()
                       for python, folder, changes in ((own, tmp_path, settings),
                                                       (sys.executable, ROOT, {**settings, "INSERTCOIN_ISA": ""})))
    assert (f"x86-64-{level}" in found[0]) == (level != "v2")
    assert len(found) == 4 and found[1:] == expected[1:]


@pytest.mark.parametrize(("suite", "version"), [("trixie", "3.13"), ("sid", "3.14")])
def test_every_game_plays_the_same_on_other_pythons(wheel, tmp_path, suite, version):
    try:
        python = debian.fetch(suite, "amd64", version)
        packages = compile.packages_for(python)
    except debian.Unavailable as reason:
        pytest.skip(str(reason))
    compile.install(tmp_path, str(wheel), "--no-deps", "--python-version", version, "--only-binary=:all:",
                    "--platform", "manylinux2014_x86_64")
    for level in LEVELS:
        out = play(python.command(), tmp_path, level, python.environment(f"{tmp_path}{os.pathsep}{packages}"))
        assert out.startswith(f"Python {version}.") and f", {level}: {ALL} of {ALL} golden checksums hold" in out
