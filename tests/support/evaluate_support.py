"""Evaluations of policies that have not learned."""

import math

import torch

from trainer.config import Config, EnvConfig, RunConfig
from trainer.environments import make_source
from trainer.play import evaluate
from trainer.policy.make import make_policy


def config(game="cartpole", **env) -> Config:
    return Config(game, EnvConfig(num_threads=1, **env), run=RunConfig(seed=2, device="cpu"))


def play(settings, **more):
    policy = make_policy(settings.policy, make_source(settings.game, settings.env, 1, 0), settings.run.seed, torch.float32)
    return evaluate.play(policy, settings.game, settings.env, **{"episodes": 20, "seed": 4, "filmed": math.inf, **more})
