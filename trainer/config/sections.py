"""The sections of a run's settings: one frozen dataclass a concern, a docstring a field.

A field's default, its type and its range stand in one line, and its docstring is the text that `--help` shows. Values
are checked when a section is made, wherever they come from: the command line, a game's preset, a saved run, a test.
"""

import re
from dataclasses import dataclass, field
from typing import Literal

from trainer.config.fields import Section, within
from trainer.errors import ConfigError


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


SEEDS = 2**63  # a run's seed is below


@dataclass(frozen=True)
class RunConfig(Section):
    """This run."""

    seed: int = within(1, 0, SEEDS - 1)
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


def check_seed(seed: int) -> None:
    """Raises ConfigError where a seed of episodes is none."""
    if not 0 <= seed < SEEDS:
        raise ConfigError(f"seed is {seed}; it may be an integer from 0 to 2^63 - 1")
