"""PPO with an LSTM in one file: the trainer's arithmetic in plain PyTorch, without its kernels, checkpoints and log.

    python -m examples.training.one_file             # 2M steps of Breakout
    python -m examples.training.one_file 45000000    # as many as the preset has

docs/an_update.md follows the same path through the trainer. From equal weights and actions the first iteration gives the
trainer's rollout and, in float32, its weights (tests/examples/test_one_file.py). Actions are drawn with torch's random numbers,
so whole trainings differ.
"""

import math
import sys
from collections import deque
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.distributions import Categorical

import envs_c

State = tuple[Tensor, Tensor]  # of the LSTM: (1, N, size) each


class Settings(NamedTuple):
    """The settings of Breakout's preset; docs/settings.md says what each is. size: units of the encoder and of the LSTM."""

    game: str = "breakout"
    num_envs: int = 1024
    horizon: int = 64
    minibatch: int = 8192
    total_steps: int = 45_000_000
    size: int = 128
    learning_rate: float = 0.003
    gamma: float = 0.99
    gae_lambda: float = 0.9
    clip: float = 0.2
    value_clip: float = 0.2
    value_coef: float = 0.5
    entropy_coef: float = 0.01
    max_grad_norm: float = 0.5
    time_limit: int = 27_000


class Agent(nn.Module):
    """One layer, an LSTM, and one layer for the logits and the value."""

    def __init__(self, inputs: int, actions: int, size: int) -> None:
        super().__init__()
        self.encoder, self.lstm, self.heads = nn.Linear(inputs, size), nn.LSTM(size, size), nn.Linear(size, actions + 1)
        nn.init.orthogonal_(self.encoder.weight, math.sqrt(2))
        input_weight, recurrent_weight, bias, second_bias = self.lstm.parameters()
        for gate in (*input_weight.data.chunk(4), *recurrent_weight.data.chunk(4)):
            nn.init.orthogonal_(gate)
        nn.init.orthogonal_(self.heads.weight.data[:-1], 0.01)
        nn.init.orthogonal_(self.heads.weight.data[-1:], 1.0)
        for each in (self.encoder.bias, bias, second_bias, self.heads.bias):
            nn.init.zeros_(each)
        nn.init.ones_(bias.data[size: 2 * size])  # forget gates start open
        second_bias.requires_grad_(False)         # one bias is enough

    def forward(self, observations: Tensor, starts: Tensor, state: State) -> tuple[Categorical, Tensor, State]:
        """observations: (T, B, inputs). starts: (T, B), 1.0 where an episode begins: the LSTM's state is zeroed before it."""
        outputs = []
        for encoded, start in zip(self.encoder(observations).relu(), starts, strict=True):
            keep = (1 - start).view(1, -1, 1)
            output, state = self.lstm(encoded.unsqueeze(0), (keep * state[0], keep * state[1]))
            outputs.append(output)
        out = self.heads(torch.cat(outputs))
        return Categorical(logits=out[..., :-1]), out[..., -1], state

    def choose(self, policy: Categorical) -> Tensor:
        """An action for each environment."""
        return policy.sample()  # type: ignore[no-any-return]


class Moment(NamedTuple):
    """The result of a step, (N, inputs) and (N,): `start` is 1.0 if the observation is the first of its episode."""

    observation: Tensor
    reward: Tensor
    terminated: Tensor
    truncated: Tensor
    start: Tensor


class Rollout(NamedTuple):
    """T steps of N environments, time first. Reward and flags of row t came with observation t."""

    observation: Tensor  # (T + 1, N, inputs), as the next four
    reward: Tensor       # (T + 1, N)
    terminated: Tensor
    truncated: Tensor
    start: Tensor
    value: Tensor        # (T + 1, N)
    action: Tensor       # (T, N)
    log_prob: Tensor     # (T, N)
    state: State         # of the LSTM before step 0

    @property
    def valid(self) -> Tensor:
        """(T, N): 0.0 where an environment only resets; its action has no effect."""
        return 1 - torch.maximum(self.terminated[:-1], self.truncated[:-1])


@torch.no_grad()
def play(agent: Agent, envs: Any, now: Moment, state: State, horizon: int,
         scores: deque[float]) -> tuple[Rollout, Moment, State]:
    """Play a rollout from `now`. Adds the scores of the episodes that end to `scores`."""
    before, moments, values, actions, log_probs = state, [now], [], [], []
    for _ in range(horizon):
        policy, value, state = agent(now.observation.unsqueeze(0), now.start.unsqueeze(0), state)
        action = agent.choose(policy)
        values.append(value)
        actions.append(action)
        log_probs.append(policy.log_prob(action))
        observation, reward, terminated, truncated, infos = envs.step(action[0].numpy())
        now = Moment(torch.from_numpy(observation), torch.from_numpy(reward).float(), torch.from_numpy(terminated).float(),
                     torch.from_numpy(truncated).float(), torch.maximum(now.terminated, now.truncated))
        moments.append(now)
        if "episode_stats" in infos:
            scores.extend(infos["episode_stats"]["r"][infos["_episode_stats"]])
    values.append(agent(now.observation.unsqueeze(0), now.start.unsqueeze(0), state)[1])
    rows = Moment(*(torch.stack(tensors) for tensors in zip(*moments, strict=True)))
    rollout = Rollout(**rows._asdict(), value=torch.cat(values), action=torch.cat(actions), log_prob=torch.cat(log_probs),
                      state=before)
    return rollout, now, state


def advantages(rollout: Rollout, gamma: float, gae_lambda: float) -> Tensor:
    """Generalized advantage estimates (T, N) (Schulman et al., 2015). A truncated episode bootstraps with its last value."""
    result, last = torch.zeros_like(rollout.log_prob), torch.zeros_like(rollout.log_prob[0])
    for t in reversed(range(len(result))):
        alive, goes_on = 1 - rollout.terminated[t + 1], 1 - rollout.truncated[t + 1]
        delta = rollout.reward[t + 1] + gamma * rollout.value[t + 1] * alive - rollout.value[t]
        last = result[t] = (delta + gamma * gae_lambda * alive * goes_on * last) * rollout.valid[t]
    return result


def loss(agent: Agent, rollout: Rollout, advantage: Tensor, columns: Tensor, settings: Settings) -> Tensor:
    """PPO's loss of some environments' sequences (Schulman et al., 2017). Means are over valid steps.

    advantage: (T, N). columns: (S,), the numbers of the environments.
    """
    action, log_prob, valid, advantage = (rows[:, columns] for rows in (rollout.action, rollout.log_prob, rollout.valid,
                                                                        advantage))
    old_value, observation, start = (rows[:-1, columns] for rows in (rollout.value, rollout.observation, rollout.start))
    policy, value, _ = agent(observation, start, (rollout.state[0][:, columns], rollout.state[1][:, columns]))

    def mean(values: Tensor) -> Tensor:
        return (values * valid).sum() / valid.sum().clamp(min=1)

    centred = advantage - mean(advantage)
    normal = centred / (mean(centred.square()).sqrt() + 1e-8)
    ratio = (policy.log_prob(action) - log_prob).exp()
    gain = torch.minimum(ratio * normal, ratio.clamp(1 - settings.clip, 1 + settings.clip) * normal)
    target = old_value + advantage
    near = old_value + (value - old_value).clamp(-settings.value_clip, settings.value_clip)
    error = torch.maximum((value - target).square(), (near - target).square()) / 2
    return -mean(gain) + settings.value_coef * mean(error) - settings.entropy_coef * mean(policy.entropy())


def learn(agent: Agent, optimizer: torch.optim.Optimizer, rollout: Rollout, order: Tensor, settings: Settings) -> None:
    """One epoch over a rollout, in minibatches of whole sequences. order: (N,), the environments in their order."""
    advantage = advantages(rollout, settings.gamma, settings.gae_lambda)
    for columns in order.split(settings.minibatch // settings.horizon):
        optimizer.zero_grad()
        loss(agent, rollout, advantage, columns, settings).backward()
        nn.utils.clip_grad_norm_(agent.parameters(), settings.max_grad_norm)
        optimizer.step()


def begin(settings: Settings, seed: int) -> tuple[Any, Moment]:
    """New environments, and their first observations."""
    envs = envs_c.make(settings.game, settings.num_envs, seed=seed, reward_clip=1, time_limit=settings.time_limit)
    zeros = torch.zeros(settings.num_envs)
    return envs, Moment(torch.from_numpy(envs.reset()[0]), zeros, zeros, zeros, zeros)


def train(settings: Settings, seed: int = 1) -> Iterator[tuple[int, float]]:
    """Train. Yields, after each rollout and the learning from it, the steps so far and the mean of the last 100 scores."""
    torch.manual_seed(seed)
    envs, now = begin(settings, seed)
    agent = Agent(envs.single_observation_space.shape[0], int(envs.single_action_space.n), settings.size)
    optimizer = torch.optim.Adam(agent.parameters(), lr=settings.learning_rate, eps=1e-5)
    state = torch.zeros(1, settings.num_envs, settings.size), torch.zeros(1, settings.num_envs, settings.size)
    scores: deque[float] = deque(maxlen=100)
    for steps in range(0, settings.total_steps, settings.num_envs * settings.horizon):
        for group in optimizer.param_groups:
            group["lr"] = settings.learning_rate * (1 + math.cos(math.pi * steps / settings.total_steps)) / 2
        rollout, now, state = play(agent, envs, now, state, settings.horizon, scores)
        learn(agent, optimizer, rollout, torch.randperm(settings.num_envs), settings)
        yield steps + settings.num_envs * settings.horizon, float(np.mean(scores)) if scores else 0.0


def main(total_steps: int = 2_000_000) -> float:
    """Train, and print the score now and then. Returns the last one."""
    score = 0.0
    for i, (steps, score) in enumerate(train(Settings(total_steps=total_steps))):
        if i % 5 == 0 or steps >= total_steps:
            print(f"{steps:>10,} steps  score {score:.1f}", flush=True)
    return score


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
