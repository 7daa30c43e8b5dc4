"""A job of one rank sums its gradients with NCCL; `pytest -m gpu`. More ranks than GPUs are an error."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from bridge import why_no_gpu
from trainer.runs import checkpoint

pytestmark = [pytest.mark.gpu, pytest.mark.skipif(bool(why_no_gpu()), reason=why_no_gpu())]

SETTINGS = ["breakout", "--num-envs", "64", "--horizon", "16", "--minibatch", "512", "--total-steps", str(4 * 64 * 16),
            "--device", "cuda", "--encoder-size", "32", "--lstm-size", "24", "--precision", "float32", "--no-dashboard",
            "--no-gif", "--eval-episodes", "2", "--num-batches", "2", "--normalize-rewards"]


def started(ranks: int, *arguments) -> subprocess.CompletedProcess:
    """Runs the trainer, with torchrun if there are several ranks."""
    torchrun = ["-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={ranks}"] if ranks else []
    return subprocess.run([sys.executable, *torchrun, "-m", "trainer", *map(str, arguments)], cwd=Path(__file__).parents[2],
                          text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300, env={**os.environ})


def test_one_rank_over_nccl_goes_the_way_of_one_process_and_each_resumes_the_other(tmp_path):
    for name, ranks in (("job", 1), ("alone", 0)):
        done = started(ranks, *SETTINGS, "--run-dir", tmp_path / name, "--stop-at", 2 * 64 * 16)
        assert done.returncode == 0, done.stdout
    job, alone = (checkpoint.load(checkpoint.latest(tmp_path / name))[0] for name in ("job", "alone"))
    assert job.keys() == alone.keys() and torch.equal(job["generator"], alone["generator"])
    for name, tensor in alone.items():
        if name.startswith("policy."):
            torch.testing.assert_close(job[name], tensor, rtol=2e-3, atol=2e-3, msg=name)
    for name, ranks in (("job", 0), ("alone", 1)):
        done = started(ranks, "--resume", tmp_path / name)
        assert done.returncode == 0 and "evaluation: raw scores" in done.stdout, done.stdout
        steps = [json.loads(line)["step"] for line in (tmp_path / name / "metrics.jsonl").read_text().splitlines()]
        assert steps == [64 * 16 * (k + 1) for k in range(4)]


def test_more_ranks_than_gpus_are_refused_in_a_sentence(tmp_path):
    count = torch.cuda.device_count()
    done = started(count + 1, *SETTINGS, "--num-envs", str(64 * (count + 1)), "--run-dir", tmp_path / "run")
    assert done.returncode != 0
    assert done.stdout.count(f"{count + 1} ranks were started on a machine with {count} GPU") == 1
