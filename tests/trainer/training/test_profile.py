"""`python -m trainer profile` writes a trace that names the stages of each batch, and a table of them."""

import gzip
import json
import re
import subprocess
import sys
from types import SimpleNamespace

import pytest

from trainer.config import Config, EnvConfig, PolicyConfig, PPOConfig, RunConfig
from trainer.training.profile import profile_run, table


def test_the_trace_and_the_table_name_the_stages_of_every_batch(tmp_path):
    config = Config("cartpole", EnvConfig(num_envs=8, num_batches=2, num_threads=1), PolicyConfig(encoder_size=8, lstm_size=8),
                    PPOConfig(horizon=8, minibatch=32), RunConfig(device="cpu"))
    out = tmp_path / "trace.json.gz"
    report = profile_run(config, 2, out)
    with gzip.open(out) as file:
        names = {event.get("name") for event in json.load(file)["traceEvents"]}
    for batch in (0, 1):
        assert {f"{stage}, batch {batch}" for stage in ("play", "work on the device", "forward", "sample")} <= names
    assert {"advantages", "minibatch"} <= names
    counts = dict(re.findall(r"^(.*?) {2,}(\d+) ", report, re.MULTILINE))
    assert counts["play, batch 1"] == "8" and counts["minibatch"] == "2" and counts["iteration"] == "1"
    assert report.startswith("cartpole: 2 iterations of 64 steps, device cpu")
    assert report.splitlines()[1].startswith("kernels: ") and " advantages cpu, " in report.splitlines()[1]


def test_the_table_has_the_milliseconds_of_one_iteration_and_their_share_of_it():
    events = [SimpleNamespace(key="minibatch", count=8, cpu_time_total=6000.0, device_time_total=2000.0),  # microseconds
              SimpleNamespace(key="play, batch 1", count=4, cpu_time_total=1000.0),
              SimpleNamespace(key="aten::mm", count=4, cpu_time_total=1000.0)]
    rows = [re.split(r" {2,}", line) for line in table(events, 2, 0.01).splitlines()]
    assert rows == [["stage", "times", "host ms", "share", "device ms"], ["iteration", "1", "5.00", "100%", ""],
                    ["play, batch 1", "2", "0.50", "10%", "0.00"], ["minibatch", "4", "3.00", "60%", "1.00"]]


@pytest.mark.slow  # a process that imports torch
def test_the_verb_prints_the_table_and_nothing_of_others(tmp_path):
    words = "profile cartpole --iterations 1 --num-envs 8 --horizon 8 --minibatch 32 --device cpu --out trace.json"
    done = subprocess.run([sys.executable, "-m", "trainer", *words.split()], cwd=tmp_path, capture_output=True, text=True,
                          check=False)
    assert done.returncode == 0
    assert [line[:12] for line in done.stdout.splitlines()[:3]] == ["cartpole: 1 ", "kernels: adv", "stage       "]
    assert [line for line in done.stderr.splitlines() if not line.startswith("trace.json: the trace")] == []
