"""Make a session in two steps: `decide` the values common to all ranks, then `build` the parts."""

from dataclasses import dataclass, replace
from pathlib import Path

import torch

from bridge import Pipeline, open_device
from bridge.on_device.pipeline import OnDevicePipeline
from bridge.source import closed_on_error
from envs_c.machine import cores
from trainer import kernels
from trainer.config import Config
from trainer.environments import make_simulation, make_source
from trainer.errors import SettingError
from trainer.kernels.checks.first_start import check_kernels
from trainer.log import trackers
from trainer.policy import precision
from trainer.policy.make import make_policy
from trainer.policy.memory_trial import try_memory
from trainer.policy.policy import Policy
from trainer.ppo.learner import Learner
from trainer.process import keep_freed_memory
from trainer.ranks import ALONE, Ranks
from trainer.rollout.actor import Actor
from trainer.rollout.storage import Storage
from trainer.runs import checkpoint
from trainer.runs.folder import new_run_folder
from trainer.self_play.league import League, make_self_play
from trainer.training.batches import choose as choose_batches
from trainer.training.initial import initial_weights
from trainer.training.judge import Judge
from trainer.training.overlap import Overlap
from trainer.training.session import TrainingSession, precision_name
from trainer.training.shares import share_of

GRAPHS = True  # capture work as graphs if the device supports it
AS_STARTED = "as the run was started"


@dataclass(frozen=True)
class Decisions:
    """The values common to all ranks of a run; rank 0 decides them."""

    folder: Path | None        # of the run; None if nothing is saved
    checkpoint: Path | None    # to resume from
    precision: torch.dtype     # of the matrix products
    precision_reason: str
    num_batches: int           # of each rank's environments
    batches_reason: str


@dataclass(frozen=True)
class Plan(Decisions):
    """A rank's plan of a session."""

    config: Config  # of the whole run
    share: Config   # of this rank
    device: object  # this rank's, as bridge.open_device returns it

    @property
    def threads(self) -> int:
        """Threads of this rank."""
        return self.share.env.num_threads or cores()


def decide(config: Config, ranks: Ranks = ALONE, *, saves: bool = True) -> Plan:
    """Plan a session. All ranks call it; they exchange the device and then, once, rank 0's decisions.

    saves: False for a session without a folder, such as a profile.
    Raises TrainerError for settings which exclude each other, SettingError for a `stop_at` that a resumed run has passed, and
    the errors of `checkpoint.latest` and `new_run_folder`.
    """
    keep_freed_memory()
    share = share_of(config, ranks, ranks.device(config.run.device))
    device = open_device(share.run.device)
    torch.set_num_threads(share.env.num_threads or cores())  # one team size for kernels and products: libgomp changes it slowly
    check_kernels(device.torch_device, simulates=share.env.sim == "device", quiet=ranks.rank > 0)
    decisions = ranks.broadcast(lambda: _decide(config, share, device, saves))
    return Plan(**vars(decisions), config=config, share=share, device=device)


def build(plan: Plan, ranks: Ranks = ALONE) -> TrainingSession:
    """Make the parts of a session and put them together. All ranks call it.

    Raises CheckpointError if the checkpoint is damaged or does not fit, and ConfigError if the parts do not fit each other, or
    a new run's memory of the user's own fails in its trial.
    """
    share = plan.share
    saved = checkpoint.load(plan.checkpoint) if plan.checkpoint else None
    with closed_on_error(make_pipeline(share, plan.device, plan.num_batches, ranks.rank * share.env.num_envs)) as pipeline:
        session = _assemble(plan, ranks, pipeline)
        if saved is not None:
            session.restore(saved, plan.checkpoint)
    return session


def _assemble(plan: Plan, ranks: Ranks, pipeline: Pipeline | OnDevicePipeline) -> TrainingSession:
    """Make the other parts, and reset the environments."""
    plan = _with_exact_observations(plan, pipeline.source)
    config, share = plan.config, plan.share
    policy = _make_policy(plan, pipeline.source)
    start = config.run.init_from if plan.checkpoint is None else None
    weights = ""
    if ranks.joined or start:  # with ranks: orthogonal weights of another processor may differ in their last bits
        state, weights = ranks.broadcast(lambda: initial_weights(policy, start) if start else (policy.state_dict(), ""))
        policy.load_state_dict(state)
    policy = policy.to(plan.device.torch_device)
    storage = Storage.empty(config.ppo.horizon, pipeline, policy)
    if ":" in config.policy.memory and plan.checkpoint is None:
        try_memory(config.policy.memory, policy, plan.device.torch_device, storage.frames.dtype)
    actor = _make_actor(plan, policy, pipeline, storage, ranks)
    league = _make_league(plan, policy, actor) if config.self_play.self_play else None
    generator = torch.Generator().manual_seed(config.run.seed)
    learner = Learner(policy, storage, config.ppo, share.sequences_per_minibatch, generator, pipeline.new_stream(), GRAPHS,
                      ranks)
    overlap = Overlap(actor, learner, league) if config.ppo.overlap else None
    pipeline.reset()
    return TrainingSession(config, ranks, pipeline, policy, storage, actor, learner, league, generator,
                   judge=Judge(config), facts=_facts(plan, ranks, policy), overlap=overlap, notes=[weights] if weights else [])


def _make_actor(plan: Plan, policy: Policy, pipeline: Pipeline | OnDevicePipeline, storage: Storage, ranks: Ranks) -> Actor:
    """The actor. With `overlap` it has a policy and a storage of its own, and shares the policy's normalizer."""
    if plan.config.ppo.overlap:
        normalizer = policy.normalizer
        policy = _make_policy(plan, pipeline.source).to(pipeline.device)
        policy.normalizer = normalizer
        storage = Storage.empty(plan.config.ppo.horizon, pipeline, policy)
    return Actor(policy, pipeline, storage, plan.config.run.seed, noise_hold=plan.config.policy.noise_hold,
                 noise_hold_after=plan.config.policy.noise_hold_after, ranks=ranks)


def _with_exact_observations(plan: Plan, source) -> Plan:
    """The plan, with float32 products if bfloat16 would round the observations. A resumed run keeps its precision.

    Raises SettingError if the settings ask for bfloat16.
    """
    settings = plan.config.policy
    reason = precision.why_float32(source, settings.normalize_observations)
    if not reason or plan.checkpoint is not None or plan.precision == torch.float32:
        return plan
    if settings.precision == "bfloat16":
        raise SettingError("precision", f"must be auto or float32, since {reason}, not 'bfloat16'")
    return replace(plan, precision=torch.float32, precision_reason=reason)


def make_session(config: Config, ranks: Ranks = ALONE, *, resume: Path | None = None) -> TrainingSession:
    """A session without a folder of its own: for profiles, benchmarks and tests.

    resume: a checkpoint to restore.
    """
    run = replace(config.run, resume=None if resume is None else str(resume))
    plan = decide(replace(config, run=run), ranks, saves=False)
    return build(replace(plan, config=config), ranks)


def make_pipeline(share: Config, device, num_batches: int, first: int = 0) -> Pipeline | OnDevicePipeline:
    """The pipeline of a rank's environments. first: number of its first environment among those of the run."""
    env, run = share.env, share.run
    if share.self_play.self_play:
        source = make_self_play(share.game, env, run.seed, first)
    elif env.sim == "host":
        source = make_source(share.game, env, env.num_envs, run.seed, num_batches, first)
    else:
        plain = env.sim == "device" and share.game == "cartpole" and "cartpole" in kernels.replaced()
        simulation = make_simulation(share.game, replace(env, sim="tensors") if plain else env, env.num_envs, run.seed,
                                     device.torch_device, first)
        return OnDevicePipeline(simulation, device, serial=run.serial, graphs=GRAPHS)
    return Pipeline(source, num_batches, device, serial=run.serial, graphs=GRAPHS)


def _decide(config: Config, share: Config, device, saves: bool) -> Decisions:
    """The decisions of rank 0."""
    if saves:
        trackers.require(config.run.trackers)
    if config.run.resume:
        path = checkpoint.latest(config.run.resume)
        meta = checkpoint.progress(path, checkpoint.read_meta(path))
        reached, stop = meta["iteration"] * config.batch_steps, config.run.stop_at
        if stop is not None and stop <= reached:
            raise SettingError("stop_at", f"must be above {reached:,}, the step that the resumed run has reached, not {stop:,}")
        batches = min(meta["num_batches"], share.env.num_envs), AS_STARTED
        if checkpoint.read_config(path).env.sim != config.env.sim:
            batches = choose_batches(share, device, getattr(torch, meta["precision"]), graphs=GRAPHS)
        return Decisions(path.parent if saves else None, path, getattr(torch, meta["precision"]), AS_STARTED, *batches)
    dtype, precision_reason = precision.choose(config.policy.precision, device.torch_device)
    num_batches, batches_reason = choose_batches(share, device, dtype, graphs=GRAPHS)
    folder = new_run_folder(config.game, config.run) if saves else None
    return Decisions(folder, None, dtype, precision_reason, num_batches, batches_reason)


def _make_policy(plan: Plan, source) -> Policy:
    return make_policy(plan.config.policy, source, plan.config.run.seed, plan.precision)


def _make_league(plan: Plan, policy: Policy, actor: Actor) -> League:
    """The opponents of self-play."""
    config, source, device = plan.config, actor.pipeline.source, plan.device.torch_device
    return League(config.game, config.env, config.self_play, config.run.seed, source, policy, actor.weights,
                  lambda: _make_policy(plan, source).to(device), device, config.batch_steps,
                  actor.pipeline.new_stream, actor.policy)


def _facts(plan: Plan, ranks: Ranks, policy: Policy) -> dict[str, str]:
    """Facts about the session for its log, by name."""
    several = {"ranks": str(ranks.size)} if ranks.joined else {}
    return {**several, "device": str(plan.device.torch_device),
            "precision": f"{precision_name(plan.precision)} ({plan.precision_reason})", "threads": str(plan.threads),
            "kernels": kernels.describe(plan.device.torch_device, plan.precision),
            "batches": f"{plan.num_batches} ({plan.batches_reason})",
            "parameters": f"{sum(parameter.numel() for parameter in policy.parameters()):,}"}
