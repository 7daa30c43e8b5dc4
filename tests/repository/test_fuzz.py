"""The fuzzer (tools/fuzz): it names planted faults with the commands that repeat them, and finds none in the real surfaces."""

import os
import random
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tools.fuzz import SURFACES, damaged, pool
from tools.fuzz.__main__ import CASES, main

ROOT = Path(__file__).resolve().parents[2]
PLANTED_CASES, BAD = 6, 3  # the cases of a planted surface; the one with the fault

SURFACE = """
import ctypes, os, tempfile, threading
from envs_c import InvalidArgument

def setup(box):
    pass

def refuse(text):
    raise InvalidArgument(text)

def case(rng, box):
    box.counts["accepted"] += 1
    if rng.random() == {fault!r}:
        {code}
"""

# The planted faults: kind, a part of the report, and the code of the case.
PLANTED = {
    "a segmentation fault": ("crash", "SIGSEGV", "ctypes.string_at(0)"),
    "an abort": ("crash", "SIGABRT", "os.abort()"),
    "an exit": ("crash", "exit status 3", "os._exit(3)"),
    "an endless loop": ("hang", "in case", "while True: pass"),
    "a deadlock": ("hang", "in case", "lock = threading.Lock(); lock.acquire(); lock.acquire()"),
    "an undocumented error": ("error", "Traceback", "box.attempt(lambda: 1 / 0)"),
    "an end of the program": ("error", "SystemExit", "raise SystemExit(0)"),
    "a message of two lines": ("error", "must be one line",
                               "InvalidArgument._lines = True; box.attempt(lambda: refuse('a\\nb'))"),
    "an empty message": ("error", "must be one line", "box.attempt(lambda: refuse(''))"),
    "a file": ("error", "left over: new.txt", "(box.folder / 'new.txt').touch()"),
    "a temporary file": ("error", "left over: ", "tempfile.mkstemp()"),
}


@pytest.fixture
def plant(tmp_path, monkeypatch):
    """A function that writes the surface planted.surface, whose case BAD runs `code`; returns its name."""
    def write(code: str, seed: int = 1) -> str:
        fault = random.Random(f"{seed} surface {BAD}").random()
        folder = tmp_path / "planted"
        folder.mkdir()
        (folder / "surface.py").write_text(SURFACE.format(fault=fault, code=code), encoding="utf-8")
        monkeypatch.setenv("PYTHONPATH", str(tmp_path))
        return "planted.surface"
    return write


def fuzz(report, *arguments) -> int:
    """The exit code of the fuzzer with one worker."""
    return main([*map(str, arguments), "--workers=1", f"--report={report}"])


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_fault_is_named_and_repeated_by_the_printed_command(plant, tmp_path, capsys, name):
    kind, part, code = PLANTED[name]
    surface, report = plant(code), tmp_path / "report.txt"
    assert fuzz(report, "--surface", surface, "--cases", PLANTED_CASES, "--seconds=5") == 1
    again = f"--surface {surface} --seed 1 --case {BAD}"
    text = report.read_text(encoding="utf-8")
    assert text.startswith(f"{kind}: python -m tools.fuzz {again}\n") and part in text and text.count("python -m") == 1
    output = capsys.readouterr()
    assert output.err == f"{kind}: python -m tools.fuzz {again}\n" and f"| {surface} | {PLANTED_CASES} |" in output.out
    assert fuzz(report, *again.split(), "--seconds=5") == 1
    assert report.read_text(encoding="utf-8").startswith(f"{kind}: ")


def test_memory_that_grows_from_case_to_case_is_a_fault(plant, tmp_path):
    surface = plant("pass")
    file = tmp_path / "planted" / "surface.py"
    file.write_text("kept = []\ndef setup(box): pass\ndef case(rng, box): kept.append(b'x' * 2_000_000)\n", encoding="utf-8")
    assert fuzz(tmp_path / "report.txt", "--surface", surface, "--cases=300") == 1
    assert "memory grew by " in (tmp_path / "report.txt").read_text(encoding="utf-8")


def test_the_compiler_is_loaded_before_the_memory_is_measured(tmp_path):
    code = "import sys; from pathlib import Path; from tools.fuzz import api; from tools.fuzz.case import Box\n" \
           "api.setup(Box(Path(sys.argv[1]))); sys.exit('Cython.Build' not in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], cwd=ROOT, check=False,
                          env=os.environ | {"ENVS_C_CACHE": str(tmp_path / "games")})
    assert done.returncode == 0


def test_a_surface_without_a_fault_ends_with_0_and_an_empty_report(plant, tmp_path, capsys):
    assert fuzz(tmp_path / "report.txt", "--surface", plant("pass"), "--cases", PLANTED_CASES) == 0
    assert (tmp_path / "report.txt").read_text(encoding="utf-8") == ""
    row = capsys.readouterr().out.splitlines()[2]
    assert re.fullmatch(rf"\| planted.surface \| {PLANTED_CASES} \| {PLANTED_CASES} \| 0 \| 0 \| \d+ \|", row)


def test_a_surface_that_always_crashes_is_given_up(plant, tmp_path):
    surface = plant("pass")
    (tmp_path / "planted" / "surface.py").write_text("import os\ndef setup(box): os.abort()\n", encoding="utf-8")
    assert fuzz(tmp_path / "report.txt", "--surface", surface, "--cases", PLANTED_CASES) == 1
    assert (tmp_path / "report.txt").read_text(encoding="utf-8").count("SIGABRT") == 1


@pytest.mark.parametrize("surface", ["states", "tables"])
def test_the_same_seed_gives_the_same_cases(surface):
    first, second, other = (pool.run([pool.Job(surface, 0, 19)], seed, 1, 60, pytest.fail)[surface].counts
                            for seed in (7, 7, 8))
    assert first == second != other


@pytest.mark.parametrize("name", ["evaluation.json", "metrics.jsonl"])
def test_a_file_that_was_cut_to_nothing_can_be_damaged_again(name, tmp_path):
    (tmp_path / name).touch()
    for seed in range(30):
        damaged.damage(random.Random(seed), tmp_path / name)
    assert (tmp_path / name).read_bytes() == b""


@pytest.mark.parametrize(("words", "text"), [
    (["--workers", "0"], "--workers must be at least 1, not 0"),
    (["--surface", "links", "--case", "two"], "--case must be a number, or two such as 0-12, not two"),
    (["--surface", "links", "--case", "3-"], "--case must be a number, or two such as 0-12, not 3-"),
])
def test_a_wrong_option_is_refused_in_a_line(words, text, tmp_path, capsys):
    with pytest.raises(SystemExit):
        main([*words, "--report", str(tmp_path / "report")])
    assert text in capsys.readouterr().err.splitlines()[-1]


def test_the_cases_are_divided_by_the_shares_of_the_surfaces():
    assert CASES % sum(SURFACES.values()) == 0  # whole numbers of cases
    todo = pool.jobs({"states": 25_000, "lines": 7}, 2)
    assert todo == [pool.Job("states", 0, 9999), pool.Job("states", 10_000, 19_999), pool.Job("states", 20_000, 24_999),
                    pool.Job("lines", 0, 3), pool.Job("lines", 4, 6)]


@pytest.mark.parametrize("surface", ["api", "states", "tables", "checkpoints"])
def test_a_surface_has_no_fault(surface, tmp_path):
    """The surfaces with fast cases: make fuzz, which CI runs too, tries all."""
    report = tmp_path / "report.txt"
    assert fuzz(report, f"--surface={surface}", "--cases=50", "--seed=2") == 0, report.read_text(encoding="utf-8")


@pytest.mark.slow
def test_no_surface_has_a_fault_in_a_million_cases(tmp_path):
    report = tmp_path / "report.txt"
    assert main(["--cases=1000000", "--seed=3", f"--report={report}"]) == 0, report.read_text(encoding="utf-8")
