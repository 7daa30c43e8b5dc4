"""Any Gymnasium vector environment behind the pipeline: its steps, the copies and the policy overlap.

    python -m examples.any_gymnasium_env

Two vector environments are two batches: while the policy is at one, the other plays in a thread. What a batch brought lies in
its slab, on the device; the policy, here a random one, writes its actions there.
"""

import gymnasium
import torch

from bridge import GymnasiumSource, Pipeline, open_device

envs = [gymnasium.make_vec("Acrobot-v1", 8, vectorization_mode="sync") for _ in range(2)]
pipeline = Pipeline(GymnasiumSource(envs, seed=1), num_batches=2, device=open_device("auto"))
reward = torch.zeros((), device=pipeline.device)


def policy(batch):
    """The device's work for a batch: reads its slab's observation, reward, terminated and truncated, writes its actions."""
    slab = pipeline.slab(batch)

    def work():
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
print(f"{len(episodes.returns)} episodes, mean return {episodes.returns.mean():.1f}, reward {reward.item():.0f} in all")
pipeline.close()
