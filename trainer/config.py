"""All settings of a run: the sections (trainer/sections.py) together, derived sizes as properties, and presets."""

import math
import tomllib
from dataclasses import Field, asdict, dataclass, field, fields, replace
from importlib import resources
from pathlib import Path
from typing import Any

from trainer.errors import ConfigError
from trainer.sections import EnvConfig, PolicyConfig, PPOConfig, RunConfig, SelfPlayConfig
from trainer.settings import check, choices, refuse_gaps, refuse_strangers

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


def preset(game: str) -> Config:
    """The settings that `game` is trained with: the defaults, overlaid with presets/GAME.toml where there is one.

    A game given as a path to its .pyx has its file of settings beside it: my_game.toml beside my_game.pyx. ALE's games under
    Gymnasium share one.

    Raises ConfigError when the file names a setting that does not exist or gives one a value that it may not have.
    """
    outside = game.endswith(".pyx")
    label = str(Path(game).with_suffix(".toml")) if outside else f"presets/{game}.toml"
    name = "gym_ale" if game.startswith((f"{GYM}ALE/", f"{GYM}ale_py:")) else game
    file = Path(label) if outside else resources.files("trainer.presets").joinpath(f"{name}.toml")
    if not (outside or name.isidentifier()) or not file.is_file():
        return Config(game)
    return _overlaid(game, file, label)


def preset_file(game: str, path: str) -> Config:
    """The defaults, overlaid with a preset of the user's own, which stands in the place of the game's.

    Raises ConfigError where there is no such file, and as `preset` does.
    """
    file = Path(path)
    if not file.is_file():
        raise ConfigError(f"there is no preset at {path}; preset may be a .toml file of settings, such as a sweep's best.toml")
    return _overlaid(game, file, path)


def _overlaid(game: str, file: Any, label: str) -> Config:
    """The defaults, overlaid with a file of settings, whose name stands in front of its errors."""
    try:
        config = overlay(Config(game), tomllib.loads(file.read_text(encoding="utf-8")))
    except (ConfigError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{label}: {error}") from None
    if config.run.resume is not None:
        raise ConfigError(f"{label}: run.resume is no setting of a preset; write --resume {config.run.resume}")
    return config


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
