"""The settings of a training run: one frozen dataclass a concern, a docstring a field, derived sizes as properties.

A field's default, its type and its range stand in one line, and its docstring is the text that `--help` shows. Values
are checked when a section is made, wherever they come from: the command line, a game's preset, a saved run, a test.
"""

import math
import re
import tomllib
from dataclasses import Field, asdict, dataclass, field, fields, replace
from importlib import resources
from pathlib import Path
from typing import Any, Literal

from trainer.errors import ConfigError
from trainer.settings import Section, check, choices, refuse_gaps, refuse_strangers, within


@dataclass(frozen=True)
class EnvConfig(Section):
    """The environments."""

    view: Literal["features", "pixels"] = "features"
    """What the agent sees: the game's feature vector, or its 84x84 grey screen."""
    num_envs: int = within(1024, 1, 2**20)
    """Environments played side by side."""
    frame_skip: int | None = within(None, 1, 1000)
    """Frames that an action is held for. none: as the game has it."""
    sticky: float = within(0.0, 0, 1)
    """Probability that a frame repeats the action of the frame before."""
    noop_max: int = within(0, 0, 10_000)
    """An episode starts with up to this many frames of doing nothing, drawn anew each time."""
    time_limit: int | None = within(None, 1, 2**31 - 1)
    """Steps after which an episode is truncated. none: as the game has it."""
    reward_clip: float | None = within(None, 0, above=True)
    """Rewards are clipped to [-x, x] for learning; scores stay raw. none: no clipping."""
    sim: Literal["host", "device", "tensors"] = "host"
    """Where the games are played: on the CPU, or (cartpole alone) on the device, by a CUDA kernel or by torch tensors."""
    num_threads: int = within(0, 0, 4096)
    """Threads that play and learn. 0: all cores, or under torchrun a rank's part of them."""
    num_batches: int = within(0, 0, 1024)
    """Batches that a device's environments are split into, to play one while it is at another. 0: measured at the start."""
    options: dict[str, float] = field(default_factory=dict)
    """Options of the game itself, such as lives=3."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.num_batches > self.num_envs:
            raise ConfigError(f"num_batches is {self.num_batches}; with {self.num_envs} environments (num_envs) it may "
                              f"be an integer from 1 to {self.num_envs}")


@dataclass(frozen=True)
class PolicyConfig(Section):
    """The network."""

    memory: Literal["lstm", "mingru", "none"] = "lstm"
    """What stands behind the encoder: an LSTM, minimal gated recurrent units, or a layer that remembers nothing."""
    layers: int = within(1, 1, 64)
    """Layers of mingru."""
    encoder: str = "auto"
    """What reads the observations: mlp, conv (pictures), board, cells (kinds), or a module by import path. auto: by shape."""
    frame_stack: int = within(1, 1, 64)
    """Last observations that the encoder sees at once."""
    encoder_size: int = within(128, 1, 65_536)
    """Width of the encoder."""
    lstm_size: int = within(128, 1, 65_536)
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
class PPOConfig(Section):
    """The learning."""

    total_steps: int = within(10_000_000, 1, 2**53)
    """Steps to train for, all environments together; schedules end here."""
    horizon: int = within(64, 1, 65_536)
    """Steps of each environment in a rollout, the length of the sequences learned from."""
    minibatch: int = within(32_768, 1, 2**40)
    """Steps in a minibatch: a multiple of horizon that divides num_envs * horizon."""
    epochs: int = within(1, 1, 1000)
    """Times that each rollout is learned from."""
    accumulate: int = within(1, 1, 2**20)
    """Minibatches whose gradients make one step of the optimizer."""
    target_kl: float | None = within(None, 0, above=True)
    """Further epochs are left out once the mean KL divergence from the rollout's policy passes this. none: never."""
    optimizer: Literal["adam", "muon"] = "adam"
    """What takes the steps. muon: torch's, for the matrices between input and heads; Adam takes the rest."""
    learning_rate: float = within(0.003, 0, above=True)
    """The optimizer's step size at the start."""
    lr_schedule: Literal["constant", "linear", "cosine"] = "cosine"
    """How the learning rate goes to zero over total_steps, or stays."""
    reward_scale: float = within(1.0, 0, above=True)
    """Rewards (clipped, where they are) are multiplied by this for learning; scores stay raw."""
    normalize_rewards: bool = False
    """Divide rewards by the running deviation of the discounted return, for learning."""
    gamma: float = within(0.99, 0, 1)
    """Discount of rewards a step."""
    gae_lambda: float = within(0.95, 0, 1)
    """Decay of generalised advantage estimation."""
    vtrace: bool = False
    """Estimate advantages anew before each minibatch, by the ratios so far, clipped as V-trace does."""
    rho_clip: float = within(1.0, 0, above=True)
    """With vtrace: the largest weight of a step's own error."""
    c_clip: float = within(1.0, 0, above=True)
    """With vtrace: the largest weight of what comes after a step."""
    priority_alpha: float = within(0.0, 0, 10)
    """Sequences are drawn with probability ~ (mean absolute advantage)^alpha. 0: each once an epoch, in random order."""
    priority_beta: float = within(1.0, 0, 1)
    """How much of what that skews is taken back by weights: none at 0, all at 1."""
    clip: float = within(0.2, 0, above=True)
    """Range of the probability ratio: 1 - clip to 1 + clip."""
    value_clip: float = within(0.2, 0)
    """Range that a value may move from its old prediction. 0: no limit."""
    value_coef: float = within(0.5, 0)
    """Weight of the value loss."""
    entropy_coef: float = within(0.01, 0)
    """Weight of the entropy bonus."""
    entropy_final: float | None = within(None, 0)
    """The weight at the end, reached in a straight line over total_steps. none: it stays."""
    max_grad_norm: float = within(0.5, 0, above=True)
    """Gradients longer than this are scaled down to it."""
    muon_momentum: float = within(0.95, 0, 0.999999)
    """Muon's decay of the mean gradient."""
    adam_beta1: float = within(0.9, 0, 0.999999)
    """Adam's decay of the mean gradient."""
    adam_beta2: float = within(0.999, 0, 0.999999)
    """Adam's decay of the mean squared gradient."""
    adam_eps: float = within(1e-5, 0, above=True)
    """Added to Adam's denominator."""


@dataclass(frozen=True)
class SelfPlayConfig(Section):
    """Self-play, for games of two players."""

    self_play: bool = False
    """Play against the policy itself and past ones, not the game's own opponents, which then only measure it."""
    pool_size: int = within(16, 1, 4096)
    """Past policies that are kept to play against, spread over the training."""
    pool_active: int = within(4, 1, 4096)
    """Past policies that games are begun against in a rollout, drawn anew for each."""
    current_share: float = within(0.5, 0, 1)
    """Share of the games that are played against the policy as it is now."""
    opponent_draw: Literal["uniform", "hard", "even"] = "uniform"
    """How past policies are drawn: all alike, those that win most against us, or those about as strong as we are."""
    snapshot_every: int = within(10, 1, 2**31 - 1)
    """Iterations after which the policy joins the pool."""
    snapshot_win_rate: float | None = within(None, 0.5, 1)
    """It joins earlier, too, with this share of the points of 100 games or more against the pool. none: it does not."""
    anchor_games: int = within(64, 0, 1_000_000)
    """Games against each of the game's own opponents when a policy joins the pool, for the ratings. 0: none."""


TRACKERS = {"tensorboard": "tensorboard", "wandb": "wandb", "trackio": "trackio"}  # the setting's names: their modules


@dataclass(frozen=True)
class RunConfig(Section):
    """This run."""

    seed: int = within(1, 0, 2**63 - 1)
    """The same seed gives the same run."""
    device: str = "auto"
    """Where the network lives: auto (the GPU if there is one), cpu, cuda, or cuda:1 for the second GPU."""
    serial: bool = False
    """One batch at a time, waited for at each step: for debugging."""
    run_dir: str | None = None
    """Folder to write into. none: a new one, runs/GAME-DATE-TIME-sSEED."""
    resume: str | None = None
    """Go on with this run: its folder, one of its checkpoints, the beginning of its name under runs, or last."""
    stop_at: int | None = within(None, 1, 2**53)
    """End early at this step; no schedule changes."""
    dashboard: bool = True
    """Show the live dashboard, where there is a terminal."""
    checkpoint_seconds: float = within(30.0, 0)
    """Seconds between checkpoints. 0: one after every iteration."""
    eval_episodes: int = within(100, 0, 2**31 - 1)
    """Episodes of the evaluation at the end. 0: none."""
    gif: bool = True
    """Film an episode at the end."""
    track: str = "tensorboard"
    """Where figures go, beside metrics.jsonl: tensorboard, wandb, trackio, or several with commas. none: nowhere else."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_device(self.device)
        asked = self.track.split(",")
        if self.track != "none" and (not set(asked) <= TRACKERS.keys() or len(set(asked)) < len(asked)):
            raise ConfigError(f"track is {self.track!r}; it may be none, or one or more of {', '.join(TRACKERS)}, with commas "
                              "between them, each once")


def check_device(name: str) -> None:
    """Raises ConfigError where a device's name is none."""
    if not re.fullmatch("auto|cpu|cuda(:[0-9]+)?", name):
        raise ConfigError(f"device is {name!r}; it may be auto, cpu, cuda, or cuda:1 for the second GPU")


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
    config = _overlaid(game, file, path)
    if config.run.resume is not None:
        raise ConfigError(f"{path}: run.resume is no setting of a preset; write --resume {config.run.resume}")
    return config


def _overlaid(game: str, file: Any, label: str) -> Config:
    """The defaults, overlaid with a file of settings, whose name stands in front of its errors."""
    try:
        return overlay(Config(game), tomllib.loads(file.read_text(encoding="utf-8")))
    except (ConfigError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{label}: {error}") from None


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
