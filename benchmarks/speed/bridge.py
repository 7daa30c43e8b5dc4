"""Cost of the bridge on the CPU: `python -m benchmarks.speed.bridge`.

The same policy steps the same games in two loops: through `bridge.Pipeline`, and by hand, on tensors to which the games write
directly. Both loops do the same arithmetic on the same shapes. Their rounds alternate, so a disturbance of the machine affects
both.
"""

import statistics
import time
from pathlib import Path

import torch

import envs_c
from benchmarks.common import at_least, head, new_parser, publish
from bridge import Pipeline, Slab
from envs_c.machine import cores
from trainer import kernels
from trainer.log.numbers import count
from trainer.log.text import markdown
from trainer.policy.lstm import LstmPolicy
from trainer.policy.policy import StepSpace

SIZE = 128


class Acting:
    """A policy's step in all environments, which both loops share.

    num_envs: number of environments.
    shape: of one observation.
    num_actions: number of actions.
    """

    def __init__(self, num_envs: int, shape: tuple[int, ...], num_actions: int):
        self.policy = LstmPolicy(shape, num_actions, SIZE, SIZE)
        self.weights, self.space = self.policy.cast_weights(), StepSpace(self.policy, num_envs)
        self.h, self.c = self.policy.initial_state(num_envs)
        self.keep, self.log_prob = torch.ones(num_envs), torch.zeros(num_envs)
        self.step = 0

    @torch.no_grad()
    def __call__(self, observation, actions):
        out = self.policy.step(self.weights, observation[:, None], self.keep, self.keep, self.h, self.c, self.space)
        kernels.sample(out, None, 1, 0, self.step, actions, self.log_prob, self.policy.num_actions)
        self.step += 1


def by_hand(env, acting: Acting):
    """Return a function that steps all environments without the pipeline."""
    slab = Slab(env.num_envs, env.observation_shape, env.observation_dtype)
    batch = env.bind(0, env.num_envs, actions=slab.host_actions, **slab.host)
    batch.reset()

    def step():
        acting(slab.observation, slab.actions)
        batch.step()
    return step


def through_the_bridge(env, acting: Acting):
    """Return a function that steps all environments through the pipeline."""
    pipeline = Pipeline(env)
    pipeline.reset()
    slab, (batch,) = pipeline.slabs[0], pipeline.batches

    def work():
        acting(slab.observation, slab.actions)
    return lambda: pipeline.turn(batch, work)


def measure(game: str, num_envs: int, rounds: int, steps: int) -> list[str]:
    """Return a row of the table: steps/s of both loops, and the median of the added time."""
    loops = []
    for make in (by_hand, through_the_bridge):
        env = envs_c.VecEnv(envs_c.game(game), num_envs, seed=1)
        loops.append(make(env, Acting(num_envs, env.observation_shape, len(env.actions))))
    seconds: list[list[float]] = [[], []]
    for round_ in range(rounds + 1):  # round 0 warms up
        for which in ((0, 1) if round_ % 2 else (1, 0)):
            begin = time.perf_counter()
            for _ in range(steps):
                loops[which]()
            if round_:
                seconds[which].append(time.perf_counter() - begin)
    added = statistics.median(bridge / hand - 1 for hand, bridge in zip(*seconds, strict=True))
    return [game, f"{num_envs:,}", *(count(num_envs * steps / statistics.median(times)) for times in seconds), f"{added:+.1%}"]


def main():
    parser = new_parser("speed.bridge", __doc__)
    parser.add_argument("--rounds", type=at_least(1), default=60, help="rounds of each loop (default: 60)")
    parser.add_argument("--steps", type=at_least(1), default=50, help="steps per round (default: 50)")
    parser.add_argument("--out", type=Path, help="file to write the table to")
    options = parser.parse_args()
    torch.set_num_threads(cores())
    rows = [measure("breakout", num_envs, options.rounds, options.steps) for num_envs in (64, 256, 1024, 4096)]
    publish(head("Cost of the bridge on the CPU") + "\n" + markdown(
        ["game", "environments", "by hand, steps/s", "through the bridge", "added by the bridge"], rows), options.out)


if __name__ == "__main__":
    main()
