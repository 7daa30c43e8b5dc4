"""The training loop: play a rollout, learn from it, tell of it, save it."""

import contextlib
import time
from pathlib import Path

from bridge import EnvironmentFailed
from trainer.config import Config
from trainer.errors import LearningError
from trainer.log import trackers as track
from trainer.log.run_log import RunLog, draw_curves, new_run_folder
from trainer.play import evaluate
from trainer.play import matches as self_play_matches
from trainer.ppo import learner as ppo
from trainer.process import Interrupt
from trainer.ranks import Ranks, join
from trainer.rollout.actor import collect
from trainer.runs import checkpoint
from trainer.training import shares as sharing
from trainer.training.session import Session


def train(config: Config) -> Path:
    """Train as `config` says, from the start or from the checkpoint of `config.run.resume`; returns the run's folder.

    Ctrl-C (or SIGTERM, or a terminal that closes) ends it after the iteration under way, with a checkpoint; a second one ends
    it at once. Then, as with `stop_at`, there is no evaluation, and KeyboardInterrupt is raised once everything is written.

    In a job of torchrun's all ranks train together; rank 0 alone writes, tells and evaluates. An interrupt of one is all's.
    """
    with join() as ranks:
        return train_with(config, ranks)


def train_with(config: Config, ranks: Ranks) -> Path:
    """`train` in the job `ranks`."""
    sharing.check_alike(config, ranks)
    ranks.first(lambda: track.require(config.run.track))  # rank 0 keeps the log
    source = ranks.first(lambda: checkpoint.latest(config.run.resume)) if config.run.resume else None
    session = Session.resumed(config, source, ranks) if source else Session(config, ranks=ranks)
    folder = source.parent if source else ranks.first(lambda: new_run_folder(config))
    if source is None:
        session.save(folder)  # a run that is killed right away can be resumed, too
    with open_log(session, folder, source) as log:
        with Interrupt() as interrupt:
            finished = loop(session, folder, log, interrupt)
            ranks.leave()
            if ranks.rank == 0:
                log.note(f"checkpoints and curves are in {folder}")
                draw_curves(folder)
            if interrupt.asked:
                log.note(f"interrupted at step {session.step:,}; go on with --resume {folder}")
                raise KeyboardInterrupt
        if finished and config.run.eval_episodes and ranks.rank == 0:
            finish(session, folder, log)
    return folder


def finish(session: Session, folder: Path, log: RunLog):
    """The evaluation at the end; an interrupt ends it at once."""
    try:
        (evaluate if session.league is None else self_play_matches).finish(session, folder, log)
    except KeyboardInterrupt:
        log.note(f"the evaluation was interrupted; python -m trainer eval {folder} plays one")
        raise


def open_log(session: Session, folder: Path, source: Path | None):
    """The log of this sitting, which rank 0 keeps; source: the checkpoint that it goes on from."""
    config = session.config
    if session.ranks.rank:
        return contextlib.nullcontext(NoLog())
    return RunLog(folder, config, dashboard=config.run.dashboard, facts=session.facts, start_seconds=session.seconds,
                  resume_step=session.step if source else None)


class NoLog:
    """The log of a rank that keeps none."""

    def iteration(self, step: int, metrics: dict[str, float | None]):
        """Nothing."""

    def note(self, text: str):
        """Nothing."""


def loop(session: Session, folder: Path, log: RunLog | NoLog, interrupt: Interrupt) -> bool:
    """Iterate to the end, to stop_at, or to an interrupt (of any rank); returns whether it was the end."""
    config, ranks = session.config, session.ranks
    end = config.num_iterations * config.batch_steps
    stop = min(end, config.run.stop_at or end)
    saved_at = time.perf_counter()
    asked, = ranks.any(interrupt.asked)  # all ranks go by what all know, whenever one's signal comes
    while session.step < stop and not asked:
        try:
            metrics = iterate(session)
        except EnvironmentFailed:
            if not ranks.joined:  # the others are waited for by nobody: they end at the last checkpoint
                rescue(session, folder, log)
            raise
        except LearningError as error:
            good = ranks.first(lambda: checkpoint.latest(folder))
            raise LearningError(f"{error}, iteration {session.iteration + 1:,}; the last good checkpoint is {good}: resume it "
                                "with other settings, such as a smaller --learning-rate, in a new run") from None
        log.iteration(session.step, metrics)
        asked, due = ranks.any(interrupt.asked, time.perf_counter() - saved_at >= config.run.checkpoint_seconds)
        if due:
            session.save(folder)
            saved_at = time.perf_counter()
    session.save(folder)
    interrupt.asked |= asked
    return session.step >= end


def rescue(session: Session, folder: Path, log: RunLog):
    """A checkpoint of what was learned before an environment failed; the rollout under way is lost."""
    with contextlib.suppress(EnvironmentFailed):
        session.pipeline.settle()
    session.save(folder)
    log.note(f"an environment failed; saved at step {session.step:,}, go on with --resume {folder}")


def iterate(session: Session) -> dict[str, float | None]:
    """One rollout and what is learned from it; returns the iteration's metrics."""
    begin = time.perf_counter()
    before = stage_seconds(session)
    rate = ppo.learning_rate(session.config.ppo, session.step)
    session.learner.set_rate(rate, ppo.entropy_coef(session.config.ppo, session.step))
    if session.league is not None:
        session.league.begin(session.iteration)
    collect(session.actor)
    middle = time.perf_counter()
    metrics = session.learner.update()
    learned = time.perf_counter()
    session.note_episodes()
    session.iteration += 1
    if session.league is not None:
        metrics |= self_play_matches.after_iteration(session)
    elapsed = time.perf_counter() - begin
    session.seconds += elapsed
    stages = {name: seconds - before[name] for name, seconds in stage_seconds(session).items()}
    stages["time_learn"] = learned - middle
    stages["time_other"] = max(0.0, elapsed - sum(stages.values()))
    return {"score_mean": session.score_mean(), "length_mean": session.length_mean(), "episodes": session.episodes,
            "sps": session.config.batch_steps / elapsed, "learning_rate": rate, **metrics, **stages}


def stage_seconds(session: Session) -> dict[str, float]:
    """What the stages of the rollouts have taken so far."""
    return {"time_env": session.pipeline.env_seconds, "time_copy": session.pipeline.copy_seconds,
            "time_forward": session.actor.seconds["forward"], "time_sample": session.actor.seconds["sample"]}
