"""Work that CUDA refuses to capture runs without a graph; `pytest -m gpu`. Its process captures nothing later."""

import os
import re
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from bridge import why_no_gpu

pytestmark = [pytest.mark.gpu, pytest.mark.skipif(bool(why_no_gpu()), reason=why_no_gpu())]

ROOT = Path(__file__).parents[2]


def main():
    """Print the warnings of five rollouts whose work waits for the device, and the part of actions equal to those without."""
    import torch

    from trainer.config import Config, EnvConfig, PolicyConfig, PPOConfig, RunConfig
    from trainer.rollout.actor import BatchStep, collect
    from trainer.training.build import make_session
    config = Config("breakout", EnvConfig(num_envs=96, num_batches=3), PolicyConfig(encoder_size=32, lstm_size=24),
                    PPOConfig(horizon=16, minibatch=768, total_steps=10**6), RunConfig(seed=5, device="cuda"))

    def played() -> torch.Tensor:
        made = make_session(config)
        for _ in range(5):
            collect(made.actor)
        torch.cuda.synchronize()
        return made.storage.action.cpu()
    original = BatchStep._forward

    def synchronizing(self, over, h, c, **last):
        over.sum().item()
        return original(self, over, h, c, **last)
    before = torch.cuda.current_stream()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", RuntimeWarning)
        BatchStep._forward = synchronizing
        waiting = played()
        BatchStep._forward = original
        plain = played()
    for one in caught:
        print(one.message)
    print(f"equal: {(waiting == plain).float().mean().item():.3f}, stream restored: {torch.cuda.current_stream() == before}")
    torch.cuda.manual_seed(3)
    first = torch.rand(5, device="cuda")
    torch.cuda.manual_seed(3)
    print(f"random numbers repeat: {torch.equal(first, torch.rand(5, device='cuda'))}, differ: {first.unique().numel()}")


def test_work_that_cannot_be_captured_runs_without_a_graph_after_one_warning():
    paths = [str(ROOT), os.environ.get("PYTHONPATH", "")]  # the second may hold packages
    done = subprocess.run([sys.executable, __file__], capture_output=True, text=True, cwd=ROOT, check=False,
                          env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))})
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("a batch step cannot be captured as a graph") == 1
    share, restored = re.search(r"equal: ([\d.]+), stream restored: (\w+)", done.stdout).groups()
    assert float(share) > 0.98 and restored == "True"
    assert "random numbers repeat: True, differ: 5" in done.stdout


if __name__ == "__main__":
    main()
