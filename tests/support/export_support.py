"""Checkpoints of untrained policies, for tests of exports."""

import torch

from trainer.config import Config, EnvConfig, PolicyConfig, PPOConfig, RunConfig
from trainer.training.build import make_session

MEMORIES = {  # game, view, settings of the policy
    "lstm": ("cartpole", "features", {}),
    "lstm, normalized": ("cartpole", "features", {"normalize_observations": True, "frame_stack": 3}),
    "mingru": ("breakout", "features", {"memory": "mingru", "layers": 2, "encoder_size": 16, "lstm_size": 16}),
    "mingru with a highway": ("breakout", "features", {"memory": "mingru", "layers": 2, "highway": True, "encoder_size": 12}),
    "mingru of another width": ("cartpole", "features", {"memory": "mingru"}),
    "none": ("cartpole", "features", {"memory": "none"}),
    "none, frames": ("cartpole", "features", {"memory": "none", "frame_stack": 2}),
    "conv": ("pong", "pixels", {"frame_stack": 2}),
    "pixels": ("pong", "pixels", {"encoder": "pixels", "frame_stack": 2}),
    "board": ("go", "features", {"encoder": "board"}),
    "cells": ("g2048", "features", {"encoder": "cells", "memory": "none"}),
    "bits": ("g2048", "features", {"encoder": "bits", "frame_stack": 2}),
    "own": ("cartpole", "features", {"encoder": "own_encoders:Small"}),
    "gymnasium": ("gym:CartPole-v1", "features", {}),
}


def config(game="cartpole", view="features", policy=None, precision="float32", **run):
    sizes = {"encoder_size": 16, "lstm_size": 12, "precision": precision}
    return Config(game, EnvConfig(view=view, num_envs=8, num_threads=1), PolicyConfig(**sizes | (policy or {})),
                  PPOConfig(horizon=8, minibatch=64, total_steps=128),
                  RunConfig(device="cpu", dashboard=False, eval_episodes=0, gif=False, **run))


def save(folder, *args, **keywords):
    """Save a checkpoint of an untrained policy in `folder`; its weights are as large as trained ones."""
    session = make_session(config(*args, **keywords))
    torch.manual_seed(1)
    with torch.no_grad():
        session.policy.heads.weight.normal_()
        if session.policy.normalizer is not None:
            session.policy.normalizer.update(torch.randn(100, *session.policy.shape) * 2 + 1)
    session.save(folder)
    session.pipeline.close()
    return folder
