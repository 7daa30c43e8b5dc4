"""An evaluation counts for the checkpoint that it is of, and for no other step of its run."""

import json
import shutil

import pytest
from run_support import make_run, summary
from trainer_support import ROLLOUT, config
from verb_support import refused, run

from trainer.results import report
from trainer.runs.evaluation import EVALUATION
from trainer.runs.folder import CONFIG
from trainer.runs.summary import read_run
from trainer.training.train import train


@pytest.fixture
def evaluated(tmp_path, monkeypatch):
    """A working folder with a finished and evaluated run, runs/one, and a longer one, runs/two."""
    monkeypatch.chdir(tmp_path)
    for name, iterations in (("one", 2), ("two", 4)):
        train(config(tmp_path / "runs" / name, iterations=iterations, eval_episodes=3))
    return tmp_path / "runs" / "one"


def column(table: str, name: str, label: str) -> str:
    """A cell of a table with aligned columns: of the row that begins with `label`."""
    head, *rows = table.splitlines()
    row = next(row for row in rows if row.startswith(label))
    end = head.index(name) + len(name)
    return row[:end].split()[-1]


def test_the_evaluation_of_a_shorter_training_does_not_count(evaluated, capsys):
    assert json.loads((evaluated / EVALUATION).read_text())["step"] == 2 * ROLLOUT
    assert column(run(capsys, "list"), "evaluation", "one") != "-"
    run(capsys, f"--resume one --total-steps {3 * ROLLOUT} --eval-episodes 0")
    assert column(run(capsys, "list"), "evaluation", "one") == "-"
    assert column(run(capsys, "list"), "evaluation", "two") != "-"
    compared = run(capsys, "compare one two")
    assert column(compared, "evaluation", "one") == "-" and column(compared, "evaluation", "two") != "-"
    run(capsys, "report one")
    for page in ((evaluated / "report.html").read_text(), report.page([evaluated]).decode()):
        assert "There is no evaluation yet" in page and "<b>-</b><span>evaluation</span>" in page
    run(capsys, f"--resume one --total-steps {4 * ROLLOUT} --eval-episodes 3")
    assert column(run(capsys, "list"), "evaluation", "one") != "-"


def test_the_evaluation_of_steps_that_were_given_up_does_not_count(evaluated, capsys):
    first = min(evaluated.glob("step_*.safetensors"))
    run(capsys, f"--resume {first} --stop-at {ROLLOUT} --eval-episodes 0")
    assert read_run(evaluated).evaluation is None


@pytest.mark.parametrize(("step", "newest", "counts"), [
    (4096, [2048, 4096], True), (4096, [2048, 8192], False), (4096, [2048], False), (0, [0], True),
    (4096, [], True), (None, [8192], True)])
def test_an_evaluation_counts_for_the_last_checkpoint(tmp_path, step, newest, counts):
    folder = make_run(tmp_path / "run", evaluation=5)
    (folder / EVALUATION).write_text(json.dumps(summary(5) | ({} if step is None else {"step": step})))
    (folder / "best.safetensors").touch()
    for one in newest:
        (folder / f"step_{one:012d}.safetensors").touch()
    found = read_run(folder)
    assert (found.evaluation, bool(found.evaluations)) == ((5.0, True) if counts else (None, False))


@pytest.mark.parametrize("content", ["{", '{"mean": "x"}', '{"mean": 1, "step": -1}', '{"mean": 1, "step": "x"}', None],
                         ids=["torn", "no mean", "a negative step", "a step of text", "a folder"])
def test_a_damaged_evaluation_ends_a_resumed_training_at_its_start(evaluated, capsys, content):
    (evaluated / EVALUATION).unlink()
    if content is None:
        (evaluated / EVALUATION).mkdir()
    else:
        (evaluated / EVALUATION).write_text(content)
    before = {path.name: path.read_bytes() for path in evaluated.iterdir() if path.is_file()}
    error = refused(capsys, f"--resume one --total-steps {3 * ROLLOUT}")
    if content is None:
        assert "cannot read runs/one/evaluation.json: " in error and error.rstrip().endswith("or move it away")
    else:
        assert "evaluation.json is damaged; move it away" in error
    assert {path.name: path.read_bytes() for path in evaluated.iterdir() if path.is_file()} == before
    shutil.move(evaluated / EVALUATION, evaluated.parent / "away")
    run(capsys, f"--resume one --total-steps {3 * ROLLOUT}")


@pytest.mark.parametrize("name", [CONFIG, "episode.gif", "report.html", "curves.png", "metrics.jsonl", "README.md"])
def test_a_folder_in_the_place_of_a_file_ends_a_resumed_training_at_its_start(evaluated, capsys, name):
    (evaluated / name).unlink(missing_ok=True)
    (evaluated / name).mkdir()
    error = refused(capsys, f"--resume one --total-steps {3 * ROLLOUT}")
    assert f"runs/one/{name} is a folder, and a training writes a file of this name: move it away" in error
