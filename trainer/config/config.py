"""`Config`: all settings of a run, with sizes derived from them."""

import contextlib
from collections.abc import Callable, Collection, Iterator
from contextvars import ContextVar
from dataclasses import Field, asdict, dataclass, field, fields, replace
from typing import Any

from envs_c.text import shown
from trainer.config.fields import check, choices, refuse_missing, refuse_unknown
from trainer.config.games import GameName
from trainer.config.minibatches import named_minibatches
from trainer.config.sections import ADDED_LATER, EnvConfig, PolicyConfig, PPOConfig, RunConfig, SelfPlayConfig
from trainer.errors import ConfigError, SettingError

JUDGES = 64  # environments that judge a policy, by default
SIZES = ("minibatch", "num_envs", "horizon")  # settings that must fit together

_sizes_later: ContextVar[bool] = ContextVar("sizes_later", default=False)

SECTIONS = {"env": EnvConfig, "policy": PolicyConfig, "ppo": PPOConfig, "self_play": SelfPlayConfig, "run": RunConfig}


@dataclass(frozen=True)
class Config:
    """All settings of a run. The game may be given as text.

    Raises ConfigError for a bad value, and for settings of two sections which exclude each other.
    """

    game: GameName
    env: EnvConfig = field(default_factory=EnvConfig)
    policy: PolicyConfig = field(default_factory=PolicyConfig)
    ppo: PPOConfig = field(default_factory=PPOConfig)
    run: RunConfig = field(default_factory=RunConfig)
    self_play: SelfPlayConfig = field(default_factory=SelfPlayConfig)

    def __post_init__(self) -> None:
        if not isinstance(self.game, str) or not self.game:
            raise ConfigError(f"game must be the name of a game, such as 'breakout', not {shown(self.game)}")
        object.__setattr__(self, "game", GameName(self.game))
        for name, kind in SECTIONS.items():
            if not isinstance(getattr(self, name), kind):
                raise ConfigError(f"{name} must be of class {kind.__name__}, not {shown(getattr(self, name))}")
        if self.self_play.self_play and self.run.judge_episodes:
            raise SettingError("judge_episodes", "must be none in self-play, whose ratings pick best.safetensors, not "
                                                 f"{self.run.judge_episodes:,}: leave it out")
        if not _sizes_later.get():
            self.check_sizes()

    def check_sizes(self, given: Collection[str] = SIZES) -> None:
        """Raises SettingError if the sizes of rollout, minibatch and step do not fit together.

        given: those of `SIZES` that the user wrote, for the error, which names one of them.
        """
        horizon, minibatch, num_envs = self.ppo.horizon, self.ppo.minibatch, self.env.num_envs
        if minibatch % horizon or self.batch_steps % minibatch:
            sizes = choices(named_minibatches(num_envs, horizon, minibatch))
            named = next((name for name in SIZES if name in given), "minibatch")
            if named != "minibatch":
                value = {"num_envs": num_envs, "horizon": horizon}[named]
                raise SettingError(named, f"must fit the minibatch of {minibatch:,}, which is a multiple of the horizon and a "
                                          f"divisor of the {num_envs:,} x {horizon:,} steps of a rollout, not {value:,}: "
                                          f"choose another, or set minibatch to {sizes} too")
            raise SettingError("minibatch", f"must be {sizes} with {num_envs:,} environments (num_envs) and a horizon of "
                                            f"{horizon:,}, not {minibatch:,}")
        if self.num_minibatches % self.ppo.accumulate:
            raise SettingError("accumulate", f"must divide the rollout's {self.num_minibatches:,} minibatches, which "
                                             f"{self.ppo.accumulate:,} does not")

    @property
    def batch_steps(self) -> int:
        """Steps of one rollout, all environments together."""
        return self.env.num_envs * self.ppo.horizon

    @property
    def num_minibatches(self) -> int:
        """Minibatches of a rollout."""
        return self.batch_steps // self.ppo.minibatch

    @property
    def sequences_per_minibatch(self) -> int:
        """Sequences of `horizon` steps in a minibatch."""
        return self.ppo.minibatch // self.ppo.horizon

    @property
    def num_iterations(self) -> int:
        """Rollouts until total_steps is reached; the last one may pass it."""
        return -(-self.ppo.total_steps // self.batch_steps)

    @property
    def judges(self) -> int:
        """Episodes of a judgment (trainer/training/judge.py); 0 if the recent episodes or, in self-play, ratings judge."""
        if self.self_play.self_play or (self.run.judge_episodes is None and self.game.is_gym):
            return 0
        return JUDGES if self.run.judge_episodes is None else self.run.judge_episodes

    def to_dict(self) -> dict[str, Any]:
        """Nested plain dicts, ready for JSON; `from_dict` is the inverse."""
        return asdict(self) | {"game": str(self.game)}

    @classmethod
    def from_dict(cls, settings: dict[str, Any]) -> "Config":
        """The inverse of `to_dict`; settings without effect get their defaults, those in ADDED_LATER may be missing, and
        self-play may have judgments, which it ignored.

        Raises ConfigError for unknown and missing settings and for the first bad value.
        """
        refuse_unknown(settings, {"game", *SECTIONS}, "")
        refuse_missing(settings, {"game", *SECTIONS}, "")
        sections = {}
        for name, section in SECTIONS.items():
            known = {one.name for one in fields(section)}
            refuse_unknown(settings[name], known, f"{name}.")
            given = comparable(settings[name], known)
            refuse_missing(given, known, f"{name}.")
            sections[name] = section(**given)
        if sections["self_play"].self_play and sections["run"].judge_episodes:
            sections["run"] = replace(sections["run"], judge_episodes=None)
        return cls(settings["game"], **sections)


@contextlib.contextmanager
def sizes_checked_later() -> Iterator[None]:
    """In this context new Configs are not checked by `check_sizes`, since more changes follow: those of the command line."""
    token = _sizes_later.set(True)
    try:
        yield
    finally:
        _sizes_later.reset(token)


def with_added(settings: dict[str, Any], known: Collection[str]) -> dict[str, Any]:
    """A section as an older version wrote it, with those of the `known` settings that this version has added."""
    return {later: value for later, value in ADDED_LATER.items() if later in known} | settings


def comparable(settings: dict[str, Any], known: Collection[str], searched: Collection[str] = ()) -> dict[str, Any]:
    """`with_added`, where settings without effect have today's defaults, so that they make no difference between runs.

    searched: settings that a sweep draws; those that have an effect with some of their values stay.
    """
    idle = {name: value for name, value in without_effect(settings, searched).items() if name in known}
    return with_added(settings, known) | idle


def without_effect(settings: dict[str, Any], searched: Collection[str] = ()) -> dict[str, Any]:
    """The settings that have no effect beside those of a section, with their defaults; searched: as for `comparable`."""
    idle: dict[str, Any] = {}
    if not settings.get("normalize_rewards") and "normalize_rewards" not in searched:
        idle["normalize_steps"] = PPOConfig.normalize_steps
    if settings.get("noise_hold", ADDED_LATER["noise_hold"]) == 1 and "noise_hold" not in searched:
        idle["noise_hold_after"] = PolicyConfig.noise_hold_after
    return idle


def completed(settings: dict[str, Any], filled: Callable = comparable) -> dict[str, Any]:
    """The settings of a saved run, perhaps of an older version, with each section as by `comparable`, or `with_added`."""
    found = {name: filled(settings[name], {one.name for one in fields(made)}) for name, made in SECTIONS.items()
             if isinstance(settings.get(name), dict)}
    if "env" in found and not GameName(settings["game"]).is_gym:  # where it has no effect
        found["env"]["observations"] = EnvConfig.observations
    return settings | found


def setting(section: str, name: str) -> Field:
    """The field of a setting, such as ("ppo", "gamma"). Raises ConfigError if it does not exist."""
    refuse_unknown({section: None}, set(SECTIONS), "")
    known = {one.name: one for one in fields(SECTIONS[section])}
    refuse_unknown({name: None}, set(known), f"{section}.")
    return known[name]


def check_setting(section: str, name: str, value: Any) -> None:
    """Raises ConfigError if a setting does not exist or must not have this value."""
    check(value, setting(section, name))


def full_name(name: str) -> str:
    """A setting's name with its section, such as ppo.gamma; settings of different sections have different names."""
    return next((f"{section}.{name}" for section, made in SECTIONS.items() if name in {one.name for one in fields(made)}), name)


def overlay(config: Config, changes: dict[str, dict[str, Any]]) -> Config:
    """A config with some settings changed, such as {"ppo": {"gamma": 0.9}}. A game's options are changed by `added_options`.

    Raises ConfigError for an unknown setting.
    """
    _refuse_misplaced(changes, set(SECTIONS), "")
    for name, change in changes.items():
        _refuse_misplaced(change, {one.name for one in fields(SECTIONS[name])}, f"{name}.")
    options = changes.get("env", {}).get("options")
    if isinstance(options, dict):  # else its check says what it must be
        changes = changes | {"env": changes["env"] | {"options": added_options(config.env.options, options)}}
    return replace(config, **{name: replace(getattr(config, name), **change) for name, change in changes.items()})


def _refuse_misplaced(given: Any, known: set[str], prefix: str) -> None:
    """As `refuse_unknown`; a setting of another section is named with its own."""
    for name in given if isinstance(given, dict) else ():
        if name not in known and (whole := full_name(name)) != name:
            raise ConfigError(f"unknown setting {prefix}{name}; it is {whole}: write it in the table {whole.partition('.')[0]}")
    refuse_unknown(given, known, prefix)


def added_options(options: dict[str, float | str], more: dict[str, float | str]) -> dict[str, float | str]:
    """A game's options and more of them, which win over those of the same name; no more of them take all away."""
    return options | more if more else {}
