"""The same training of each package: our Breakout's features, PPO with a dense layer and an LSTM, settings of our preset.

A maker returns an iterator that trains without an end. It yields, after each rollout and the learning from it, the steps so
far and the mean score of the last 100 episodes.
"""

from collections import deque
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

TARGET = 300  # points


class Work(NamedTuple):
    """The settings of our preset for Breakout that all packages have. The learning rate stays as it is at the begin."""

    num_envs: int
    horizon: int = 64
    minibatch: int = 8192
    size: int = 128
    learning_rate: float = 0.003
    gamma: float = 0.99
    gae_lambda: float = 0.9
    clip: float = 0.2
    value_coef: float = 0.5
    entropy_coef: float = 0.01
    max_grad_norm: float = 0.5


class Training(NamedTuple):
    """A row of the table."""

    package: str
    work: str  # what differs from ours
    make: Callable[[int], Iterator[tuple[int, float]]]


def ours(precision: str) -> Callable[[int], Iterator[tuple[int, float]]]:
    """This trainer. precision: as in the settings."""
    def make(num_envs: int) -> Iterator[tuple[int, float]]:
        from trainer import Session
        session = Session("breakout", num_envs=num_envs, minibatch=min(8192, 64 * num_envs), precision=precision,
                          total_steps=45_000_000, device="cpu")
        for metrics in session:
            yield session.step, metrics["score_mean"] or 0.0
    return make


def plain(num_envs: int) -> Iterator[tuple[int, float]]:
    """examples/training/one_file.py."""
    from examples.training import one_file
    yield from one_file.train(one_file.Settings(num_envs=num_envs, minibatch=min(8192, 64 * num_envs)))


def sb3_contrib(num_envs: int) -> Iterator[tuple[int, float]]:
    """RecurrentPPO of sb3-contrib. Its learn() runs in a thread, and calls back after each rollout."""
    import queue
    import threading

    from sb3_contrib import RecurrentPPO
    from stable_baselines3.common.callbacks import BaseCallback

    from envs_c import sb3

    work, reports, turns = Work(num_envs, minibatch=min(8192, 64 * num_envs)), queue.Queue(), threading.Semaphore()

    class Report(BaseCallback):
        def _on_rollout_start(self):
            if self.num_timesteps:
                reports.put((self.num_timesteps, float(np.mean([each["r"] for each in self.model.ep_info_buffer] or [0]))))
                turns.acquire()

        def _on_step(self):
            return True

    model = RecurrentPPO(
        "MlpLstmPolicy", sb3.make("breakout", num_envs, seed=1, reward_clip=1), n_steps=work.horizon, batch_size=work.minibatch,
        n_epochs=1, learning_rate=work.learning_rate, gamma=work.gamma, gae_lambda=work.gae_lambda, clip_range=work.clip,
        vf_coef=work.value_coef, ent_coef=work.entropy_coef, max_grad_norm=work.max_grad_norm, seed=1, device="cpu",
        policy_kwargs={"lstm_hidden_size": work.size, "net_arch": [], "enable_critic_lstm": False, "shared_lstm": True})
    turns.acquire()
    threading.Thread(target=model.learn, args=(1 << 40,), kwargs={"callback": Report()}, daemon=True).start()
    while True:
        yield reports.get()
        turns.release()


def torchrl(num_envs: int) -> Iterator[tuple[int, float]]:
    """torchrl's collector, LSTM, GAE and loss; minibatches of whole sequences."""
    import torch
    from tensordict.nn import TensorDictModule, TensorDictSequential
    from torch import nn
    from torchrl.collectors import Collector
    from torchrl.envs import Compose, GymWrapper, InitTracker, RewardSum, TransformedEnv
    from torchrl.modules import MLP, LSTMModule, ProbabilisticActor, ValueOperator
    from torchrl.objectives import ClipPPOLoss
    from torchrl.objectives.value import GAE

    import envs_c

    work, scores = Work(num_envs, minibatch=min(8192, 64 * num_envs)), deque(maxlen=100)
    torch.manual_seed(1)
    games = envs_c.make("breakout", num_envs, seed=1, autoreset="same_step", reward_clip=1)
    inputs, actions = games.single_observation_space.shape[0], int(games.single_action_space.n)
    lstm = LSTMModule(work.size, work.size, in_key="embedding", out_key="hidden")
    env = TransformedEnv(GymWrapper(games, categorical_action_encoding=True),
                         Compose(InitTracker(), RewardSum(), lstm.make_tensordict_primer()))
    dense = TensorDictModule(nn.Sequential(nn.Linear(inputs, work.size), nn.ReLU()), ["observation"], ["embedding"])
    logits = TensorDictModule(MLP(work.size, actions, num_cells=[]), ["hidden"], ["logits"])
    body = TensorDictSequential(dense, lstm)
    actor = ProbabilisticActor(TensorDictSequential(body, logits), in_keys=["logits"],
                               distribution_class=torch.distributions.Categorical, return_log_prob=True)
    critic = TensorDictSequential(body, ValueOperator(MLP(work.size, 1, num_cells=[]), in_keys=["hidden"]))
    gae = GAE(gamma=work.gamma, lmbda=work.gae_lambda, value_network=critic, shifted=True)
    losses = ClipPPOLoss(actor, critic, clip_epsilon=work.clip, entropy_coeff=work.entropy_coef,
                         critic_coeff=work.value_coef, normalize_advantage=True)
    optimizer = torch.optim.Adam(losses.parameters(), lr=work.learning_rate)
    steps = 0
    for batch in Collector(env, actor, frames_per_batch=num_envs * work.horizon, total_frames=-1):  # (num_envs, horizon)
        with torch.no_grad():
            gae(batch)
        for rows in torch.randperm(num_envs).chunk(num_envs * work.horizon // work.minibatch):
            parts = losses(batch[rows])
            optimizer.zero_grad()
            sum(parts[name] for name in ("loss_objective", "loss_critic", "loss_entropy")).backward()
            nn.utils.clip_grad_norm_(losses.parameters(), work.max_grad_norm)
            optimizer.step()
        over = batch["next", "done"].squeeze(-1)
        scores.extend(batch["next", "episode_reward"].squeeze(-1)[over].tolist())
        steps += num_envs * work.horizon
        yield steps, float(np.mean(scores)) if scores else 0.0


def pufferlib(num_envs: int) -> Iterator[tuple[int, float]]:
    """PufferLib's trainer with its policy and LSTM (puffer.py compiles it), without priorities and without annealing."""
    import pufferlib as package
    from pufferlib import models, pufferl

    import envs_c

    work, scores = Work(num_envs, minibatch=min(8192, 64 * num_envs)), deque(maxlen=100)

    class Games(package.PufferEnv):
        def __init__(self):
            self.games = envs_c.make("breakout", num_envs, seed=1, autoreset="same_step", reward_clip=1)
            self.single_observation_space = self.games.single_observation_space
            self.single_action_space = self.games.single_action_space
            self.num_agents = self.agents_per_batch = num_envs
            super().__init__()

        def reset(self, seed=None):
            self.observations[:] = self.games.reset()[0]
            return self.observations, []

        def step(self, actions):
            self.observations[:], self.rewards[:], self.terminals[:], self.truncations[:], infos = self.games.step(actions)
            if "episode_stats" in infos:
                scores.extend(infos["episode_stats"]["r"][infos["_episode_stats"]])
            return self.observations, self.rewards, self.terminals, self.truncations, []

    pufferl.ADVANTAGE_CUDA = False
    pufferl.PuffeRL.print_dashboard = lambda self, *words, **settings: None
    games = Games()
    policy = models.LSTMWrapper(games, models.Default(games, work.size), work.size, work.size)
    learner = pufferl.PuffeRL({
        "seed": 1, "torch_deterministic": True, "cpu_offload": False, "device": "cpu", "use_rnn": True, "optimizer": "adam",
        "anneal_lr": False, "precision": "float32", "total_timesteps": 1 << 40, "learning_rate": work.learning_rate,
        "gamma": work.gamma, "gae_lambda": work.gae_lambda, "update_epochs": 1, "clip_coef": work.clip,
        "vf_coef": work.value_coef, "vf_clip_coef": 1e9, "max_grad_norm": work.max_grad_norm, "ent_coef": work.entropy_coef,
        "adam_beta1": 0.9, "adam_beta2": 0.999, "adam_eps": 1e-5, "checkpoint_interval": 1 << 40, "batch_size": "auto",
        "minibatch_size": work.minibatch, "max_minibatch_size": work.minibatch, "bptt_horizon": work.horizon, "compile": False,
        "vtrace_rho_clip": 1.0, "vtrace_c_clip": 1.0, "prio_alpha": 0.0, "prio_beta0": 1.0}, games, policy)
    while True:
        learner.evaluate()
        learner.train()
        yield learner.global_step, float(np.mean(scores)) if scores else 0.0


TRAININGS = {
    "insertcoin": Training("insertcoin", "", ours("auto")),
    "insertcoin, float32": Training("insertcoin", "products in float32, as the rows below", ours("float32")),
    "plain PyTorch": Training("torch", "one file, examples/training/one_file.py; torch's LSTM step by step", plain),
    "sb3-contrib RecurrentPPO": Training("sb3-contrib", "no dense layer before the LSTM", sb3_contrib),
    "PufferLib": Training("pufferlib", "GELU in the dense layer, the LSTM begins each rollout at zero", pufferlib),
    "torchrl": Training("torchrl", "scores are of clipped rewards", torchrl),
}
