"""Games of one's own as CUDA kernels: the bits of the CPU's engine, `envs_c check --device`, and what a GPU does not have."""

import importlib.util
from pathlib import Path

import pytest
from game_runs import played
from support import TOY

import envs_c
from envs_c import catalog
from envs_c.__main__ import main
from envs_c.bare import check, device

pytestmark = pytest.mark.skipif(importlib.util.find_spec("ziglang") is None, reason="zig compiles the games")

ROOT = Path(__file__).resolve().parents[2]
CAVE = ROOT / "examples" / "new_game" / "cave.pyx"
PRINTS = ("from libc.stdint", "from libc.stdio cimport printf\nfrom libc.stdint"), (
    "    toy.action = action\n", '    printf("%d", action)\n')
EXP = ("from libc.stdint", "from libc.math cimport exp\nfrom libc.stdint"), (
    "    toy.action = action\n", "    toy.wind = <float>exp(toy.wind)\n")
CALLS_ITSELF = ("cdef float step(", "cdef int twice(int n) noexcept nogil:\n    return 1 + twice(n // 2) * 3 % 7 if n > 1 else "
                "n\n\n\ncdef float step("), ("    toy.action = action\n", "    toy.noise = twice(toy.frames + toy.noise * 3)\n")


def changed(folder: Path, name: str, *replacements: tuple[str, str]):
    text = TOY.read_text(encoding="utf-8").replace('name="toy", title="Toy"', f'name="{name}", title="{name}"')
    for old, new in replacements:
        assert old in text
        text = text.replace(old, new)
    (folder / f"{name}.pyx").write_text(text, encoding="utf-8")
    return envs_c.game(str(folder / f"{name}.pyx"))


@pytest.mark.parametrize("path", [CAVE, TOY], ids=lambda path: path.stem)
def test_the_kernels_of_a_game_of_one_s_own_have_the_bits_of_the_engine(path):
    from games_on_cpu import EmulatedGame
    game = envs_c.game(str(path))
    played(game, EmulatedGame(game), 33, 12, sticky=0.25)


@pytest.mark.parametrize(("name", "replacements", "message"), [
    ("prints", PRINTS, "game 'prints' cannot run on a GPU, which has no C library: it calls printf"),
    ("exponent", EXP, "game 'exponent' cannot run on a GPU, which has no C library: it calls exp"),
    ("deep", CALLS_ITSELF, "game 'deep' cannot run on a GPU, whose threads have a stack of fixed size: twice.. may call "
     "itself; write it as a loop"),
])
def test_what_a_gpu_does_not_have_is_an_error_of_one_line(tmp_path, name, replacements, message):
    game = changed(tmp_path, name, *replacements)
    with pytest.raises(envs_c.CompileFailed, match=f"^{message}$"):
        device.ptx(game)


def test_functions_that_call_each_other_are_found_in_a_ptx():
    text = "".join(f".func (.param .b32 r) {one}(\n\t.param .b32 p\n)\n{{\n\tcall.uni (r), {other}, (p);\n\tret;\n}}\n"
                   for one, other in (("a", "b"), ("b", "c"), ("c", "b"), ("d", "e"), ("e", "f")))
    assert device.recursive(text) == ["b", "c"]


@pytest.fixture(autouse=True)
def registry(monkeypatch):
    """The games of this file's tests are not known to others."""
    monkeypatch.setattr(catalog, "_registered", {})


@pytest.fixture
def no_rules(monkeypatch):
    """`check` without the contract's rules, which other tests try."""
    monkeypatch.setattr("envs_c.testing.check", lambda *arguments, **hooks: None)
    monkeypatch.setattr("envs_c.testing.summary", lambda game: ([], []))


def test_check_compares_the_emulated_program_with_the_engine(no_rules, monkeypatch, capsys):
    monkeypatch.setattr(check, "VIEWS", {"features": "the features"})
    assert not main(["check", str(CAVE), "--device"])
    _, first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("ok      compiles_for_gpus: ") and "of them with float64" in first
    assert second == "ok      equal_on_gpus: the features of the emulated GPU program are those of the CPU's engine"


def test_check_names_a_difference(no_rules, monkeypatch, capsys):
    monkeypatch.setattr(check, "compared", lambda name, view: "('step', 'reward')" if view == "pixels" else "")
    monkeypatch.setattr(check, "MANY_DOUBLES", 0.0)
    assert main(["check", str(CAVE), "--device"])
    printed = capsys.readouterr()
    assert "game 'cave' differs on a GPU in the pictures: ('step', 'reward')" in printed.err
    assert [line.split()[0] for line in printed.out.splitlines()] == ["random", "ok", "warning:", "ok", "BROKEN"]


def test_a_program_that_does_not_begin_is_a_difference(monkeypatch):
    monkeypatch.setattr(check.sys, "executable", "/bin/false")
    assert check.compared("cartpole", "features") == "it ended with code 1"


def test_check_needs_the_repository(no_rules, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(check, "EMULATOR", tmp_path / "nowhere")
    assert main(["check", str(CAVE), "--device"])
    assert "--device must be left out here: the emulator of GPUs is a part of the repository" in capsys.readouterr().err
