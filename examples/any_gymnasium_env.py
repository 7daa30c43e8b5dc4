"""Steps any Gymnasium vector environment through the pipeline, which overlaps stepping, copying and the policy.

    python -m examples.any_gymnasium_env

The two vector environments are two batches: one is stepped in a thread while the policy works on the other. The results of a
batch are in its slab on the device; the policy, random in this example, writes its actions to the same slab.
"""

from collections.abc import Callable

import gymnasium
import torch

from bridge import GymnasiumSource, Pipeline, open_device
from bridge.pipeline import BatchRange

envs = [gymnasium.make_vec("Acrobot-v1", 8, vectorization_mode="sync") for _ in range(2)]
pipeline = Pipeline(GymnasiumSource(envs, seed=1), num_batches=2, device=open_device("auto"))
reward = torch.zeros((), device=pipeline.device)


def policy(batch: BatchRange) -> Callable[[], None]:
    """Returns the work for a batch: a function that reads the slab's tensors and writes its actions."""
    slab = pipeline.slab(batch)

    def work() -> None:
        reward.add_(slab.reward.sum())
        slab.actions.random_(0, pipeline.num_actions)
    return work


works = [policy(batch) for batch in pipeline.batches]
pipeline.reset()
for _ in range(1000):
    for batch in pipeline.batches:
        pipeline.turn(batch, works[batch.index])
pipeline.settle()
episodes = pipeline.take_episodes()
print(f"{len(episodes.returns)} episodes, mean return {episodes.returns.mean():.1f}, total reward {reward.item():.0f}")
pipeline.close()
