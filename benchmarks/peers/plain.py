"""PPO with an LSTM in PyTorch, in one file and with no kernels of its own: the form of CleanRL's ppo_atari_lstm.

A dense layer, torch's LSTM step by step with resets, two heads; whole sequences in each minibatch.
"""

from collections import deque
from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor, nn
from torch.distributions import Categorical

import envs_c


class Agent(nn.Module):
    """inputs: features. size: units of the dense layer and of the LSTM."""

    def __init__(self, inputs: int, size: int, actions: int):
        super().__init__()
        self.encoder, self.lstm = nn.Sequential(nn.Linear(inputs, size), nn.ReLU()), nn.LSTM(size, size)
        self.actor, self.critic = nn.Linear(size, actions), nn.Linear(size, 1)

    def forward(self, observations: Tensor, begins: Tensor, state: tuple[Tensor, Tensor]):
        """observations: (T, B, inputs). begins: (T, B), 1.0 where a new episode begins. state: of the LSTM, before."""
        outputs = []
        for inputs, begin in zip(self.encoder(observations), begins, strict=True):
            keep = (1 - begin).view(1, -1, 1)
            output, state = self.lstm(inputs.unsqueeze(0), (keep * state[0], keep * state[1]))
            outputs.append(output)
        hidden = torch.cat(outputs)
        return Categorical(logits=self.actor(hidden)), self.critic(hidden).squeeze(-1), state


def advantages(rewards: Tensor, values: Tensor, begins: Tensor, work) -> Tensor:
    """Generalized advantage estimates (Schulman et al. 2016). values, begins: one row more than rewards."""
    result, last = torch.zeros_like(rewards), torch.zeros_like(rewards[0])
    for t in reversed(range(len(rewards))):
        keep = 1 - begins[t + 1]
        delta = rewards[t] + work.gamma * keep * values[t + 1] - values[t]
        last = result[t] = delta + work.gamma * work.gae_lambda * keep * last
    return result


def train(work) -> Iterator[tuple[int, float]]:
    """Train without an end. Yields, after each rollout and the learning from it, the steps so far and the mean score.

    work: a `Work` of trainings.py.
    """
    torch.manual_seed(1)
    n, horizon = work.num_envs, work.horizon
    envs = envs_c.make("breakout", n, seed=1, autoreset="same_step", reward_clip=1)
    inputs, actions = envs.single_observation_space.shape[0], int(envs.single_action_space.n)
    agent, scores = Agent(inputs, work.size, actions), deque(maxlen=100)
    optimizer = torch.optim.Adam(agent.parameters(), lr=work.learning_rate, eps=1e-5)
    observation, begin = torch.from_numpy(envs.reset()[0]), torch.ones(n)
    state, steps = (torch.zeros(1, n, work.size), torch.zeros(1, n, work.size)), 0
    while True:
        before, rows = state, {name: [] for name in ("observation", "action", "log_prob", "reward", "value", "begin")}
        for _ in range(horizon):
            with torch.no_grad():
                policy, value, state = agent(observation.unsqueeze(0), begin.unsqueeze(0), state)
                action = policy.sample()
            after, reward, terminated, truncated, infos = envs.step(action[0].numpy())
            row = (observation, action[0], policy.log_prob(action)[0], torch.from_numpy(reward).float(), value[0], begin)
            for name, item in zip(rows, row, strict=True):
                rows[name].append(item)
            observation, begin = torch.from_numpy(after), torch.from_numpy(terminated | truncated).float()
            if "episode_stats" in infos:
                scores.extend(infos["episode_stats"]["r"][infos["_episode_stats"]])
        batch = {name: torch.stack(items) for name, items in rows.items()}
        with torch.no_grad():
            last = agent(observation.unsqueeze(0), begin.unsqueeze(0), state)[1]
        batch["advantage"] = advantages(batch["reward"], torch.cat([batch["value"], last]),
                                        torch.cat([batch["begin"], begin.unsqueeze(0)]), work)
        learn(agent, optimizer, batch, before, work)
        steps += n * horizon
        yield steps, float(np.mean(scores)) if scores else 0.0


def learn(agent: Agent, optimizer, batch: dict[str, Tensor], state: tuple[Tensor, Tensor], work):
    """One epoch over a rollout. state: of the LSTM at its begin."""
    for columns in torch.randperm(work.num_envs).chunk(work.num_envs * work.horizon // work.minibatch):
        part = {name: rows[:, columns] for name, rows in batch.items()}
        policy, value, _ = agent(part["observation"], part["begin"], (state[0][:, columns], state[1][:, columns]))
        ratio = (policy.log_prob(part["action"]) - part["log_prob"]).exp()
        normal = (part["advantage"] - part["advantage"].mean()) / (part["advantage"].std() + 1e-8)
        gain = torch.min(ratio * normal, ratio.clamp(1 - work.clip, 1 + work.clip) * normal).mean()
        error = (part["advantage"] + part["value"] - value).square().mean() / 2
        loss = -gain + work.value_coef * error - work.entropy_coef * policy.entropy().mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(agent.parameters(), work.max_grad_norm)
        optimizer.step()
