"""The number of batches of a training on a GPU, chosen by playing: each is tried with the games and the policy themselves.

More batches hide more of the copies and of the policy's work behind the games; each has its launches, copies and waits. What
this comes to depends on games, policy, GPU, bus and cores, so a rollout is timed for 1, 2, 4, ... batches until more are
slower.
"""

import contextlib
import gc
import statistics
import time

import torch

from bridge import Pipeline
from bridge.interfaces import Device
from trainer.config import Config
from trainer.environments import make_source
from trainer.policy.make import make_policy
from trainer.rollout.actor import Actor, play
from trainer.rollout.storage import Storage

COUNTS = (1, 2, 4, 8, 16)  # numbers of batches to choose from
WORTH = 1.05               # least speed-up for which more batches are taken
WORSE = 1.25               # a number that takes this many times the best one's time ends the trials
HORIZON = 8                # steps of a rollout
ROLLOUTS, SECONDS = 5, 0.2  # of each number, at least, after a first rollout in which the graphs are captured


def choose(share: Config, device: Device, precision: torch.dtype, *, graphs: bool) -> tuple[int, str]:
    """The number of batches and the reason: as set, or measured if copies and games can overlap.

    share: this rank's.
    precision: of the policy's products.
    graphs: whether work is captured.
    """
    env = share.env
    if env.sim != "host":
        return 1, "the games are played on the device"
    if env.num_batches:
        return env.num_batches, "as asked"
    if not device.stream().copies:
        return 1, "nothing is copied on the CPU"
    seconds: dict[int, float] = {}
    for count in (count for count in COUNTS if count <= env.num_envs):
        seconds[count] = step_seconds(share, device, precision, count, graphs)
        gc.collect()  # the parts refer to each other
        torch.cuda.empty_cache()
        if seconds[count] > WORSE * min(seconds.values()):
            break
    best = fewest(seconds)
    listed = ", ".join(f"{count}: {1e6 * taken:.0f}" for count, taken in seconds.items())
    return best, f"measured microseconds per step of all environments, by number of batches: {listed}"


def fewest(seconds: dict[int, float]) -> int:
    """The smallest number of batches whose time is within WORTH of the best. seconds: by number of batches."""
    return next(count for count, taken in sorted(seconds.items()) if taken <= WORTH * min(seconds.values()))


def step_seconds(share: Config, device: Device, precision: torch.dtype, count: int, graphs: bool) -> float:
    """The median seconds of a step of all environments, in `count` batches, with a policy that has not learned."""
    source = make_source(share.game, share.env, share.env.num_envs, share.run.seed, count)
    with contextlib.closing(Pipeline(source, count, device, graphs=graphs)) as pipeline:
        policy = make_policy(share.policy, source, share.run.seed, precision).to(device.torch_device)
        actor = Actor(policy, pipeline, Storage.empty(HORIZON, pipeline, policy), share.run.seed,
                      noise_hold=share.policy.noise_hold, noise_hold_after=share.policy.noise_hold_after)
        pipeline.reset()
        _rollout(actor)
        times, begin = [], time.perf_counter()
        while len(times) < ROLLOUTS or time.perf_counter() - begin < SECONDS:
            times.append(_rollout(actor))
    return statistics.median(times) / HORIZON


def _rollout(actor: Actor) -> float:
    """Play a rollout to its end, and return its seconds."""
    begin = time.perf_counter()
    play(actor, bootstrap=False)
    actor.pipeline.settle()
    return time.perf_counter() - begin
