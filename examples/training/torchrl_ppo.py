"""PPO with torchrl's parts: its environment, collector, advantages and loss.

    pip install torchrl                            # in the repository; `make dev` has done it
    python -m examples.training.torchrl_ppo        # CartPole in a minute

`GymWrapper` takes a vector environment under autoreset="same_step" or "disabled"; `GymEnv("envs_c:Arcade/Breakout-v0")` one.
"""

import sys

import torch
from tensordict.nn import TensorDictModule
from torch import nn
from torchrl.collectors import Collector
from torchrl.envs import GymWrapper, RewardSum, TransformedEnv
from torchrl.modules import MLP, ProbabilisticActor, ValueOperator
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

import envs_c

NUM_ENVS, HORIZON, EPOCHS, MINIBATCHES = 64, 64, 4, 8


def main(total_steps: int = 400_000) -> list[float]:
    """Train. Returns the scores of all episodes, in their order."""
    torch.manual_seed(1)
    envs = GymWrapper(envs_c.make("cartpole", NUM_ENVS, seed=1, autoreset="same_step"), categorical_action_encoding=True)
    env = TransformedEnv(envs, RewardSum())
    logits = TensorDictModule(MLP(4, 2, num_cells=[64, 64], activation_class=nn.Tanh), ["observation"], ["logits"])
    actor = ProbabilisticActor(logits, in_keys=["logits"], distribution_class=torch.distributions.Categorical,
                               return_log_prob=True)
    critic = ValueOperator(MLP(4, 1, num_cells=[64, 64], activation_class=nn.Tanh))
    advantages = GAE(gamma=0.99, lmbda=0.95, value_network=critic)
    losses = ClipPPOLoss(actor, critic, clip_epsilon=0.2, entropy_coeff=0.01, normalize_advantage=True)
    optimizer = torch.optim.Adam(losses.parameters(), lr=1e-3)
    collector = Collector(env, actor, frames_per_batch=NUM_ENVS * HORIZON, total_frames=total_steps,
                          auto_register_policy_transforms=True)
    scores: list[float] = []

    for batch in collector:  # (NUM_ENVS, HORIZON)
        over = batch["next", "done"].squeeze(-1)
        scores += batch["next", "episode_reward"].squeeze(-1)[over].tolist()
        for _ in range(EPOCHS):
            with torch.no_grad():
                advantages(batch)
            for rows in torch.randperm(batch.numel()).chunk(MINIBATCHES):
                parts = losses(batch.reshape(-1)[rows])
                loss = parts["loss_objective"] + parts["loss_critic"] + parts["loss_entropy"]
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(losses.parameters(), 0.5)
                optimizer.step()
    collector.shutdown()
    print(f"mean score of the last 100 of {len(scores)} episodes: {sum(scores[-100:]) / 100:.1f}")
    return scores


if __name__ == "__main__":
    torch.set_num_threads(1)  # the products are small
    main(*map(int, sys.argv[1:]))
