"""The settings of a training run: one frozen dataclass a concern, a docstring a field, derived sizes as properties.

A field's default, its type and its range stand in one line, and its docstring is the text that `--help` shows. Values
are checked when a section is made, wherever they come from: the command line, a game's preset, a saved run, a test.
"""

import difflib
import math
import re
import tomllib
from dataclasses import Field, asdict, dataclass, field, fields, replace
from importlib import resources
from pathlib import Path
from types import UnionType
from typing import Any, Literal, get_args, get_origin

from trainer.errors import ConfigError


def _within(default: Any, low: float = -math.inf, high: float = math.inf, *, above: bool = False) -> Any:
    """A field with this default whose numbers lie in [low, high], or with `above` in (low, high]."""
    return field(default=default, metadata={"low": low, "high": high, "above": above})


class _Section:
    """Checks every field of a dataclass against its annotation and its range."""

    def __post_init__(self) -> None:
        for one in fields(self):
            value = getattr(self, one.name)
            if _plain_type(one) is float and type(value) is int:
                value = float(value)
                object.__setattr__(self, one.name, value)
            if not _fits(value, one):
                raise ConfigError(f"{one.name} is {value!r}; it may be {_may_be(one)}")


@dataclass(frozen=True)
class EnvConfig(_Section):
    """The environments."""

    view: Literal["features", "pixels"] = "features"
    """What the agent sees: the game's feature vector, or its 84x84 grey screen."""
    num_envs: int = _within(1024, 1, 2**20)
    """Environments played side by side."""
    frame_skip: int | None = _within(None, 1, 1000)
    """Frames that an action is held for. none: as the game has it."""
    sticky: float = _within(0.0, 0, 1)
    """Probability that a frame repeats the action of the frame before."""
    noop_max: int = _within(0, 0, 10_000)
    """An episode starts with up to this many frames of doing nothing, drawn anew each time."""
    time_limit: int | None = _within(None, 1, 2**31 - 1)
    """Steps after which an episode is truncated. none: as the game has it."""
    reward_clip: float | None = _within(None, 0, above=True)
    """Rewards are clipped to [-x, x] for learning; scores stay raw. none: no clipping."""
    sim: Literal["host", "device", "tensors"] = "host"
    """Where the games are played: on the CPU, or (cartpole alone) on the device, by a CUDA kernel or by torch tensors."""
    num_threads: int = _within(0, 0, 4096)
    """Threads that play and learn. 0: all cores."""
    num_batches: int = _within(0, 0, 1024)
    """Batches that the environments are split into, to play one while the device is at another. 0: measured at the start."""
    options: dict[str, float] = field(default_factory=dict)
    """Options of the game itself, such as lives=3."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.num_batches > self.num_envs:
            raise ConfigError(f"num_batches is {self.num_batches}; with {self.num_envs} environments (num_envs) it may "
                              f"be an integer from 1 to {self.num_envs}")


@dataclass(frozen=True)
class PolicyConfig(_Section):
    """The network."""

    memory: Literal["lstm", "mingru", "none"] = "lstm"
    """What stands behind the encoder: an LSTM, minimal gated recurrent units, or a layer that remembers nothing."""
    layers: int = _within(1, 1, 64)
    """Layers of mingru."""
    encoder: str = "auto"
    """What reads the observations: mlp, conv (pictures), board, cells (kinds), or a module by import path. auto: by shape."""
    frame_stack: int = _within(1, 1, 64)
    """Last observations that the encoder sees at once."""
    encoder_size: int = _within(128, 1, 65_536)
    """Width of the encoder."""
    lstm_size: int = _within(128, 1, 65_536)
    """Width of the LSTM, of mingru's layers, or of the layer in their place."""
    normalize_observations: bool = False
    """Bring features to mean 0 and deviation 1 by running statistics."""
    precision: Literal["auto", "float32", "bfloat16"] = "auto"
    """Type that matrices are multiplied in. auto: the faster one, measured at the start."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.encoder not in ("auto", "mlp", "conv", "board", "cells") and ":" not in self.encoder:
            raise ConfigError(f"encoder is {self.encoder!r}; it may be auto, mlp, conv, board, cells, or the import path of a "
                              "torch.nn.Module of your own, such as my_encoders:Small")
        if self.layers > 1 and self.memory != "mingru":
            raise ConfigError(f"layers is {self.layers}; with memory {self.memory!r} it may be 1: only mingru stacks layers")


@dataclass(frozen=True)
class PPOConfig(_Section):
    """The learning."""

    total_steps: int = _within(10_000_000, 1, 2**53)
    """Steps to train for, all environments together; schedules end here."""
    horizon: int = _within(64, 1, 65_536)
    """Steps of each environment in a rollout, the length of the sequences learned from."""
    minibatch: int = _within(32_768, 1, 2**40)
    """Steps in a minibatch: a multiple of horizon that divides num_envs * horizon."""
    epochs: int = _within(1, 1, 1000)
    """Times that each rollout is learned from."""
    accumulate: int = _within(1, 1, 2**20)
    """Minibatches whose gradients make one step of the optimizer."""
    target_kl: float | None = _within(None, 0, above=True)
    """Further epochs are left out once the mean KL divergence from the rollout's policy passes this. none: never."""
    optimizer: Literal["adam", "muon"] = "adam"
    """What takes the steps. muon: torch's, for the matrices between input and heads; Adam takes the rest."""
    learning_rate: float = _within(0.003, 0, above=True)
    """The optimizer's step size at the start."""
    lr_schedule: Literal["constant", "linear", "cosine"] = "cosine"
    """How the learning rate goes to zero over total_steps, or stays."""
    reward_scale: float = _within(1.0, 0, above=True)
    """Rewards (clipped, where they are) are multiplied by this for learning; scores stay raw."""
    normalize_rewards: bool = False
    """Divide rewards by the running deviation of the discounted return, for learning."""
    gamma: float = _within(0.99, 0, 1)
    """Discount of rewards a step."""
    gae_lambda: float = _within(0.95, 0, 1)
    """Decay of generalised advantage estimation."""
    vtrace: bool = False
    """Estimate advantages anew before each minibatch, by the ratios so far, clipped as V-trace does."""
    rho_clip: float = _within(1.0, 0, above=True)
    """With vtrace: the largest weight of a step's own error."""
    c_clip: float = _within(1.0, 0, above=True)
    """With vtrace: the largest weight of what comes after a step."""
    priority_alpha: float = _within(0.0, 0, 10)
    """Sequences are drawn with probability ~ (mean absolute advantage)^alpha. 0: each once an epoch, in random order."""
    priority_beta: float = _within(1.0, 0, 1)
    """How much of what that skews is taken back by weights: none at 0, all at 1."""
    clip: float = _within(0.2, 0, above=True)
    """Range of the probability ratio: 1 - clip to 1 + clip."""
    value_clip: float = _within(0.2, 0)
    """Range that a value may move from its old prediction. 0: no limit."""
    value_coef: float = _within(0.5, 0)
    """Weight of the value loss."""
    entropy_coef: float = _within(0.01, 0)
    """Weight of the entropy bonus."""
    entropy_final: float | None = _within(None, 0)
    """The weight at the end, reached in a straight line over total_steps. none: it stays."""
    max_grad_norm: float = _within(0.5, 0, above=True)
    """Gradients longer than this are scaled down to it."""
    muon_momentum: float = _within(0.95, 0, 0.999999)
    """Muon's decay of the mean gradient."""
    adam_beta1: float = _within(0.9, 0, 0.999999)
    """Adam's decay of the mean gradient."""
    adam_beta2: float = _within(0.999, 0, 0.999999)
    """Adam's decay of the mean squared gradient."""
    adam_eps: float = _within(1e-5, 0, above=True)
    """Added to Adam's denominator."""


@dataclass(frozen=True)
class RunConfig(_Section):
    """This run."""

    seed: int = _within(1, 0, 2**63 - 1)
    """The same seed gives the same run."""
    device: str = "auto"
    """Where the network lives: auto (the GPU if there is one), cpu, cuda, or cuda:1 for the second GPU."""
    serial: bool = False
    """One batch at a time, waited for at each step: for debugging."""
    run_dir: str | None = None
    """Folder to write into. none: a new one, runs/GAME-DATE-TIME-sSEED."""
    resume: str | None = None
    """Go on with this run: its folder, or one of its checkpoints."""
    stop_at: int | None = _within(None, 1, 2**53)
    """End early at this step; no schedule changes."""
    dashboard: bool = True
    """Show the live dashboard, where there is a terminal."""
    checkpoint_seconds: float = _within(30.0, 0)
    """Seconds between checkpoints. 0: one after every iteration."""
    eval_episodes: int = _within(100, 0, 2**31 - 1)
    """Episodes of the evaluation at the end. 0: none."""
    gif: bool = True
    """Film an episode at the end."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_device(self.device)


def check_device(name: str) -> None:
    """Raises ConfigError where a device's name is none."""
    if not re.fullmatch("auto|cpu|cuda(:[0-9]+)?", name):
        raise ConfigError(f"device is {name!r}; it may be auto, cpu, cuda, or cuda:1 for the second GPU")


GYM = "gym:"  # games whose name begins with it are Gymnasium's environments

_SECTIONS = {"env": EnvConfig, "policy": PolicyConfig, "ppo": PPOConfig, "run": RunConfig}


@dataclass(frozen=True)
class Config:
    """All settings of a run. Raises ConfigError, also where two sections do not go together."""

    game: str
    env: EnvConfig = field(default_factory=EnvConfig)
    policy: PolicyConfig = field(default_factory=PolicyConfig)
    ppo: PPOConfig = field(default_factory=PPOConfig)
    run: RunConfig = field(default_factory=RunConfig)

    def __post_init__(self) -> None:
        if not isinstance(self.game, str) or not self.game:
            raise ConfigError(f"game is {self.game!r}; it may be the name of a game, such as 'breakout'")
        horizon, minibatch = self.ppo.horizon, self.ppo.minibatch
        if minibatch % horizon or self.batch_steps % minibatch:
            raise ConfigError(f"minibatch is {minibatch:,}; with {self.env.num_envs:,} environments (num_envs) and a "
                              f"horizon of {horizon:,} it may be {_choices(_minibatches(self))}")
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
        _refuse_strangers(settings, {"game", *_SECTIONS}, "")
        _refuse_gaps(settings, {"game", *_SECTIONS}, "")
        for name, section in _SECTIONS.items():
            known = {one.name for one in fields(section)}
            _refuse_strangers(settings[name], known, f"{name}.")
            _refuse_gaps(settings[name], known, f"{name}.")
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
    try:
        return overlay(Config(game), tomllib.loads(file.read_text(encoding="utf-8")))
    except (ConfigError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"{label}: {error}") from None


def overlay(config: Config, changes: dict[str, dict[str, Any]]) -> Config:
    """`config` with some settings changed, as {"ppo": {"gamma": 0.9}}. Raises ConfigError for an unknown one."""
    _refuse_strangers(changes, set(_SECTIONS), "")
    for name, change in changes.items():
        _refuse_strangers(change, {one.name for one in fields(_SECTIONS[name])}, f"{name}.")
    return replace(config, **{name: replace(getattr(config, name), **change) for name, change in changes.items()})


def _plain_type(one: Field) -> Any:
    """A field's type without its `| None`."""
    return get_args(one.type)[0] if isinstance(one.type, UnionType) else one.type


def _fits(value: Any, one: Field) -> bool:
    """Whether a value has the type of a field and lies in its range."""
    if value is None:
        return isinstance(one.type, UnionType)
    kind, low, high = _plain_type(one), one.metadata.get("low"), one.metadata.get("high")
    if get_origin(kind) is Literal:
        return isinstance(value, str) and value in get_args(kind)
    if get_origin(kind) is dict:
        return isinstance(value, dict) and all(isinstance(key, str) and _is_number(value[key]) for key in value)
    if kind in (int, float):
        fits_type = _is_number(value) and (kind is float or isinstance(value, int))
        return fits_type and low <= value <= high and not (one.metadata["above"] and value == low)
    return type(value) is kind


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _may_be(one: Field) -> str:
    """What a field may be, in words."""
    kind, low, high = _plain_type(one), one.metadata.get("low"), one.metadata.get("high")
    none = "none, or " if isinstance(one.type, UnionType) else ""
    if get_origin(kind) is Literal:
        return _choices(get_args(kind))
    if get_origin(kind) is dict:
        return "names of options with a number each, such as lives=3"
    if kind in (int, float):
        noun = "an integer" if kind is int else "a number"
        start = f"{'above' if one.metadata['above'] else 'from'} {low:,}"
        return f"{none}{noun} {start}" + (f" to {high:,}" if math.isfinite(high) else " up")
    return none + {bool: "true or false", str: "a text"}[kind]


def _choices(values: list[Any] | tuple[Any, ...]) -> str:
    """'1', '1 or 2', '1, 2 or 3', with thousands marked."""
    words = [f"{value:,}" if isinstance(value, int) else str(value) for value in values]
    return " or ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


def _minibatches(config: Config) -> list[int]:
    """Minibatches that would do, at most ten: the nearest to the one asked for."""
    envs = config.env.num_envs
    sizes = [count * config.ppo.horizon for count in range(1, envs + 1) if envs % count == 0]
    nearest = sorted(sizes, key=lambda size: abs(math.log(size / config.ppo.minibatch)))
    return sorted(nearest[:10])


def _refuse_strangers(given: Any, known: set[str], prefix: str) -> None:
    if not isinstance(given, dict):
        raise ConfigError(f"the settings of {prefix.rstrip('.') or 'a run'} are {given!r}; they may be a table of "
                          "names and values")
    strangers = [name for name in given if name not in known]
    if strangers:
        near = difflib.get_close_matches(strangers[0], known, 1)
        hint = f"did you mean {prefix}{near[0]}?" if near else f"there are {', '.join(sorted(known))}"
        raise ConfigError(f"unknown setting {', '.join(prefix + name for name in strangers)}; {hint}")


def _refuse_gaps(given: dict[str, Any], known: set[str], prefix: str) -> None:
    gaps = sorted(known - given.keys())
    if gaps:
        raise ConfigError(f"missing setting {', '.join(prefix + name for name in gaps)}")
