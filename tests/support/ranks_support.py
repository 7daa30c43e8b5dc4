"""Two processes that are the ranks of one job over Gloo, and the functions that tests call in them."""

import importlib
import os
import socket
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from datetime import timedelta
from multiprocessing import get_context
from pathlib import Path

import torch

from trainer import ranks
from trainer.config import Config, EnvConfig, PolicyConfig, PPOConfig, RunConfig
from trainer.errors import TrainerError
from trainer.policy.normalize import Moments
from trainer.ppo import losses as ppo
from trainer.ppo.statistics import explained_variance, has_signal
from trainer.rollout.actor import collect
from trainer.training import shares
from trainer.training.build import make_session
from trainer.training.session import TrainingSession
from trainer.training.train import iterate, judge
from trainer.waiting import share_cores

share_cores()

N, T = 16, 32
joined: ranks.Ranks = ranks.ALONE  # in a process of `Pair`: its rank


class Pair:
    """Two ranks, each in a process that lives for all tests; call it with a function of this module."""

    def __init__(self, size: int = 2):
        self.pools = [ProcessPoolExecutor(1, get_context("spawn")) for _ in range(size)]
        self.join()

    def __call__(self, function, *arguments) -> list:
        """The results of the function on all ranks."""
        return [one.result(120) for one in [pool.submit(function, *arguments) for pool in self.pools]]

    def join(self):
        """Start a new job with the same processes."""
        port = free_port()
        for one in [pool.submit(enter, rank, len(self.pools), port) for rank, pool in enumerate(self.pools)]:
            one.result(120)

    def close(self):
        for pool in self.pools:
            pool.shutdown()


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("localhost", 0))
        return one.getsockname()[1]


def enter(rank: int, size: int, port: int):
    """Join a job; leave the job of before."""
    global joined
    joined.leave()
    os.environ |= {"RANK": str(rank), "WORLD_SIZE": str(size), "LOCAL_RANK": str(rank), "LOCAL_WORLD_SIZE": str(size),
                   "MASTER_ADDR": "localhost", "MASTER_PORT": str(port)}
    joined = ranks.join()


def config(game="cartpole", *, iterations=8, env=None, policy=None, **settings) -> Config:
    return Config(game, EnvConfig(**{"num_envs": N, "num_threads": 1, **({} if env is None else env)}),
                  PolicyConfig(**{"encoder_size": 16, "lstm_size": 12, "precision": "float32", **(policy or {})}),
                  PPOConfig(**{"horizon": T, "minibatch": N * T, "total_steps": iterations * N * T, **settings}),
                  RunConfig(seed=5, device="cpu", dashboard=False))


def left() -> tuple[list[str], list[str]]:
    """The threads of Gloo before and after this rank leaves; torch modules of a training are loaded before."""
    importlib.import_module("torch._dynamo")
    joined.everyone(0)
    before = gloo_threads()
    joined.leave()
    stop = time.monotonic() + 10
    while gloo_threads() and time.monotonic() < stop:
        time.sleep(0.01)  # Linux lists a thread for a moment after its end
    return before, gloo_threads()


def gloo_threads() -> list[str]:
    names = [thread.read_text().strip() for thread in Path("/proc/self/task").glob("*/comm")]
    return [name for name in names if "gloo" in name]


def talk():
    """The results of all calls of `Ranks`."""
    def refused():
        raise TrainerError("rank 0 refuses")
    rank = joined.rank
    try:
        joined.broadcast(refused)
    except TrainerError as error:
        refusal = str(error)
    return {"sum": joined.sum_(torch.arange(3.0) + rank).tolist(), "rows": joined.rows(torch.full((2,), rank)).tolist(),
            "everyone": joined.everyone(f"rank {rank}"), "gather": joined.gather(rank),
            "broadcast": joined.broadcast(lambda: rank),
            "any": joined.any(rank == 1, False, True), "refused": refusal}


def slow(seconds: float, timeout: float, fails: bool) -> list:
    """The result or the error of a call on rank 0 of so many seconds, in a job with this time-out."""
    def call(go_on):
        stop = time.monotonic() + seconds
        while time.monotonic() < stop:
            go_on()
            time.sleep(0.01)
        if fails:
            raise TrainerError("rank 0 fails")
        return "from rank 0"
    joined.leave()
    with ranks.join(timedelta(seconds=timeout)) as short:
        short.everyone(0)
        try:
            return [short.broadcast_slow(call), short.any(short.rank == 1)]
        except TrainerError as error:
            return [str(error), short.any(short.rank == 1)]


def leave():
    joined.leave()


def call_without_the_other() -> str:
    """The error of a call that the other rank does not make."""
    try:
        joined.everyone(0)
    except TrainerError as error:
        return str(error)
    return ""


def prints(text: str) -> bool:
    return ranks.prints_first(text)


def moments(rows: torch.Tensor):
    """Moments of this rank's part of rows (n, k), and the explained variance of some of them."""
    mine = rows.chunk(joined.size)[joined.rank]
    made = Moments(rows.shape[1:])
    made.add(mine, joined)
    advantage, value, valid = mine[:, 0], mine[:, 1], (mine[:, 2] > 0).float()
    return made.mean, made.deviation, explained_variance(advantage, value, valid, joined)


def signal(other: int | None) -> float:
    """The signal in rewards of -1, one of which is 0 in the rank `other`."""
    reward = torch.full((3, 2), -1.0)
    if joined.rank == other:
        reward[1, 0] = 0.0
    return has_signal(reward, torch.zeros(3, 2), torch.ones(3, 2), joined).item()


def prepared(settings: Config, among: ranks.Ranks) -> TrainingSession:
    """A session with a rollout, and a policy that differs from the one that played the rollout."""
    made = make_session(settings, among)
    collect(made.actor)
    made.pipeline.settle()
    random = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in made.policy.parameters():
            parameter += 0.1 * torch.randn(parameter.shape, generator=random)
    learner = made.learner
    made.storage.advantages(learner._reward(), settings.ppo.gamma, settings.ppo.gae_lambda, out=learner.advantage)
    return made


def gradients(settings: Config, minibatches: list[list[int]], among: ranks.Ranks | None = None):
    """The gradient and diagnostics of minibatches.

    minibatches: sequences, numbered over all ranks; this rank learns from its own.
    """
    among = among or joined
    made = prepared(settings, among)
    learner, count = made.learner, N // among.size
    learner.order = torch.tensor([[number - among.rank * count for number in numbers if number // count == among.rank]
                                  for numbers in minibatches])
    weights = (learner.order + among.rank * count + 1) / N
    if learner.prioritized is not None:
        learner.prioritized.weights = weights
    if learner.statistics is not None:
        learner.statistics = torch.zeros(len(minibatches), 3)
        learner._measure()
    for k in range(len(minibatches)):
        learner.position[0] = k
        if learner.prioritized is not None:
            learner.weight = weights[k]
        learner._learn(k == 0, k == len(minibatches) - 1)
        learner.diagnostics.done += 1
    learner.diagnostics.sum_over(learner.ranks, 0)
    table = learner.diagnostics.table[: len(minibatches)].tolist()
    history = [dict(zip(learner.diagnostics.names, row, strict=True)) for row in table]
    return torch.cat([parameter.grad.flatten() for parameter in made.policy.parameters()]), history


def drawn(settings: Config):
    """The sequences of a minibatch, numbered over all ranks, their weights, and their valid steps."""
    made = prepared(settings, joined)
    prioritized = made.learner.prioritized
    prioritized.draw(made.learner.advantage)
    order = prioritized.order[0]
    return ((order + joined.rank * N // joined.size).tolist(), prioritized.weights[0].tolist(),
            made.storage.valid.sum(0)[order].tolist())


def spoiled_by_priority(settings: Config) -> str:
    """The error of an update after an infinite reward in rank 1."""
    made = make_session(settings, joined)
    collect(made.actor)
    made.pipeline.settle()
    if joined.rank == 1:
        made.storage.reward[3, 2] = float("inf")
    try:
        made.learner.update()
    except TrainerError as error:
        return str(error)
    return ""


def judged(settings: Config, stops: bool) -> tuple[list[dict], list[int]]:
    """The metrics of the judgments of a training, and the steps of all and of the last. stops: rank 0 is interrupted."""
    made, metrics = make_session(settings, joined), []
    while made.step < settings.ppo.total_steps:
        iterate(made)
        metrics.append(judge(made, lambda: stops and joined.rank == 0))
    made.pipeline.close()
    return list(filter(None, metrics)), made.judge.state()


def orders(settings: Config):
    made = make_session(settings, joined)
    return (made.learner._order() + joined.rank * N // joined.size).tolist(), made.generator.get_state()


def trained(settings: Config, folder: Path, iterations: int, resume: Path | None = None, among: ranks.Ranks | None = None):
    """Train and save; returns the checkpoint's path, the metrics, the score and the number of episodes."""
    among = among or joined
    made = make_session(settings, among, resume=resume) if resume else make_session(settings, among)
    metrics = [iterate(made) for _ in range(iterations)]
    path = made.save(folder)
    made.pipeline.close()
    return path, metrics, made.score_mean(), made.episodes


def apart(settings: Config, folder: Path) -> str:
    """The error of `save` if rank 1 has other weights."""
    made = make_session(settings, joined)
    with torch.no_grad():
        made.policy.heads.bias += joined.rank
    try:
        made.save(folder)
    except TrainerError as error:
        return str(error)
    return ""


def spoiled(settings: Config) -> str:
    """The error of an update whose loss is not finite on rank 1."""
    made = make_session(settings, joined)
    original = ppo.losses

    def losses(*arguments):
        loss, parts, ratio = original(*arguments)
        return (loss * torch.nan if joined.rank else loss), parts, ratio
    ppo.losses = losses
    try:
        iterate(made)
    except TrainerError as error:
        return str(error)
    finally:
        ppo.losses = original
    return ""


def alike(settings: Config) -> str:
    """The error of `check_alike` with another num_envs on rank 1."""
    try:
        shares.check_alike(without(settings, num_envs=N * (1 + joined.rank), num_threads=1 + joined.rank), joined)
    except TrainerError as error:
        return str(error)
    return ""


def without(settings: Config, **env) -> Config:
    return replace(settings, env=replace(settings.env, **env))
