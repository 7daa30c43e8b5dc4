"""The types that editors and type checkers see: the stubs of the compiled modules, and those of make, reset and step."""

import ast
import inspect
import re
import shutil
import sys
from pathlib import Path
from typing import get_args

import pytest
from setup_support import ROOT, run

import envs_c
from envs_c.types import ByteGame, FloatGame

SOURCES = sorted(path.relative_to(ROOT) for root in ("envs_c", "trainer") for path in (ROOT / root).rglob("*.pyx"))
MADE_BY_CYTHON = r".*\.__(test|pyx_capi|reduce_cython|setstate_cython)__"
# Packages whose types none of these tests needs take most of the time: Gymnasium alone imports half of them.
CONFIG = """[mypy]
follow_imports = silent
[mypy-torch.*,jax.*,jaxlib.*,IPython.*,prompt_toolkit.*,matplotlib.*,rich.*,cv2.*,pygame.*,imageio.*,tyro.*,optuna.*]
follow_imports = skip
"""

HEADER = """from typing import Any, assert_type
import numpy as np, numpy.typing as npt
from pathlib import Path
import gymnasium, envs_c, insertcoin
from envs_c.game import Option
name: str = input()
env = envs_c.make("breakout", num_envs=8)
core = envs_c.VecEnv(envs_c.game("pong"), 8)
"""
PROMISED = [  # an expression and its type
    ("env.step([0] * 8)",
     "tuple[npt.NDArray[np.float32], npt.NDArray[np.float64], npt.NDArray[np.bool_], npt.NDArray[np.bool_], dict[str, Any]]"),
    ("env.step(np.zeros(8, np.int32))[0]", "npt.NDArray[np.float32]"),
    ("env.step(env.action_space.sample())[1]", "npt.NDArray[np.float64]"),
    ("env.reset(seed=1)", "tuple[npt.NDArray[np.float32], dict[str, Any]]"),
    ("env.num_envs", "int"),
    ("env.render()", "tuple[npt.NDArray[np.uint8], ...] | None"),
    ("env.get_state([1, 2])", "bytes"),
    ("env.set_state(b'')", "npt.NDArray[np.float32]"),
    ('envs_c.make("g2048", 2).reset()[0]', "npt.NDArray[np.uint8]"),
    ('envs_c.make("go", 2, komi=6.5).reset()[0]', "npt.NDArray[np.uint8]"),
    ('envs_c.make("pong", 2, view="pixels", frame_stack=4, reward_clip=1).step([0, 1])[0]', "npt.NDArray[np.uint8]"),
    ('envs_c.make(name, 2, view="rgb").reset()[0]', "npt.NDArray[np.uint8]"),
    ('envs_c.make("pong", 2, view="both").reset()[0]["pixels"]', "npt.NDArray[np.uint8]"),
    ("envs_c.make(name).reset()[0]", "npt.NDArray[np.float32 | np.uint8]"),
    ("envs_c.game(name).options", "dict[str, Option]"),
    ('envs_c.make_async("pong", 8, 4).recv()[0]', "npt.NDArray[np.float32 | np.uint8]"),
    ("envs_c.games()", "tuple[str, ...]"),
    ('insertcoin.make("breakout", 8).reset()[0]', "npt.NDArray[np.float32]"),
    ('insertcoin.make("pong", 2, view="rgb").reset()[0]', "npt.NDArray[np.uint8]"),
    ("insertcoin.games()", "tuple[str, ...]"),
    ("insertcoin.__version__", "str"),
    ('insertcoin.train("breakout", seed=1)', "Path"),
    ('insertcoin.load("last").evaluate(episodes=2)', "dict[str, Any]"),
    ("core.observation_shape", "tuple[int, ...]"),
    ("core.ended_return", "npt.NDArray[np.float64]"),
    ("core.get_state()", "bytes"),
]
REFUSED = [
    'envs_c.make("breakout", num_envs="8")',
    'envs_c.make("breakout", seed="1")',
    'envs_c.make("breakout", autoreset="never")',
    'env.step("left")',
    "env.step()",
    "core.num_envs = 3",
    "core.step([0] * 8)",
    'env.reset()[0]["pixels"]',
    "envs_c.game(3)",
    'insertcoin.make("pong", sticky="0.25")',
    "insertcoin.train(7)",
]


def name_of(source: Path) -> str:
    return ".".join(source.with_suffix("").parts)


@pytest.mark.parametrize("source", SOURCES, ids=name_of)
def test_every_compiled_module_has_a_stub(source):
    assert (ROOT / source).with_suffix(".pyi").is_file(), "CONTRIBUTING.md says how to write it"


def test_the_stubs_have_the_names_and_arguments_of_their_modules(tmp_path):
    names_only = CONFIG.replace("[mypy-", "[mypy-numpy.*,gymnasium.*,")
    (tmp_path / "mypy.ini").write_text(names_only)
    (tmp_path / "allowed").write_text(MADE_BY_CYTHON)
    result = run(sys.executable, "-m", "mypy.stubtest", "--concise", "--ignore-disjoint-bases", "--mypy-config-file",
                 tmp_path / "mypy.ini", "--allowlist", tmp_path / "allowed", "envs_c.catalog", *map(name_of, SOURCES))
    assert result.returncode == 0, result.stdout + result.stderr


def test_every_overload_of_make_has_all_its_settings():
    """mypy.stubtest does not see them: `**options` takes any name."""
    stub = ast.parse((ROOT / "envs_c" / "catalog.pyi").read_text())
    overloads = [node.args for node in stub.body if isinstance(node, ast.FunctionDef) and node.name == "make"]
    settings = [name for name in inspect.signature(envs_c.make).parameters if name != "options"]
    assert [[argument.arg for argument in (*made.args, *made.kwonlyargs)] for made in overloads] == [settings] * 6


@pytest.mark.parametrize("command", [
    ("mypy", "--strict", "--config-file", "mypy.ini", "--no-pretty"),
    ("pyright", "--pythonpath", sys.executable),
], ids=["mypy", "pyright"])
def test_type_checkers_see_the_promised_types_and_find_wrong_calls(tmp_path, command):
    lines = [*(f"assert_type({expression}, {kind})" for expression, kind in PROMISED), *REFUSED]
    (tmp_path / "mypy.ini").write_text(CONFIG)
    script = tmp_path / "script.py"
    script.write_text(HEADER + "\n".join(lines) + "\n")
    output = run(sys.executable, "-m", *(tmp_path / word if word.endswith(".ini") else word for word in command), script).stdout
    numbers = {int(number) for number in re.findall(r"script\.py:(\d+).*error", output)}
    assert [script.read_text().splitlines()[number - 1] for number in sorted(numbers)] == REFUSED, output


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("npx"), reason="needs npx, and the registry of npm")
def test_typescript_reads_every_script_of_the_page_and_finds_a_wrong_call_in_each(tmp_path):
    version = re.search(r"^TYPESCRIPT := (\S+)", (ROOT / "Makefile").read_text(), re.MULTILINE).group(1)
    shutil.copytree(ROOT / "envs_c" / "arcade", tmp_path, dirs_exist_ok=True, ignore=shutil.ignore_patterns("agents"))
    scripts = sorted((tmp_path / "page").rglob("*.js"))
    for script in scripts:
        script.write_text(script.read_text() + "\nMath.max('a').nothing();\n")
    output = run("npx", "--yes", "--package", version, "tsc", "-p", tmp_path, "--pretty", "false").stdout
    assert {tmp_path / "page" / found for found in re.findall(r"page/(\S+)\(\d+,\d+\): error TS2345", output)} == set(scripts)


def test_an_installation_has_the_stubs(tmp_path):
    result = run(sys.executable, "setup.py", "-q", "build_py", "--build-lib", tmp_path)
    assert result.returncode == 0, result.stderr
    for source in SOURCES:
        assert (tmp_path / source).with_suffix(".pyi").is_file(), source
    assert all((tmp_path / package / "py.typed").is_file() for package in ("insertcoin", "envs_c", "bridge", "trainer"))


@pytest.mark.parametrize(("names", "dtype"), [(FloatGame, "float32"), (ByteGame, "uint8")])
def test_the_games_in_the_types_are_those_with_features_of_that_dtype(names, dtype):
    assert get_args(names) == tuple(game for game in envs_c.catalog.built_in() if envs_c.game(game).feature_dtype == dtype)
