"""What all benchmarks share: the head of a page, which names the command as it was given, and the checks of options."""

import importlib
import sys
from pathlib import Path

import pytest

from benchmarks import common

FOLDER = Path(common.__file__).parent


@pytest.mark.parametrize(("file", "module"), [
    ("envs.py", "benchmarks.envs"),
    ("speed/scaling.py", "benchmarks.speed.scaling"),
    ("console/__main__.py", "benchmarks.console"),
])
def test_the_head_of_a_page_is_the_command_that_makes_it_again(file, module, monkeypatch):
    assert (FOLDER / file).is_file()
    monkeypatch.setattr(sys, "argv", [str(FOLDER / file), "pong", "--out", "a page.md"])
    assert f"\n`python -m {module} pong --out 'a page.md'`, " in common.head("Title")


INTEGER, TIME = "an integer of at least 1", "a number above 0"


@pytest.mark.parametrize(("module", "option", "value", "must_be"), [
    ("envs", "--num-envs", "0", INTEGER), ("train", "--iterations", "few", INTEGER),
    ("peers.__main__", "--rounds", "0", INTEGER), ("speed.busy", "--processes", "-1", INTEGER),
    ("speed.variants", "--rounds", "1.5", INTEGER), ("speed.busy", "--seconds", "0", TIME),
    ("speed.scaling", "--seconds", "-1", TIME), ("speed.endurance", "--minutes", "nan", TIME),
    ("peers.__main__", "--seconds", "inf", TIME), ("scores.gallery", "--seconds", "long", TIME)])
def test_a_number_that_a_benchmark_cannot_do_is_refused_with_its_option(module, option, value, must_be, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["benchmark", f"{option}={value}"])
    with pytest.raises(SystemExit, match="2"):
        importlib.import_module(f"benchmarks.{module}").main()
    error = capsys.readouterr().err.splitlines()[-1]
    assert error.endswith(f"argument {option}: must be {must_be}, not {value}")


# A command whose figures are no medians of random play: what a test puts in place of its measurements, and its pages.
NOTED = {
    "speed.pixels": ([], {"products": 1.0, "training": 1.0}, ["pixels", "pixels_zen3", "pixels_zen4"]),
    "speed.variants": (["--python", "p", "--games", "pong", "--rounds", "1"], {"variants_of": ["v2"], "seconds_of": 1.0},
                       ["variants"]),
    "console.speed": (["pong", "--envs", "64"],
                      {"compare": {"ALE": 1.0, "interpreter": 1.0, "compiled": 1.0, "vector 64": 1.0, "pixels 64": 1.0},
                       "state_cost": (1, 1.0, 1.0)}, ["console_speed", "console_speed_sizes"]),
    "console.beside_games": (["pong"], {"row_of": ["pong"] + ["1"] * 6, "steps": 1.0, "state_cost": (1, 1.0, 1.0)},
                             ["console_beside_games"]),
}


@pytest.mark.parametrize("name", NOTED)
def test_a_page_whose_figures_are_no_medians_of_random_play_says_what_they_are(name, monkeypatch, capsys):
    if name.startswith("console"):
        pytest.importorskip("ale_py")
    command = importlib.import_module(f"benchmarks.{name}")
    words, measured, pages = NOTED[name]
    for function, result in measured.items():
        monkeypatch.setattr(command, function, lambda *_, result=result: result)
    if name == "console.beside_games":
        monkeypatch.setattr(command.cartridges, "compile_now", lambda game: None)
    monkeypatch.setattr(sys, "argv", [name, *words])
    command.main()
    printed = capsys.readouterr().out
    assert command.NOTE in printed
    assert [page for page in pages if command.NOTE not in (common.RESULTS / f"{page}.md").read_text(encoding="utf-8")] == []


@pytest.mark.parametrize(("value", "digits", "text"), [
    (1.2345, 4, "1.234"), (999.94, 4, "999.9"), (999.97, 4, "1,000"), (-1234.5, 4, "-1,234"), (0, 4, "0"),
    (999.7, 3, "1,000"), (540.2, 2, "540"), (4.64, 2, "4.6"), (99.6, 2, "100")])
def test_a_score_has_no_exponent(value, digits, text):
    assert common.score(value, digits) == text
