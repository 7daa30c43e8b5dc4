"""The games on other processors and compilers, and without Python: tools/isa and envs_c/bare."""

import sys

import pytest
from setup_support import run

from tools.isa import bare, debian
from tools.isa.__main__ import ROWS, main


@pytest.mark.parametrize("name", ["asterix", *(pytest.param(name, marks=pytest.mark.slow) for name in ("cartpole", "pong"))])
def test_a_game_without_python_gives_the_golden_checksums_and_the_same_pictures(name, tmp_path, monkeypatch):
    monkeypatch.setattr(bare, "FOLDER", tmp_path)
    program = bare.compiled(name, "native", ["cc"])
    assert bare.faults(name, [str(program)]) == []


def test_another_game_is_told_from_the_right_one(tmp_path, monkeypatch):
    monkeypatch.setattr(bare, "FOLDER", tmp_path)
    program = bare.compiled("cartpole", "native", ["cc"])
    (tmp_path / "wrong.sh").write_text(f"#!/bin/sh\n{program} 8 $2 $3\n", encoding="utf-8")  # another seed
    (tmp_path / "wrong.sh").chmod(0o755)
    assert len(bare.faults("cartpole", [str(tmp_path / "wrong.sh")])) == 4


@pytest.mark.parametrize(("words", "message"), [(["z80"], "ROW must be one of v1, "), (["--games", "chess"], "not chess")])
def test_an_unknown_row_or_game_is_refused(words, message):
    result = run(sys.executable, "-m", "tools.isa", *words)
    assert result.returncode == 2 and message in result.stderr


def test_a_row_that_cannot_be_tried_fails_with_the_reason(monkeypatch, capsys):
    def missing(games):
        raise debian.Unavailable("qemu-vax is missing")

    monkeypatch.setitem(ROWS, "vax", missing)
    assert main(["vax"], ["pong"]) == 1
    assert capsys.readouterr().out == "vax: FAILED: qemu-vax is missing\n"


@pytest.mark.slow
@pytest.mark.parametrize("row", ROWS)
def test_the_golden_checksums_hold_on_every_row(row, capsys):
    assert main([row], ["cartpole", "pong", "seaquest"]) == 0, capsys.readouterr().out
