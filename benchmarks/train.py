"""Steps per second of training: `python -m benchmarks.train`.

Breakout's 118 features, an encoder and an LSTM of size 128, 1,024 environments, horizon 64, one epoch, on the CPU. The same
run also measures two things for comparison: the speed of training if only its matrix products took time, and the learner's
forward and backward pass beside that of torch's own LSTM.
"""

import statistics
from pathlib import Path

import torch

from benchmarks.common import at_least, head, median_seconds, new_parser, publish
from envs_c.machine import cores
from trainer import kernels
from trainer.config import Config, EnvConfig, PolicyConfig, PPOConfig, RunConfig
from trainer.log.numbers import count
from trainer.log.text import markdown
from trainer.policy.lstm import LstmPolicy
from trainer.policy.precision import measure
from trainer.training.build import make_session
from trainer.training.train import iterate

FEATURES, SIZE, ACTIONS = 118, 128, 4
# FLOP per step. A forward pass has two per multiply-add. The rollout is one forward pass; learning is another one and a
# backward pass, which costs as much as two.
FLOP = 2 * (FEATURES * SIZE + 2 * SIZE * 4 * SIZE + SIZE * (ACTIONS + 1)) * 4
DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}


def config(precision: str, threads: int, minibatch: int) -> Config:
    return Config("breakout", EnvConfig(num_envs=1024, num_threads=threads),
                  PolicyConfig(encoder_size=SIZE, lstm_size=SIZE, precision=precision, noise_hold=1),
                  PPOConfig(horizon=64, minibatch=minibatch, epochs=1, total_steps=10**9, normalize_rewards=False),
                  RunConfig(device="cpu"))


def end_to_end(precision: str, threads: int, minibatch: int, iterations: int) -> list[str]:
    """Return a row of the table: steps/s of training and of the products only, their ratio, and the share of each stage."""
    session = make_session(config(precision, threads, minibatch))
    for _ in range(2):
        iterate(session)
    metrics = [iterate(session) for _ in range(iterations)]
    speed = statistics.median(m["sps"] for m in metrics)
    stages = {key: statistics.median(m[f"time_{key}"] for m in metrics)
              for key in ("env", "forward", "sample", "learn", "other")}
    total = session.config.batch_steps / speed
    dtype = DTYPES[precision]
    limit = measure(torch.device("cpu"), (dtype,), rows=4096)[dtype] / FLOP
    return [precision, threads, f"{minibatch:,}", count(speed), count(limit), f"{speed / limit:.0%}",
            *(f"{seconds / total:.0%}" for seconds in stages.values())]


def torch_lstm(dtype: torch.dtype, steps: int, batch: int):
    """Return a function: a forward and backward pass of torch's own layers, which cannot reset the state within a sequence."""
    encoder = torch.nn.Linear(FEATURES, SIZE).to(dtype)
    lstm, heads = torch.nn.LSTM(SIZE, SIZE).to(dtype), torch.nn.Linear(SIZE, ACTIONS + 1).to(dtype)
    observation = torch.randn(steps, batch, FEATURES).to(dtype)

    def work():
        heads(lstm(encoder(observation).relu())[0]).float().square().mean().backward()
    return work


def ours(dtype: torch.dtype, steps: int, batch: int):
    """Return a function: a forward and backward pass of the policy."""
    policy = LstmPolicy((FEATURES,), ACTIONS, SIZE, SIZE, precision=dtype)
    observation, start = torch.randn(steps, batch, 1, FEATURES).to(dtype), (torch.rand(steps, batch) < 0.01).float()
    state = policy.initial_state(batch)

    def work():
        logits, value = policy.unroll(observation, start, state)
        (logits.square().mean() + value.square().mean()).backward()
    return work


def learner(name: str, dtype: torch.dtype, batch: int) -> list[str]:
    """Return a row of the table: forward and backward pass of 64 steps by the policy, with plain kernels, and by torch."""
    steps = 64
    speeds = [steps * batch / median_seconds(work, rounds=5, seconds=0.5)
              for work in (ours(dtype, steps, batch), torch_lstm(dtype, steps, batch))]
    with kernels.use_reference():
        plain = steps * batch / median_seconds(ours(dtype, steps, batch), rounds=3, seconds=0.5)
    return [name, f"{steps} x {batch}", count(speeds[0]), count(plain), count(speeds[1]), f"{speeds[0] / speeds[1]:.1f}"]


def main():
    parser = new_parser("train", __doc__)
    parser.add_argument("--precision", choices=DTYPES, action="append",
                        help="precision; repeat the option for several (default: all)")
    parser.add_argument("--threads", type=at_least(0), default=0, help="number of threads (default: all cores)")
    parser.add_argument("--minibatch", type=at_least(1), action="append", metavar="STEPS",
                        help="steps of a minibatch; repeat the option for several (default: 32768)")
    parser.add_argument("--iterations", type=at_least(1), default=15, help="measured iterations (default: 15)")
    parser.add_argument("--out", type=Path, help="file to write the tables to")
    options = parser.parse_args()
    precisions = options.precision or list(DTYPES)
    runs = [end_to_end(name, options.threads or cores(), minibatch, options.iterations)
            for name in precisions for minibatch in options.minibatch or [32_768]]
    learners = [learner(name, DTYPES[name], batch) for name in precisions for batch in (64, 512)]
    publish(head("Training steps per second") + "\n" + markdown(
        ["precision", "threads", "minibatch", "steps/s", "products only", "ratio", "games", "forward", "sample", "learn",
         "other"], runs) + "\nForward and backward pass of complete sequences, steps/s:\n\n" + markdown(
        ["precision", "steps x environments", "insertcoin", "plain kernels", "torch's LSTM, no resets", "insertcoin / torch"],
        learners), options.out)


if __name__ == "__main__":
    main()
