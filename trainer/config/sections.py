"""The sections of a run's settings: one frozen dataclass for each concern.

A setting is one line with its type, its range and its default. Its docstring is its text in `--help`. Values are
checked when a section is made, whatever they come from: the command line, a preset, a saved run or a test.
"""

from dataclasses import dataclass, field
from typing import Any, Literal

from envs_c.views import DEFAULT, names
from trainer.config.fields import Section, matching, path_setting, within
from trainer.errors import SettingError

# The names in the registries of trainer/policy and trainer/log. These load torch or trackers, so they are not imported here.
MEMORY_NAMES = ("lstm", "mingru", "none")
ENCODER_NAMES = ("mlp", "conv", "pixels", "board", "cells", "bits")
TRACKER_NAMES = ("tensorboard", "wandb", "trackio")

# Names of settings that may change when a run is resumed: those without effect on the learning, and total_steps, by which the
# schedules go on as in a run that was started with the new number.
FREE_ON_RESUME = frozenset({"num_threads", "resume", "stop_at", "device", "sim", "serial", "dashboard", "checkpoint_seconds",
                            "eval_episodes", "eval_greedy", "gif", "judge_episodes", "track", "total_steps"})
FREE_BETWEEN_RANKS = frozenset({"num_threads", "device", "dashboard", "gif", "run_dir", "resume"})  # may differ between ranks
OF_THE_MACHINE = frozenset({"num_threads", "num_batches"})   # neither in presets for others nor compared by sweeps
OF_ONE_SESSION = frozenset({"run_dir", "resume", "stop_at"})  # in no preset

# Settings that the first checkpoints do not have, with the value by which such a run goes on as before.
ADDED_LATER: dict[str, Any] = {"heads": "linear", "observation_transform": None, "reward_transform": None, "loss": None,
                               "init_from": None, "vectorization": "auto", "wrap": "none", "observations": "plain",
                               "eval_greedy": True, "highway": False, "overlap": False, "noise_hold": 1,
                               "noise_hold_after": "any", "wait_for_signal": False, "judge_episodes": 0,
                               "life_loss_info": False, "normalize_steps": 0}

SEEDS = 2**63      # a run's seed is lower than this
EPISODES = 2**24   # at most, of an evaluation: each has an environment of its own
FLOAT = 1e38       # about the largest float32

_IMPORT_PATH = "[^:]+:[^:]+"
# Pattern and requirement of settings with a name or an import path.
_MEMORY = (f"{'|'.join(MEMORY_NAMES)}|{_IMPORT_PATH}",
           f"{', '.join(MEMORY_NAMES)}, or the import path of a policy of your own, such as my_memories:Mine")
_ENCODER = (f"auto|{'|'.join(ENCODER_NAMES)}|{_IMPORT_PATH}",
            f"auto, {', '.join(ENCODER_NAMES)}, or the import path of a torch.nn.Module of your own, such as my_encoders:Small")
_WRAP = "none|[^:,]+:[^:,]+(,[^:,]+:[^:,]+)*", "none, or import paths such as my_wrappers:small, with commas between them"
_HEADS = f"linear|{_IMPORT_PATH}", "linear, or the import path of a torch.nn.Module of your own, such as my_heads:Deep"


def _own_function(example: str) -> str | None:
    """A field for a function of the user's own, by its import path. example: of one, such as my_losses:smooth."""
    return matching(None, _IMPORT_PATH, f"the import path of a function of your own, such as {example}")


def device_setting(default: str = "auto") -> str:
    """A field for the name of a device."""
    return matching(default, "auto|cpu|cuda(:[0-9]+)?", "auto, cpu, cuda, or cuda:1 for the second GPU")


def seed_setting(default: int | None = 1) -> int:
    """A field for the seed of a run or of episodes."""
    return within(default, 0, SEEDS - 1)


@dataclass(frozen=True)
class EnvConfig(Section):
    """The environments."""

    view: Literal[names(lambda view: view.trained)] = DEFAULT
    """The observations: the game's feature vector, its 84x84 grey screen, or (cartridges) the console's RAM."""
    num_envs: int = within(1024, 1, 2**20)
    """Environments played side by side."""
    frame_skip: int | None = within(None, 1, 1000)
    """Frames for which an action is held. none: the game's default."""
    sticky: float = within(0.0, 0, 1)
    """Probability that a frame repeats the action of the frame before."""
    noop_max: int = within(0, 0, 10_000)
    """An episode starts with up to this many frames without an action, drawn anew each time."""
    time_limit: int | None = within(None, 1, 2**31 - 1)
    """Steps after which an episode is truncated. none: the game's default."""
    reward_clip: float | None = within(None, 0, above=True)
    """Rewards are clipped to [-x, x] for learning; scores stay raw. none: no clipping."""
    life_loss_info: bool = False
    """A lost life ends an episode for the learner, while the game goes on. Scores and evaluations are of whole games."""
    sim: Literal["host", "device", "tensors"] = "host"
    """Where the games run: on the CPU, on the GPU by a CUDA kernel, or (cartpole only) on the device by torch tensors."""
    num_threads: int = within(0, 0, 1024)
    """Threads for games and learning. 0: all cores; under torchrun, this rank's share of them."""
    num_batches: int = within(0, 0, 1024)
    """Batches of environments on a device: one is stepped while another is on the device. 0: measured at the start."""
    options: dict[str, float | str] = field(default_factory=dict)
    """Options of the game itself, such as lives=3 or map_name=8x8, added to those of the preset. none: none of them either."""
    vectorization: Literal["auto", "sync", "async", "native"] = "auto"
    """Gymnasium: sync steps a batch in one process, async each environment in its own; native: the environment's own class."""
    wrap: str = matching("none", *_WRAP)
    """Gymnasium: wrappers of each environment by import path, with commas, the innermost first. none: no wrapper."""
    observations: Literal["spaces", "plain"] = "spaces"
    """Gymnasium: plain takes only a Box, as one vector, and divides bytes by 255, as runs of older versions do."""

    @property
    def wrappers(self) -> list[str]:
        """The import paths in `wrap`."""
        return [] if self.wrap == "none" else self.wrap.split(",")

    @property
    def keywords(self) -> dict[str, Any]:
        """The options as keyword arguments: numbers without a fraction are integers."""
        return {name: int(value) if isinstance(value, float) and value.is_integer() else value
                for name, value in self.options.items()}

    def check(self) -> None:
        super().check()
        if self.num_batches > self.num_envs:
            raise SettingError("num_batches", f"must be an integer from 0 to {self.num_envs:,}, the number of environments "
                                              f"(num_envs), not {self.num_batches:,}")


@dataclass(frozen=True)
class PolicyConfig(Section):
    """The policy."""

    memory: str = matching("lstm", *_MEMORY)
    """Memory behind the encoder: lstm, mingru (minimal gated recurrent units), none, or a class by import path."""
    layers: int = within(1, 1, 64)
    """Layers of mingru."""
    highway: bool = False
    """Highway around each layer of mingru, as in PufferLib 4, instead of a residual connection."""
    encoder: str = matching("auto", *_ENCODER)
    """Encoder of observations: mlp, conv and pixels, board, cells (kinds), bits, or an import path. auto: by shape."""
    observation_transform: str | None = _own_function("my_transforms:scaled")
    """A function of the encoder's input by import path, applied before the encoder. none: no function."""
    heads: str = matching("linear", *_HEADS)
    """The last layer, which gives logits and value: linear, or a module by import path."""
    frame_stack: int = within(1, 1, 64)
    """Number of the last observations read by the encoder together."""
    encoder_size: int = within(128, 1, 65_536)
    """Width of the encoder."""
    lstm_size: int = within(128, 1, 65_536)
    """Width of the LSTM, of the layers of mingru, or of the layer without memory."""
    normalize_observations: bool = False
    """Normalize features to mean 0 and deviation 1 by running statistics, and clip them at 10 deviations."""
    noise_hold: int = within(16, 1, 1000)
    """Exploration: steps for which one in four environments (at least one) keeps its random numbers. 1: new ones each step."""
    noise_hold_after: Literal["any", "truncation"] = "truncation"
    """When they are kept. any: always. truncation: until an episode terminates, and again after one that is truncated."""
    precision: Literal["auto", "float32", "bfloat16", "measure"] = "auto"
    """Type of the matrix products. auto: by a table of the CPU's or GPU's features; measure: the faster one, measured."""

    def check(self) -> None:
        super().check()
        if self.layers > 1 and self.memory in MEMORY_NAMES and self.memory != "mingru":
            raise SettingError("layers", f"must be 1 with memory {self.memory!r}, since only mingru stacks layers, not "
                                         f"{self.layers}")
        if self.highway and self.memory != "mingru":
            raise SettingError("highway", f"must be false with memory {self.memory!r}, since only mingru has one")
        if self.highway and self.encoder_size != self.lstm_size:
            raise SettingError("highway", f"must be false if encoder_size, {self.encoder_size}, is not lstm_size, "
                                          f"{self.lstm_size}")


@dataclass(frozen=True)
class PPOConfig(Section):
    """The learning."""

    total_steps: int = within(10_000_000, 1, 2**53)
    """Steps to train for, all environments together; schedules end here. With --resume: more steps, on a longer schedule."""
    horizon: int = within(64, 1, 65_536)
    """Steps of each environment in a rollout, and the length of the sequences for learning."""
    minibatch: int = within(2_048, 1, 2**40)
    """Steps in a minibatch: a multiple of horizon, and a divisor of num_envs * horizon."""
    epochs: int = within(1, 1, 1000)
    """Passes over each rollout."""
    accumulate: int = within(1, 1, 2**20)
    """Minibatches whose gradients make one step of the optimizer."""
    target_kl: float | None = within(None, 0, above=True)
    """Skip the remaining epochs if the KL divergence in an epoch's last minibatch is above this. none: never."""
    optimizer: Literal["adam", "muon"] = "adam"
    """The optimizer. muon: torch's Muon for the hidden matrices, each gate by itself, Adam for the rest."""
    learning_rate: float = within(0.003, 0, above=True)
    """The optimizer's step size at the start."""
    lr_schedule: Literal["constant", "linear", "cosine"] = "cosine"
    """Decay of the learning rate to zero over total_steps, or constant."""
    reward_transform: str | None = _own_function("my_transforms:shaped")
    """A function of the rollout by import path that returns the rewards for learning; scores stay raw. none: no function."""
    loss: str | None = _own_function("my_losses:smooth")
    """A function by import path whose terms are added to the loss, or replace terms of it. none: no function."""
    reward_scale: float = within(1.0, 0, above=True)
    """Rewards are multiplied by this for learning, after clipping and normalization; scores stay raw."""
    normalize_rewards: bool = True
    """Divide rewards by the standard deviation of the discounted return, for learning; scores stay raw."""
    normalize_steps: int = within(600_000, 0, 2**53)
    """Steps from the start that set this divisor (at least the mean size of nonzero rewards). 0: all steps, a clip at 10."""
    wait_for_signal: bool = False
    """Learn only the value after a rollout of equal rewards without a termination: its advantages are the value's errors."""
    gamma: float = within(0.99, 0, 1)
    """Discount of rewards per step."""
    gae_lambda: float = within(0.95, 0, 1)
    """Decay of generalised advantage estimation."""
    vtrace: bool = False
    """Estimate advantages again before each step, by V-trace. No effect in one epoch without priorities or other clips."""
    overlap: bool = False
    """Play the next rollout while learning; V-trace corrects. On a GPU target_kl, priority_alpha, reward_transform undo it."""
    rho_clip: float = within(1.0, 0, above=True)
    """With vtrace or overlap: upper bound of the weight of a step's own error."""
    c_clip: float = within(1.0, 0, above=True)
    """With vtrace or overlap: upper bound of the weight of later errors."""
    priority_alpha: float = within(0.0, 0, 10)
    """Draw sequences with probability ~ (mean absolute advantage)^alpha. 0: each once an epoch, in random order."""
    priority_beta: float = within(1.0, 0, 1)
    """Correction of that bias by importance weights: none at 0, full at 1."""
    clip: float = within(0.2, 0, FLOAT, above=True)
    """Range of the probability ratio: 1 - clip to 1 + clip."""
    value_clip: float = within(0.0, 0, FLOAT)
    """Largest change of a value from its old prediction. 0: no limit."""
    value_coef: float = within(0.5, 0)
    """Weight of the value loss."""
    entropy_coef: float = within(0.01, 0, FLOAT)
    """Weight of the entropy bonus."""
    entropy_final: float | None = within(None, 0, FLOAT)
    """Weight at the end, reached linearly over total_steps. none: constant."""
    max_grad_norm: float = within(0.5, 0, above=True)
    """Longer gradients are scaled down to this norm."""
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
    """Play against the current and past policies; the game's own opponents then only measure the policy."""
    pool_size: int = within(16, 1, 4096)
    """Past policies in the pool of opponents, spread over the training."""
    pool_active: int = within(4, 1, 4096)
    """Past policies as opponents of the new games of a rollout, drawn anew for each rollout."""
    current_share: float = within(0.5, 0, 1)
    """Share of the games against the current policy."""
    opponent_draw: Literal["uniform", "hard", "even"] = "uniform"
    """Draw of past policies: uniform, more often those who beat us (hard), or those about as strong as we are (even)."""
    snapshot_every: int = within(10, 1, 2**31 - 1)
    """Iterations between snapshots of the policy for the pool."""
    snapshot_win_rate: float | None = within(None, 0.5, 1)
    """Take a snapshot earlier at this share of the points of 100 games or more against the pool. none: never earlier."""
    anchor_games: int = within(64, 0, 1_000_000)
    """Games of each snapshot against each of the game's own opponents, for the ratings. 0: none."""


@dataclass(frozen=True)
class RunConfig(Section):
    """This run."""

    seed: int = seed_setting()
    """The same seed gives the same run."""
    device: str = device_setting()
    """Device of the policy: auto (the GPU if there is one), cpu, cuda, or cuda:1 for the second GPU."""
    serial: bool = False
    """One batch at a time, synchronized at each step: for debugging."""
    run_dir: str | None = path_setting()
    """Folder of the run. none: a new one, runs/GAME-DATE-TIME-sSEED."""
    resume: str | None = path_setting()
    """Resume this run: its folder, one of its checkpoints, the beginning of its name under runs, or last."""
    init_from: str | None = path_setting()
    """Start with the weights of this run (written as for --resume), and with a new optimizer. none: new weights."""
    stop_at: int | None = within(None, 1, 2**53)
    """End early at this step; schedules do not change."""
    dashboard: bool = True
    """Show the live dashboard in a terminal."""
    checkpoint_seconds: float = within(30.0, 0)
    """Seconds between checkpoints. 0: one after every iteration."""
    eval_episodes: int = within(100, 0, EPISODES)
    """Episodes of the evaluation at the end. 0: none."""
    judge_episodes: int | None = within(None, 0, 2**20)
    """Whole episodes side by side that pick best.safetensors. none: 64 (Gymnasium: 0); 0: the recent episodes do."""
    eval_greedy: bool = True
    """Also evaluate greedy actions at the end. A greedy policy may play on until the time limit."""
    gif: bool = True
    """Film an episode at the end."""
    track: str = "tensorboard"
    """Trackers of metrics, with commas: tensorboard, wandb, trackio, or a class by import path. none: only metrics.jsonl."""

    def check(self) -> None:
        super().check()
        names = self.trackers
        known = all(name in TRACKER_NAMES or ":" in name.strip(":") for name in names)
        if not known or len(set(names)) < len(names):
            raise SettingError("track", f"must be none, or one or more of {', '.join(TRACKER_NAMES)} and import paths such as "
                                        f"my_trackers:Mine, each once, with commas between them, not {self.track!r}")

    @property
    def trackers(self) -> list[str]:
        """The names in `track`: ["wandb", "trackio"] for "wandb,trackio", [] for "none"."""
        return [] if self.track == "none" else self.track.split(",")
