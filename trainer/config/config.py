"""All settings of a run: the sections (trainer/config/sections.py) together, derived sizes as properties, and presets."""

import math
from dataclasses import Field, asdict, dataclass, field, fields, replace
from typing import Any

from trainer.config.fields import check, choices, refuse_gaps, refuse_strangers
from trainer.config.sections import EnvConfig, PolicyConfig, PPOConfig, RunConfig, SelfPlayConfig
from trainer.errors import ConfigError

GYM = "gym:"  # games whose name begins with it are Gymnasium's environments

_SECTIONS = {"env": EnvConfig, "policy": PolicyConfig, "ppo": PPOConfig, "self_play": SelfPlayConfig, "run": RunConfig}


@dataclass(frozen=True)
class Config:
    """All settings of a run. Raises ConfigError, also where two sections do not go together."""

    game: str
    env: EnvConfig = field(default_factory=EnvConfig)
    policy: PolicyConfig = field(default_factory=PolicyConfig)
    ppo: PPOConfig = field(default_factory=PPOConfig)
    run: RunConfig = field(default_factory=RunConfig)
    self_play: SelfPlayConfig = field(default_factory=SelfPlayConfig)

    def __post_init__(self) -> None:
        if not isinstance(self.game, str) or not self.game:
            raise ConfigError(f"game is {self.game!r}; it may be the name of a game, such as 'breakout'")
        horizon, minibatch = self.ppo.horizon, self.ppo.minibatch
        if minibatch % horizon or self.batch_steps % minibatch:
            raise ConfigError(f"minibatch is {minibatch:,}; with {self.env.num_envs:,} environments (num_envs) and a "
                              f"horizon of {horizon:,} it may be {choices(_minibatches(self))}")
        if self.num_minibatches % self.ppo.accumulate:
            raise ConfigError(f"accumulate is {self.ppo.accumulate:,}; it must divide the rollout's {self.num_minibatches:,} "
                              "minibatches")

    @property
    def batch_steps(self) -> int:
        """Steps of one rollout, all environments together."""
        return self.env.num_envs * self.ppo.horizon

    @property
    def num_minibatches(self) -> int:
        """Minibatches that a rollout is cut into."""
        return self.batch_steps // self.ppo.minibatch

    @property
    def sequences_per_minibatch(self) -> int:
        """Whole sequences, of `horizon` steps each, in a minibatch."""
        return self.ppo.minibatch // self.ppo.horizon

    @property
    def num_iterations(self) -> int:
        """Rollouts until total_steps is reached; the last one may pass it."""
        return -(-self.ppo.total_steps // self.batch_steps)

    def to_dict(self) -> dict[str, Any]:
        """Nested plain dicts, ready for JSON; `from_dict` is its inverse."""
        return asdict(self)

    @classmethod
    def from_dict(cls, settings: dict[str, Any]) -> "Config":
        """Raises ConfigError that names every unknown or missing setting, or the first bad value."""
        refuse_strangers(settings, {"game", *_SECTIONS}, "")
        refuse_gaps(settings, {"game", *_SECTIONS}, "")
        for name, section in _SECTIONS.items():
            known = {one.name for one in fields(section)}
            refuse_strangers(settings[name], known, f"{name}.")
            refuse_gaps(settings[name], known, f"{name}.")
        return cls(settings["game"], **{name: section(**settings[name]) for name, section in _SECTIONS.items()})


def setting(section: str, name: str) -> Field:
    """The field of a setting, such as ("ppo", "gamma"). Raises ConfigError where there is none."""
    refuse_strangers({section: None}, set(_SECTIONS), "")
    known = {one.name: one for one in fields(_SECTIONS[section])}
    refuse_strangers({name: None}, set(known), f"{section}.")
    return known[name]


def check_setting(section: str, name: str, value: Any) -> None:
    """Raises ConfigError where a setting does not exist, or may not have this value."""
    check(value, setting(section, name))


def overlay(config: Config, changes: dict[str, dict[str, Any]]) -> Config:
    """`config` with some settings changed, as {"ppo": {"gamma": 0.9}}. Raises ConfigError for an unknown one."""
    refuse_strangers(changes, set(_SECTIONS), "")
    for name, change in changes.items():
        refuse_strangers(change, {one.name for one in fields(_SECTIONS[name])}, f"{name}.")
    return replace(config, **{name: replace(getattr(config, name), **change) for name, change in changes.items()})


def _minibatches(config: Config) -> list[int]:
    """Minibatches that would do, at most ten: the nearest to the one asked for."""
    envs = config.env.num_envs
    sizes = [count * config.ppo.horizon for count in range(1, envs + 1) if envs % count == 0]
    nearest = sorted(sizes, key=lambda size: abs(math.log(size / config.ppo.minibatch)))
    return sorted(nearest[:10])
