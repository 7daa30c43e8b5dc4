"""Policies for the cartridges: of a run, or the arcade's agents, which come with the package."""

import json
import zlib
from dataclasses import replace
from typing import Any, NamedTuple

import safetensors.torch
import torch

from benchmarks.cartridges.twins import TWINS
from envs_c.arcade import agents
from trainer.config import Config, EnvConfig
from trainer.errors import TrainerError
from trainer.export.weights import rebuild
from trainer.log.numbers import count
from trainer.policy.load import load_run
from trainer.policy.policy import Policy
from trainer.results.published import more_features

LONGEST = 27_000  # steps of an episode; 108,000 frames are usual for this console
# The help of --plain
PLAIN = "play the games without the run's options that change them (default: a run with such options is refused)"


class Agent(NamedTuple):
    """A policy, the settings that it plays with, and its name in tables."""

    name: str
    policy: Policy
    config: Config
    checksum: str  # of its file, without the record of the score that an agent of the arcade has


def load_agent(name: str, *, plain: bool = False) -> Agent:
    """The agent of a run, of one of its checkpoints, or, if `name` is a game, the arcade's one. Its episodes are limited.

    plain: leave out the options of the game that a run has. Raises TrainerError if no cartridge can be played.
    """
    if name in TWINS:
        title, policy, config, data = arcade_agent(name)
    else:
        path, policy, config = load_run(name, "cpu")
        data, title = path.read_bytes(), f"{path.parent.name}/{path.stem}"
        if plain:
            config = replace(config, env=replace(config.env, options=more_features(config.env.options)))
        check(config)
    limit = min(config.env.time_limit or LONGEST, LONGEST)
    return Agent(title, policy, replace(config, env=replace(config.env, time_limit=limit)), f"{zlib.crc32(data):08x}")


def arcade_agent(game: str) -> tuple[str, Policy, Config, bytes]:
    """The arcade's agent of a game, which comes with the package: its name, policy and settings, and its file.

    The file is without the record of its score, so its checksum stays if only the record is new.
    """
    data = (agents.FOLDER / f"{game}.safetensors").read_bytes()
    policy, about = rebuilt(data)
    name = f"the arcade's, {count(about['step'])} steps"
    return name, policy, Config(game, env=EnvConfig(**about["env"])), agents.with_record(data, {})


def rebuilt(data: bytes) -> tuple[Policy, dict[str, Any]]:
    """The policy in a file of the arcade, on the CPU, and its description."""
    tensors = {key: torch.tensor(array) for key, array in agents.weights(data).items()}
    return rebuild(safetensors.torch.save(tensors, {"policy": json.dumps(agents.described(data))}))


def check(config: Config) -> None:
    """Raise TrainerError if the run's game cannot be played on a cartridge."""
    if config.game not in TWINS and (not config.game.is_cartridge or config.game.cartridge_file):
        raise TrainerError(f"RUN must be of {', '.join(TWINS)} or atari:NAME, not of {config.game}: only these games have a "
                           "cartridge")
    if config.env.options != more_features(config.env.options):
        raise TrainerError(f"RUN must have no options that change the game, not {config.env.options}: the cartridge has none; "
                           "add --plain to play without them")
