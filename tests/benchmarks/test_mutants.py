"""The mutation tester (benchmarks/mutants): what it plants, and that a planted fault is killed or survives."""


import pytest

from benchmarks.mutants import AREAS, cython_mutants, python_mutants
from benchmarks.mutants import __main__ as program

GAME = '''"""A game: a < b."""
cdef int* pointer
cdef unsigned char[:, ::1] view
cdef int step(State* state, int action) noexcept nogil:
    # a comment: 1 < 2
    if action == 1 and state.x < 80:
        state.x += 2
    return <int>(state.x - 1)
'''
CHANGED = ["action != 1 and", "action == 2 and", "1 or state", "x <= 80", "x < 81", "-= 2", "+= 3", "x + 1)", "x - 2)"]


def test_each_operator_number_and_word_of_a_cython_file_is_replaced_once_and_no_text_or_pointer():
    found = [cython_mutants.mutate(GAME, place) for place in cython_mutants.places(GAME)]
    assert len(found) == len(CHANGED) == len(set(found))
    assert all(part in mutant and part not in GAME for part, mutant in zip(CHANGED, found, strict=True))
    assert all(mutant.count("1 < 2") == mutant.count("a < b") == 1 for mutant in found)


def test_the_areas_have_sources_and_tests():
    for name, area in AREAS.items():
        assert program.files(area), name
        assert all((program.ROOT / test).exists() for test in area.tests[:2] if not test.startswith("-")), name


def test_the_copy_has_the_packages_but_no_builds_and_no_runs():
    """trainer/runs and trainer/results are packages; runs/ at the root are the user's."""
    top = program.left_out(str(program.ROOT), ["runs", "build", "trainer", "envs_c", "tests", "setup.py"])
    assert top == {"__pycache__", "runs", "build"}
    assert program.left_out(str(program.ROOT / "trainer"), ["runs", "results"]) == {"__pycache__"}


def test_without_cosmic_ray_the_message_says_what_installs_it(monkeypatch):
    monkeypatch.setattr(python_mutants, "mutate_code", None)
    with pytest.raises(ImportError, match="make mutants installs it"):
        python_mutants.places("x = 1")


def test_a_python_file_is_mutated_by_cosmic_ray():
    pytest.importorskip("cosmic_ray")
    source = "def half(x: int | None) -> float:\n    return x / 2\n"
    found = [python_mutants.mutate(source, place) for place in python_mutants.places(source)]
    assert [one.split("return ")[1] for one in found] == ["x * 2\n", "x / 3\n", "x / 1\n"]


@pytest.mark.parametrize(("check", "expected"), [("half(4) == 2", {"killed"}), ("True", {"survived"})])
def test_a_mutant_is_killed_if_a_test_fails(monkeypatch, tmp_path, capsys, check, expected):
    root, tree = tmp_path / "root", tmp_path / "copy"
    for folder in (root, tree):
        folder.mkdir()
        (folder / "small.py").write_text("def half(x):\n    return x // 2\n", encoding="utf-8")
        text = f"from small import half\ndef test_half():\n    assert {check}\n"
        (folder / "test_small.py").write_text(text, encoding="utf-8")
    monkeypatch.setattr(program, "ROOT", root)
    monkeypatch.setattr(program, "TREE", tree)
    monkeypatch.setattr(program, "PYTEST", (*program.PYTEST[:-2], "-c", "/dev/null", f"--rootdir={tree}"))
    monkeypatch.setattr(python_mutants, "places", lambda source: [("//", "*")])
    monkeypatch.setattr(python_mutants, "mutate", lambda source, place: source.replace(*place))
    area = program.Area(("small.py",), ("test_small.py",))
    found = list(program.test(area, 5, program.random.Random(1)))
    assert {verdict for _, verdict in found} == expected
    assert found[0][0].difference() == "small.py:2\n-     return x // 2\n+     return x * 2"
    assert (tree / "small.py").read_text(encoding="utf-8") == (root / "small.py").read_text(encoding="utf-8")


@pytest.mark.parametrize(("words", "message"), [
    (["nowhere"], "AREA must be one of ppo, "),
    (["ppo", "--sample=0"], "argument --sample: must be an integer of at least 1, not 0")])
def test_wrong_options_are_named(words, message, capsys):
    with pytest.raises(SystemExit):
        program.main(words)
    assert message in capsys.readouterr().err


def test_the_page_counts_only_mutants_that_ran():
    text = program.page({"pong": program.Counter({"killed": 3, "survived": 1, "not compiled": 2})}, ["pong.pyx:1\n- a\n+ b"])
    assert "| pong | 6       | 3      | 1        | 2            | 75%" in text and "- a\n+ b" in text


