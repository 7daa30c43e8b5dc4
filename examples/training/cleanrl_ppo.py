"""PPO in one file, in the form of CleanRL's ppo.py: a network, a rollout, advantages, an update.

    python -m examples.training.cleanrl_ppo            # CartPole in a minute
    python -m examples.training.cleanrl_ppo 2000000    # any number of steps

Only the line that makes `envs` is ours. 64 games are stepped in one call; Gymnasium's wrapper reports the episodes.
"""

import sys
from typing import Any

import gymnasium
import numpy as np
import torch
from torch import Tensor, nn
from torch.distributions import Categorical

import envs_c

NUM_ENVS, HORIZON, EPOCHS, MINIBATCHES = 64, 64, 4, 8
LEARNING_RATE, GAMMA, GAE_LAMBDA, CLIP, ENTROPY, VALUE, MAX_NORM = 1e-3, 0.99, 0.95, 0.2, 0.01, 0.5, 0.5


class Agent(nn.Module):
    """Two networks of two layers: logits of the actions, and the value."""

    def __init__(self, inputs: int, actions: int) -> None:
        super().__init__()
        self.actor, self.critic = self.layers(inputs, actions, 0.01), self.layers(inputs, 1, 1.0)

    def layers(self, inputs: int, outputs: int, gain: float) -> nn.Sequential:
        sizes, gains = [(inputs, 64), (64, 64), (64, outputs)], [2 ** 0.5, 2 ** 0.5, gain]
        linear = [nn.Linear(*size) for size in sizes]
        for layer, scale in zip(linear, gains, strict=True):
            nn.init.orthogonal_(layer.weight, scale)
            nn.init.zeros_(layer.bias)
        return nn.Sequential(linear[0], nn.Tanh(), linear[1], nn.Tanh(), linear[2])

    def policy(self, observations: Tensor) -> Categorical:
        return Categorical(logits=self.actor(observations))

    def value(self, observations: Tensor) -> Tensor:
        return self.critic(observations).squeeze(-1)  # type: ignore[no-any-return]


def main(total_steps: int = 500_000) -> list[float]:
    """Train. Returns the scores of all episodes, in their order."""
    torch.manual_seed(1)
    envs: Any = envs_c.make("cartpole", NUM_ENVS, seed=1)  # was: gym.vector.SyncVectorEnv([make_env] * NUM_ENVS)
    envs = gymnasium.wrappers.vector.RecordEpisodeStatistics(envs)
    agent = Agent(envs.single_observation_space.shape[0], int(envs.single_action_space.n))
    optimizer = torch.optim.Adam(agent.parameters(), lr=LEARNING_RATE, eps=1e-5)

    observations = torch.zeros(HORIZON + 1, NUM_ENVS, *envs.single_observation_space.shape)
    actions = torch.zeros(HORIZON, NUM_ENVS, dtype=torch.int64)
    logprobs, rewards, values = torch.zeros(3, HORIZON + 1, NUM_ENVS)
    terminated, over = torch.zeros(2, HORIZON + 1, NUM_ENVS)  # at index t + 1: of step t
    scores: list[float] = []
    observations[-1] = torch.from_numpy(envs.reset(seed=1)[0])

    for iteration in range(total_steps // (NUM_ENVS * HORIZON)):
        observations[0], over[0] = observations[-1], over[-1]  # rollout
        with torch.no_grad():
            for t in range(HORIZON):
                policy = agent.policy(observations[t])
                actions[t] = policy.sample()
                logprobs[t], values[t] = policy.log_prob(actions[t]), agent.value(observations[t])
                after, reward, ended, late, infos = envs.step(actions[t].numpy())
                observations[t + 1], rewards[t] = torch.from_numpy(after), torch.from_numpy(reward)
                terminated[t + 1], over[t + 1] = torch.from_numpy(ended), torch.from_numpy(ended | late)
                if "episode" in infos:
                    scores += infos["episode"]["r"][infos["_episode"]].tolist()
            values[HORIZON] = agent.value(observations[HORIZON])

            advantages, last = torch.zeros(HORIZON, NUM_ENVS), torch.zeros(NUM_ENVS)
            for t in reversed(range(HORIZON)):
                delta = rewards[t] + GAMMA * values[t + 1] * (1 - terminated[t + 1]) - values[t]
                advantages[t] = last = delta + GAMMA * GAE_LAMBDA * (1 - over[t + 1]) * last
        valid = over[:HORIZON].reshape(-1) == 0  # the step after an episode's end only resets

        flat = [part.reshape(-1, *part.shape[2:])[valid] for part in
                (observations[:HORIZON], actions, logprobs[:HORIZON], advantages, advantages + values[:HORIZON])]
        for _ in range(EPOCHS):  # update
            for rows in torch.randperm(len(flat[0])).chunk(MINIBATCHES):
                seen, acted, before, advantage, target = (part[rows] for part in flat)
                policy = agent.policy(seen)
                ratio = (policy.log_prob(acted) - before).exp()
                advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
                policy_loss = -torch.min(ratio * advantage, ratio.clamp(1 - CLIP, 1 + CLIP) * advantage).mean()
                value_loss = 0.5 * (agent.value(seen) - target).square().mean()
                loss = policy_loss + VALUE * value_loss - ENTROPY * policy.entropy().mean()
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(agent.parameters(), MAX_NORM)
                optimizer.step()
        if iteration % 10 == 0 and scores:
            print(f"step {(iteration + 1) * NUM_ENVS * HORIZON:,}: mean score {np.mean(scores[-100:]):.1f} of "
                  f"{len(scores[-100:])} episodes", flush=True)
    envs.close()
    return scores


if __name__ == "__main__":
    torch.set_num_threads(1)  # the products are small
    print(f"mean score of the last 100 episodes: {np.mean(main(*map(int, sys.argv[1:]))[-100:]):.1f}")
