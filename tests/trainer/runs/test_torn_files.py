"""Torn and damaged files of a run cost no more than what is damaged, and are one line of text."""

import json

import pytest
from log_support import STEP, iterations

from trainer.errors import RunError
from trainer.runs.metrics import METRICS, read_metrics
from trainer.runs.summary import EVALUATION, read_run

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
    for torn in [*(text[:end] for end in range(len(text))), DEEP, b"[]", b'{"mean": "x"}', b"\xff"]:
        (tmp_path / EVALUATION).write_bytes(torn)
        with pytest.raises(RunError, match=r"evaluation.json is damaged; move it away") as error:
            read_run(tmp_path)
        assert "\n" not in str(error.value)
    (tmp_path / EVALUATION).write_bytes(text)
    assert read_run(tmp_path).evaluation == 12.5
