"""Figures of a damaged or foreign run: each command leaves them out or says so in one line."""

import contextlib
import json

import numpy as np
import pytest
from log_support import CONFIG_OF_RUN, METRICS_OF_ITERATION, STEP, iterations

from trainer.__main__ import main
from trainer.config.config import overlay
from trainer.errors import CheckpointError, RunError
from trainer.log.curves import draw_curves
from trainer.runs import checkpoint
from trainer.runs.folder import CONFIG
from trainer.runs.metrics import METRICS, finite, read_metrics

COMMANDS = ["list", "report one", "report one two", "compare one two", "compare one two --group",
            "compare one two --json --group"]


@pytest.fixture
def runs(tmp_path, monkeypatch):
    """Two runs without checkpoints, with two seeds."""
    (tmp_path / "runs").mkdir()
    monkeypatch.chdir(tmp_path / "runs")
    for seed, name in enumerate(("one", "two")):
        iterations(tmp_path / "runs" / name, 1, 3, config=overlay(CONFIG_OF_RUN, {"run": {"seed": seed}}))
    return tmp_path / "runs"


def works(capsys, words: str) -> str:
    """What a command prints: a result, or an error of one line."""
    code = main([*words.split(), *(["--root", "."] if words == "list" else [])])
    out, err = capsys.readouterr()
    assert "Traceback" not in err and "Warning" not in err, (words, err)
    assert (code, err.count("\n")) in ((0, 0), (2, 1)), (words, code, err)
    return out + err


def change(folder, **values):
    """Change the entries of the metrics: a list has a value for each entry."""
    lines = [json.loads(line) for line in (folder / METRICS).read_bytes().splitlines()]
    for index, line in enumerate(lines):
        line.update({key: value[index] if isinstance(value, list) else value for key, value in values.items()})
    (folder / METRICS).write_text("".join(json.dumps(line) + "\n" for line in lines))


@pytest.mark.parametrize("values", [
    {"score_mean": [1e308, 1.0, 2.0]}, {"score_mean": [-1.7e308, 1.7e308, 0.0]}, {"score_mean": [1e100, -1e100, 0.0]},
    {"score_mean": [5e-324, -5e-324, 0.0]}, {"sps": 1e308}, {"seconds": [1e-320, 1e99, 1e100]}, {"step": [0, 2**62, 2**63 - 1]},
    {"step": True}, {"loss_value": [1e308, -1e308, 1e308]}, {"score_mean": 10**400}, {"step": [3, 2, 1]},
], ids=str)
@pytest.mark.filterwarnings("error")
def test_figures_that_cannot_be_drawn_are_no_traceback(runs, capsys, values):
    change(runs / "one", **values)
    for words in COMMANDS:
        works(capsys, words)
    with contextlib.suppress(RunError):  # no entry is left
        draw_curves(runs / "one")


@pytest.mark.parametrize("env", [None, 5, [], "x", {"options": 5}, {"options": [1]}])
def test_settings_that_are_no_table_are_one_line(runs, capsys, env):
    content = json.loads((runs / "one" / CONFIG).read_text())
    content["config"]["env"] = env
    (runs / "one" / CONFIG).write_text(json.dumps(content))
    for words in COMMANDS:
        assert "is damaged, or was written by another program" in works(capsys, words)


@pytest.mark.parametrize("value", [{"x": 1}, [1], "x", None, True, 10**400, 1e308])
def test_an_option_that_is_no_number_is_shown_as_it_is(runs, capsys, value):
    content = json.loads((runs / "one" / CONFIG).read_text())
    content["config"]["env"]["options"] = {"length": value}
    (runs / "one" / CONFIG).write_text(json.dumps(content))
    assert "length=" in works(capsys, "compare one two --group")


def test_what_is_written_can_be_read(tmp_path):
    scores = [1e308, np.float64(1e101), float("inf"), None, 1e100, np.float32(2)]
    for index, score in enumerate(scores, 1):
        iterations(tmp_path, index, index, metrics=METRICS_OF_ITERATION | {"score_mean": score},
                   resume_step=(index - 1) * STEP or None)
    assert [entry["score_mean"] for entry in read_metrics(tmp_path)] == [None, None, None, None, 1e100, 2.0]
    assert finite(True) == 1.0


@pytest.mark.parametrize(("name", "value"), [("seconds", -1.0), ("seconds", float("nan")), ("seconds", 1e101), ("seconds", "1"),
                                             ("recent", [[1e101, 3]]), ("recent", [[True, 3]])])
def test_a_checkpoint_with_impossible_progress_is_refused(tmp_path, name, value):
    meta = {"precision": "float32", "num_batches": 1, "iteration": 1, "seconds": 1.0, "episodes": 0, "recent": []}
    assert checkpoint.progress(tmp_path, meta) == meta | {"judged": [0, 0]}
    with pytest.raises(CheckpointError, match=f"{name} must be "):
        checkpoint.progress(tmp_path, meta | {name: value})
