"""Torn and damaged files of a run cost no more than what is damaged, and are one line of text."""

import json
import os

import pytest
from log_support import STEP, iterations

from trainer.__main__ import main
from trainer.errors import RunError
from trainer.runs.evaluation import EVALUATION
from trainer.runs.folder import CONFIG, write_config
from trainer.runs.metrics import METRICS, read_metrics
from trainer.runs.summary import read_run

DEEP = b"[" * 100_000


@pytest.mark.parametrize("line", [b"\0\0\0\0\n", b'{"step": 2, "sec\n', b"[]\n", DEEP + b"\n", b"\xff\n"],
                         ids=["zeros", "half a line", "no object", "deep", "no text"])
def test_a_damaged_line_of_the_metrics_costs_only_itself(tmp_path, line):
    iterations(tmp_path, 1, 4)
    lines = (tmp_path / METRICS).read_bytes().splitlines(keepends=True)
    (tmp_path / METRICS).write_bytes(b"".join([lines[0], line, *lines[2:]]))
    assert [entry["step"] for entry in read_metrics(tmp_path)] == [STEP, 3 * STEP, 4 * STEP]
    iterations(tmp_path, 5, 5, resume_step=4 * STEP)
    assert [entry["step"] for entry in read_metrics(tmp_path)] == [STEP, 3 * STEP, 4 * STEP, 5 * STEP]


@pytest.mark.parametrize("change", [
    {"step": -1}, {"step": 1.5}, {"step": 10**400}, {"seconds": "1"}, {"seconds": -1}, {"seconds": 10**400},
    {"seconds": float("nan")}, {"score_mean": "x"}, {"score_mean": 10**400}, {"score_mean": float("inf")}, {"sps": [1]},
    {"loss_value": {}}, {"anything": "else"},
], ids=str)
def test_a_line_of_the_metrics_with_other_values_costs_only_itself(tmp_path, change):
    iterations(tmp_path, 1, 3)
    lines = (tmp_path / METRICS).read_bytes().splitlines(keepends=True)
    damaged = json.dumps(json.loads(lines[1]) | change).encode() + b"\n"
    (tmp_path / METRICS).write_bytes(b"".join([lines[0], damaged, lines[2]]))
    assert [entry["step"] for entry in read_metrics(tmp_path)] == [STEP, 3 * STEP]


@pytest.mark.parametrize("content", [b"\0" * 99, b"\x89PNG\n", b"[]\n", b"5\n" * 9, b"{}\n"])
def test_metrics_of_another_program_are_not_overwritten(tmp_path, content):
    (tmp_path / METRICS).write_bytes(content)
    with pytest.raises(RunError, match=r"metrics.jsonl is damaged, or was written by another program; move it away"):
        iterations(tmp_path, 1, 1, resume_step=0)
    assert (tmp_path / METRICS).read_bytes() == content


def test_metrics_that_cannot_be_read_are_one_line(tmp_path):
    (tmp_path / METRICS).mkdir()
    with pytest.raises(RunError, match=r"cannot read .*metrics.jsonl: Is a directory; move it away"):
        read_metrics(tmp_path)
    (tmp_path / METRICS).rmdir()
    os.mkfifo(tmp_path / METRICS)
    with pytest.raises(RunError, match=r"cannot read .*metrics.jsonl: it is not a regular file"):
        read_metrics(tmp_path)


SAVED = {"config": {"game": "pong", "run": {"seed": 1}, "ppo": {"total_steps": 9}}, "sessions": [{"started": "2026-01-01"}]}


@pytest.mark.parametrize("content", [
    DEEP, b'{"a":' * 100_000, b"9" * 5000, json.dumps(SAVED).replace('"pong"', '"a\\nb"').encode(),
    json.dumps(SAVED).replace("9", "9" * 400).encode(), json.dumps(SAVED).replace('": 1', '": -1').encode(), None,
], ids=["deep list", "deep table", "digits", "a game with a newline", "many steps", "a negative seed", "a pipe"])
def test_a_damaged_config_is_one_line(tmp_path, capsys, content):
    run = tmp_path / "run"
    run.mkdir()
    (run / "best.safetensors").touch()
    if content is None:
        os.mkfifo(run / CONFIG)
    else:
        (run / CONFIG).write_bytes(content)
    assert main(["list", "--root", str(tmp_path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.startswith(str(run)) for line in lines] == [True] and ("is damaged" in lines[0] or content is None)


@pytest.mark.parametrize("sessions", ["{}", "5", '{"a": 1}', "[" * 9999, "null"])
def test_a_run_with_damaged_sessions_is_not_resumed(tmp_path, sessions):
    (tmp_path / CONFIG).write_text(f'{{"config": 1, "sessions": {sessions}}}')
    before = (tmp_path / CONFIG).read_bytes()
    with pytest.raises(RunError, match=r"config.json is damaged; move it away"):
        write_config(tmp_path, {}, {}, 0)
    assert (tmp_path / CONFIG).read_bytes() == before


@pytest.mark.parametrize("entry", [{"step": "2", "seconds": 1.0}, {"step": None, "seconds": 1.0}, {"step": 2, "seconds": "1"}])
def test_a_resumed_run_removes_entries_without_numbers(tmp_path, entry):
    iterations(tmp_path, 1, 1)
    with (tmp_path / METRICS).open("ab") as file:
        file.write(json.dumps(entry).encode() + b"\n")
    iterations(tmp_path, 2, 2, resume_step=STEP)
    assert [entry["step"] for entry in read_metrics(tmp_path)] == [STEP, 2 * STEP]


def test_a_torn_evaluation_is_one_line(tmp_path):
    iterations(tmp_path, 1, 1)
    text = json.dumps({"mean": 12.5, "episodes": 3}).encode()
    for torn in [*(text[:end] for end in range(len(text))), DEEP, b"[]", b'{"mean": "x"}', b"\xff", b'{"mean": %d}' % 10**400]:
        (tmp_path / EVALUATION).write_bytes(torn)
        with pytest.raises(RunError, match=r"evaluation.json is damaged; move it away") as error:
            read_run(tmp_path)
        assert "\n" not in str(error.value)
    (tmp_path / EVALUATION).write_bytes(text)
    assert read_run(tmp_path).evaluation == 12.5
