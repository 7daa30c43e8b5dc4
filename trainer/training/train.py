"""The training loop: play a rollout, learn from it, log it, save it."""

import contextlib
import shlex
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from bridge import EnvironmentFailed
from bridge.source import closed_on_error
from trainer.config import Config
from trainer.errors import ConfigError, LearningError
from trainer.log.curves import draw_curves
from trainer.log.run_log import RunLog
from trainer.play import evaluate, matches
from trainer.ppo.optimizers import entropy_coef, learning_rate
from trainer.process import Interrupt, program_name
from trainer.ranks import Ranks, join
from trainer.results.report import REPORT, write_report
from trainer.rollout.actor import collect
from trainer.rollout.faults import first_fault
from trainer.runs import checkpoint
from trainer.runs.evaluation import JUDGED
from trainer.runs.folder import open_folder, refuse_files, refuse_run
from trainer.training.build import Plan, build, decide
from trainer.training.initial import resolved
from trainer.training.next_steps import next_steps, resuming
from trainer.training.session import TrainingSession
from trainer.training.shares import check_alike, use_own_threads


def train(config: Config, open_session: Callable[[TrainingSession], TrainingSession] | None = None) -> Path:
    """Train, from the start or from the checkpoint in `config.run.resume`; returns the run's folder.

    The first Ctrl-C (or SIGTERM, or closed terminal) ends the training after the current iteration, with a checkpoint; the
    second one ends it at once. The end of what reads the output, such as `head -1`, acts as the first. After an interrupt, and
    after `stop_at`, there is no evaluation. KeyboardInterrupt, or BrokenPipeError, is raised when everything is written.

    In a job of torchrun all ranks train together. Only rank 0 writes, prints and evaluates. An interrupt of one rank
    interrupts all.

    open_session: called with the session after its first checkpoint; the training goes on with the session that it returns.
    """
    with join() as ranks:
        return train_with(config, ranks, open_session)


def train_with(config: Config, ranks: Ranks, open_session: Callable[[TrainingSession], TrainingSession] | None = None) -> Path:
    """`train` in the job `ranks`."""
    config = resolved(config)
    check_alike(config, ranks)
    plan = decide(config, ranks)
    session, folder = start(plan, ranks), plan.folder
    if open_session is not None:
        session = open_session(session)
    with contextlib.closing(session), open_log(session, plan) as log:
        with Interrupt() as interrupt:
            finished = loop(session, folder, log, interrupt)
            ranks.leave()
            if ranks.rank == 0:
                log.end_training()
                log.note(f"checkpoints and curves are in {folder}")
                draw_curves(folder)
                write_report([folder], folder / REPORT, ended=True)
            if interrupt.asked:
                say_next(session, folder, log, interrupted=True)
                raise BrokenPipeError if log.reader_gone else KeyboardInterrupt
        if finished and config.run.eval_episodes and ranks.rank == 0:
            finish(session, folder, log)
        say_next(session, folder, log)
    return folder


def say_next(session: TrainingSession, folder: Path, log: "RunLog | NoLog", *, interrupted: bool = False) -> None:
    """Print what to open and what to type next."""
    for line in next_steps(session, folder, interrupted=interrupted):
        log.note(line)


def start(plan: Plan, ranks: Ranks) -> TrainingSession:
    """The session of a plan; a new run gets its first checkpoint. If this fails, a new folder is removed again."""
    try:
        with closed_on_error(build(plan, ranks)) as session:
            if plan.checkpoint is None:
                ranks.broadcast(lambda: _refuse_begun(plan.folder))
                session.save(plan.folder)  # for resuming a run killed early
        return session
    except BaseException:
        if plan.checkpoint is None and ranks.rank == 0:
            with contextlib.suppress(OSError):
                plan.folder.rmdir()  # only if it is empty
        raise


def _refuse_begun(folder: Path) -> None:
    """Raises RunError if another process has begun a run in `folder` since `decide`: a save would remove its checkpoints."""
    refuse_run(folder)
    refuse_files(folder)


def finish(session: TrainingSession, folder: Path, log: RunLog):
    """The evaluation at the end, which an interrupt ends at once, and then the report with what was evaluated."""
    config = session.config
    if config.game.is_gym and not session.episodes:
        log.note(f"no episode has ended in this training; if those of {config.game.short} have no end, the evaluation fails at "
                 f"step {evaluate.LONGEST:,}: {evaluate.WITH_AN_END}")
    try:
        if session.league is None:
            evaluate.finish(session.policy, config.game, config.env, config.run, folder, log, step=session.step)
        else:
            matches.finish(session.policy, session.league, config.run, folder, log, step=session.step)
    except KeyboardInterrupt:
        log.note(f"the evaluation was interrupted; make it again with {resuming(folder)}")
        say_next(session, folder, log)
        raise
    finally:
        write_report([folder], folder / REPORT, ended=True)


@contextlib.contextmanager
def open_log(session: TrainingSession, plan: Plan) -> Iterator["RunLog | NoLog"]:
    """The log of this session: rank 0 writes it, the others get a `NoLog`."""
    config, resume_step = session.config, session.step if plan.checkpoint else None
    if session.ranks.rank:
        yield NoLog()
        return
    goal = min(config.ppo.total_steps, config.run.stop_at or config.ppo.total_steps)
    with open_folder(plan.folder, config.to_dict(), session.facts, resume_step), \
         RunLog(plan.folder, config.game, goal=goal, facts=session.facts, dashboard=config.run.dashboard,
                trackers=config.run.trackers, settings=config.to_dict(), start_seconds=session.seconds,
                resume_step=resume_step) as log:
        if resume_step is not None and (aside := checkpoint.name_aside(plan.folder, resume_step)):
            log.note(f"{checkpoint.BEST} is of a step later than {resume_step:,}; the first save renames it to {aside.name}")
        for note in session.notes:
            log.note(note)
        yield log


class NoLog:
    """The log of a rank without a log."""

    reader_gone = False

    def iteration(self, step: int, metrics: dict[str, float | None]):
        """Does nothing."""

    def before_save(self):
        """Does nothing."""

    def note(self, text: str):
        """Does nothing."""


def loop(session: TrainingSession, folder: Path, log: RunLog | NoLog, interrupt: Interrupt) -> bool:
    """Iterate until the end, until stop_at, or until an interrupt or a stop of any rank; returns True at the end."""
    config, ranks = session.config, session.ranks
    end = config.num_iterations * config.batch_steps
    stop = min(end, config.run.stop_at or end)
    saved_at = time.perf_counter()
    asked, = ranks.any(interrupt.asked or log.reader_gone)  # all ranks use the common value, whenever the signal of one arrives
    while session.step < stop and not asked and not session.stopped:
        try:
            metrics = iterate(session)
        except EnvironmentFailed:
            if not ranks.joined:  # other ranks wait in a collective call and cannot save: the job ends at the last checkpoint
                rescue(session, folder, log)
            raise
        except LearningError as error:
            raise LearningError(explain(session, error)) from None
        try:
            judged = judge(session, lambda: interrupt.asked)
        except (EnvironmentFailed, ConfigError):
            if not ranks.joined:
                log.iteration(session.step, metrics)
                rescue(session, folder, log, "a judgment of the policy failed (--judge-episodes 0 leaves judgments out)")
            raise
        log.iteration(session.step, metrics | judged)
        scored = (bool(judged) or session.rating is not None) and session.step < stop  # the best one is saved with its score
        due = time.perf_counter() - saved_at >= config.run.checkpoint_seconds or scored
        asked, session.stopped, due = ranks.any(interrupt.asked or log.reader_gone, session.stopped, due)
        if due:
            save(session, folder, log)
            saved_at = time.perf_counter()
    save(session, folder, log)
    interrupt.asked |= asked
    return session.step >= end and not session.stopped


def judge(session: TrainingSession, stop: Callable[[], bool]) -> dict[str, float | None]:
    """Judge the policy if that is due; returns the score as a metric, or {}. Rank 0 judges, and the others wait.

    All ranks call it, and each finds the same judgments due. The others get no score, but the steps that it took.
    stop: a judgment ends without a result when it returns True, on rank 0.
    """
    judge, step = session.judge, session.step
    if not judge.is_due(step, [length for _, length in session.recent], session.episodes):
        return {}
    begin = time.perf_counter()

    def played(wait: Callable[[], None]) -> list[int]:
        if not stop():
            judge.judge(session.policy, step, lambda: wait() or stop())
        return judge.state()
    judge.restore(session.ranks.broadcast_slow(played))
    session.seconds += time.perf_counter() - begin
    return {JUDGED: judge.score} if judge.step == step else {}


def explain(session: TrainingSession, error: LearningError) -> str:
    """The text of an error of learning: its place, its cause if this is known, and what to do. All ranks call it."""
    ranks, first = session.ranks, session.ranks.rank * session.pipeline.num_envs
    found = [first_fault(storage, begin, first) for begin, storage in session.rollouts()]
    every = ranks.everyone(min(filter(None, found), default=None))
    fault = min(filter(None, every), default=None)
    kept = f"{error}, iteration {session.iteration + 1:,}; the last good checkpoint is {session.saved}"
    if session.saved is None:
        return f"{fault.text}; {error}" if fault else f"{error}, iteration {session.iteration + 1:,}; nothing was saved"
    if fault is None:
        return (f"{kept}: begin a new run with its weights (--init-from {shlex.quote(str(session.saved))}) and other "
                "settings, such as a smaller --learning-rate"
                + (f", or a corrected --loss {session.config.ppo.loss}" if session.config.ppo.loss else ""))
    callback = ", or on_rollout, which may change a rollout" if session.callbacks.on_rollout is not None else ""
    return f"{fault.text}; {kept}: correct the game (`{program_name()} check` tests a game){callback}, and resume it"


def save(session: TrainingSession, folder: Path, log: RunLog | NoLog):
    """Write a checkpoint. Raises RunError if the folder was removed, moved or replaced: none is written into a new one."""
    log.before_save()
    session.save(folder)


def rescue(session: TrainingSession, folder: Path, log: RunLog, cause: str = "an environment failed"):
    """Save the session after an environment failed; only the current rollout is lost, or after a judgment nothing."""
    with contextlib.suppress(EnvironmentFailed):
        session.pipeline.settle()
    save(session, folder, log)
    log.note(f"{cause}; saved at step {session.step:,}, go on with {resuming(folder)}")


def iterate(session: TrainingSession) -> dict[str, float | None]:
    """Play one rollout and learn from it; returns the iteration's metrics."""
    use_own_threads()
    begin = time.perf_counter()
    before = stage_seconds(session)
    rate = learning_rate(session.config.ppo, session.step)
    session.learner.set_rate(rate, entropy_coef(session.config.ppo, session.step))
    if session.overlap is not None:
        session.overlap.fetch()
    else:
        if session.league is not None:
            session.league.begin(session.iteration)
        collect(session.actor)
    session.callbacks.rollout(session)
    metrics, learning = learn(session)
    session.note_episodes()
    session.iteration += 1
    if session.league is not None:
        metrics |= matches.after_iteration(session.league, session.iteration, session.ranks)
    elapsed = time.perf_counter() - begin
    session.seconds += elapsed
    stages = {name: seconds - before[name] for name, seconds in stage_seconds(session).items()}
    stages["time_learn"] = learning
    stages["time_other"] = max(0.0, elapsed - sum(stages.values()))
    metrics = {"score_mean": session.score_mean(), "length_mean": session.length_mean(), "episodes": session.episodes,
               "sps": session.config.batch_steps / elapsed, "learning_rate": rate, **metrics, **stages}
    session.callbacks.update(session, metrics)
    if session.overlap is not None:
        session.overlap.require_rollout()
    return metrics


def learn(session: TrainingSession) -> tuple[dict[str, float], float]:
    """Learn from the rollout in session.storage; returns the metrics, and the seconds that the learning took."""
    if session.overlap is not None:
        return session.overlap.update(), session.overlap.seconds
    begin = time.perf_counter()
    return session.learner.update(), time.perf_counter() - begin


def stage_seconds(session: TrainingSession) -> dict[str, float]:
    """Seconds of each stage of the rollouts, over this session."""
    return {"time_env": session.pipeline.env_seconds, "time_copy": session.pipeline.copy_seconds,
            "time_forward": session.actor.seconds["forward"], "time_sample": session.actor.seconds["sample"]}
