"""Steps a second of training: `python -m benchmarks.train`.

Breakout's 118 features through an encoder and an LSTM of 128, 1,024 environments, horizon 64, minibatch 32,768, one epoch,
on the CPU. Beside it stand what this machine's matrix products alone would allow, measured in the same run, and the
learner's parts beside torch's own LSTM.
"""

import argparse
import statistics
from pathlib import Path

import torch

from benchmarks.common import head, median_seconds, publish, rate, table
from envs_c.checks import cores
from trainer import kernels
from trainer.config import Config, EnvConfig, PolicyConfig, PPOConfig, RunConfig
from trainer.policy.policy import LstmPolicy
from trainer.policy.precision import product_speed
from trainer.training.session import Session
from trainer.training.train import iterate

FEATURES, SIZE, ACTIONS = 118, 128, 4
# multiply-adds of one step's forward pass, twice for FLOP; forward in the rollout and in learning, twice that backward
FLOP = 2 * (FEATURES * SIZE + 2 * SIZE * 4 * SIZE + SIZE * (ACTIONS + 1)) * 4
DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}


def config(precision: str, threads: int) -> Config:
    return Config("breakout", EnvConfig(num_envs=1024, num_threads=threads),
                  PolicyConfig(encoder_size=SIZE, lstm_size=SIZE, precision=precision),
                  PPOConfig(horizon=64, minibatch=32_768, epochs=1, total_steps=10**9), RunConfig(device="cpu"))


def end_to_end(precision: str, threads: int, iterations: int) -> list[str]:
    """A row: training's steps a second, where the time goes, and what the products alone would allow."""
    session = Session(config(precision, threads))
    for _ in range(2):
        iterate(session)
    metrics = [iterate(session) for _ in range(iterations)]
    speed = statistics.median(m["sps"] for m in metrics)
    stages = {key: statistics.median(m[f"time_{key}"] for m in metrics)
              for key in ("env", "forward", "sample", "learn", "other")}
    total = session.config.batch_steps / speed
    limit = product_speed(DTYPES[precision], torch.device("cpu"), rows=4096, seconds=1.0) / FLOP
    return [precision, threads, rate(speed), rate(limit), f"{speed / limit:.0%}",
            *(f"{seconds / total:.0%}" for seconds in stages.values())]


def torch_lstm(dtype: torch.dtype, steps: int, batch: int):
    """Forward and backward of torch's own layers, which cannot reset an episode within a sequence."""
    encoder = torch.nn.Linear(FEATURES, SIZE).to(dtype)
    lstm, heads = torch.nn.LSTM(SIZE, SIZE).to(dtype), torch.nn.Linear(SIZE, ACTIONS + 1).to(dtype)
    observation = torch.randn(steps, batch, FEATURES).to(dtype)

    def work():
        heads(lstm(encoder(observation).relu())[0]).float().square().mean().backward()
    return work


def ours(dtype: torch.dtype, steps: int, batch: int):
    """Forward and backward of the policy."""
    policy = LstmPolicy((FEATURES,), ACTIONS, SIZE, SIZE, precision=dtype)
    observation, start = torch.randn(steps, batch, 1, FEATURES).to(dtype), (torch.rand(steps, batch) < 0.01).float()
    state = policy.initial_state(batch)

    def work():
        logits, value = policy.unroll(observation, start, state)
        (logits.square().mean() + value.square().mean()).backward()
    return work


def learner(name: str, dtype: torch.dtype, batch: int) -> list[str]:
    """A row: forward plus backward of 64 steps, ours, with plain kernels, and torch's."""
    steps = 64
    speeds = [steps * batch / median_seconds(work, rounds=5, seconds=0.5)
              for work in (ours(dtype, steps, batch), torch_lstm(dtype, steps, batch))]
    with kernels.use_reference():
        plain = steps * batch / median_seconds(ours(dtype, steps, batch), rounds=3, seconds=0.5)
    return [name, f"{steps} x {batch}", rate(speeds[0]), rate(plain), rate(speeds[1]), f"{speeds[0] / speeds[1]:.1f}"]


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.train", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--precision", choices=DTYPES, action="append", help="only this precision (may be given twice)")
    parser.add_argument("--threads", type=int, default=0, help="threads (default: all cores)")
    parser.add_argument("--iterations", type=int, default=15, help="iterations to take the median of (default: 15)")
    parser.add_argument("--out", type=Path, help="write the tables to this file, too")
    options = parser.parse_args()
    precisions = options.precision or list(DTYPES)
    runs = [end_to_end(name, options.threads or cores(), options.iterations) for name in precisions]
    learners = [learner(name, DTYPES[name], batch) for name in precisions for batch in (64, 512)]
    publish(head("Training steps a second") + "\n" + table(
        ["products in", "threads", "steps/s", "products alone", "of that", "games", "forward", "sample", "learn", "other"],
        runs) + "\nForward plus backward of whole sequences, steps/s:\n\n" + table(
        ["products in", "steps x environments", "ours", "plain kernels", "torch's LSTM, no resets", "ours / torch's"],
        learners), options.out)


if __name__ == "__main__":
    main()
