"""`python -m trainer profile` writes a trace that names the stages of each batch, and a table of them."""

import gzip
import json
import re
import subprocess
import sys

import pytest

from trainer.config import Config, EnvConfig, PolicyConfig, PPOConfig, RunConfig
from trainer.training.profile import profile_run


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


@pytest.mark.slow  # a process that imports torch
def test_the_verb_prints_the_table_and_nothing_of_others(tmp_path):
    words = "profile cartpole --iterations 1 --num-envs 8 --horizon 8 --minibatch 32 --device cpu --out trace.json"
    done = subprocess.run([sys.executable, "-m", "trainer", *words.split()], cwd=tmp_path, capture_output=True, text=True,
                          check=False)
    assert done.returncode == 0
    assert [line[:12] for line in done.stdout.splitlines()[:3]] == ["cartpole: 1 ", "kernels: adv", "stage       "]
    assert [line for line in done.stderr.splitlines() if not line.startswith("trace.json: the trace")] == []
