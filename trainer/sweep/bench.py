"""A bench: the same games with many seeds, as many trainings at once as there are cores, and a table of their results.

Each training is a process of its own with a share of the cores. A finished one is never run again; an interrupted or killed one
goes on from its last checkpoint. Several processes, also on several machines with a shared folder, may work on a bench.
"""

import re
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from optuna.trial import FrozenTrial, TrialState

from envs_c.files import remove_leftovers
from envs_c.machine import cores
from envs_c.text import say
from trainer.config import Config, EnvConfig
from trainer.config.games import GameName, place_of
from trainer.config.no_ops import with_no_ops
from trainer.config.sections import OF_THE_MACHINE
from trainer.errors import CheckpointError, ConfigError, SweepError
from trainer.process import signals_interrupt
from trainer.runs.find import holds_run
from trainer.runs.folder import CHECKPOINT, CONFIG, refuse_links
from trainer.runs.metrics import read_metrics
from trainer.sweep.folder import made
from trainer.sweep.storage import open_storage, storage_errors
from trainer.sweep.study import chosen, find_study, first_difference
from trainer.sweep.table import write_table
from trainer.sweep.tasks import Task, Tasks, open_bench
from trainer.sweep.trial import POLL, Training, TrialFailed, new_training

_WAIT = 2.0  # seconds between two looks for tasks of other processes that have died


@dataclass(frozen=True)
class Plan:
    """A bench, without its name and storage."""

    configs: dict[GameName, Config]  # by game; the seed is that of the first training
    stickies: tuple[float, ...]  # probabilities of sticky actions, each a training; () for that of the preset; see `_stickies`
    seeds: int
    jobs: int                   # trainings at once; 0: one for each core
    folder: Path
    consent: tuple[str, ...] = ()  # options that allow code, for the trainings
    noop_max: int | None = None    # of trainings without sticky actions, see `with_no_ops`; others have the preset's

    @property
    def tasks(self) -> list[Task]:
        """All trainings: those with the first seed of all games come first."""
        tasks = []
        for number in range(self.seeds):
            for config in self.configs.values():
                game = config.game
                for sticky in self._stickies(config):
                    seed = config.run.seed + number
                    name = re.sub(r"[^\w.-]+", "_", game.short)
                    middle = "" if sticky is None else f"-sticky{sticky:g}"
                    tasks.append(Task(f"{name}{middle}-s{seed}", game, sticky, seed))
        if len({task.name for task in tasks}) < len(tasks):
            raise ConfigError("two of the games have the same name in a folder: bench them in two folders with --out")
        return tasks

    @property
    def settings(self) -> dict[str, dict[str, Any]]:
        """The settings of each game that all processes of the bench must share."""
        found = {}
        for game, config in self.configs.items():
            sections = config.to_dict()
            run = sections.pop("run")
            for name in (*OF_THE_MACHINE, "sticky"):
                sections["env"].pop(name)
            sections["env"]["noop_max"] = self._env(config, 0.0).noop_max
            found[game] = sections | {"run": chosen(run, "eval_episodes")}
        return found

    def config_of(self, task: Task) -> Config:
        """The settings of a training. Its threads are its share of the cores."""
        config = self.configs[task.game]
        threads = config.env.num_threads or max(1, cores() // (self.jobs or cores()))
        env = replace(self._env(config, config.env.sticky if task.sticky is None else task.sticky), num_threads=threads)
        return replace(config, env=env, run=replace(config.run, seed=task.seed))

    def _stickies(self, config: Config) -> tuple[float | None, ...]:
        """The probabilities of sticky actions of a game: an environment of Gymnasium has its own, and self-play has none."""
        if config.game.is_gym:
            return (None,)
        return (0.0,) if config.self_play.self_play else self.stickies or (config.env.sticky,)

    def _env(self, config: Config, sticky: float) -> EnvConfig:
        """The environments of a training with this probability of sticky actions. A game in self-play has no no-ops.

        Trainings with sticky actions keep the preset's no-ops, with which benches of cartridges are published.
        """
        most = None if config.self_play.self_play or sticky else self.noop_max
        return with_no_ops(config.game, replace(config.env, sticky=sticky), most)


def run_bench(plan: Plan, name: str, url: str) -> None:
    """Begin, join or resume the bench `name`: run trainings until all are done, then write and print its table.

    url: the storage.
    Ctrl-C (or SIGTERM, or a closed terminal) ends the trainings with checkpoints, and raises KeyboardInterrupt.
    Raises SweepError if the storage fails, has another bench of this name, if the folder holds a run with other settings, or if
    trainings failed.
    """
    listed = plan.tasks
    with storage_errors(url):
        with made(plan.folder):
            refuse_links(plan.folder, ".*")
            _refuse_other_runs(plan, name, url)
            tasks = Tasks(open_bench(open_storage(url), name, plan.settings), listed)
        say(f"bench {name}: {len(tasks.results())} of {len(listed)} trainings done, {plan.jobs or cores()} at once, in "
               f"{plan.folder}")
        with signals_interrupt():
            _Work(plan, tasks).run()
        failures = tasks.failures()
        if results := tasks.results():
            write_table(plan.folder, listed, results, {task.name: plan.config_of(task).env for task in listed})
        if failures:
            first = next(iter(failures))
            raise SweepError(f"{len(failures)} of {len(listed)} trainings failed, such as {first}: {failures[first]}; the same "
                             "command tries them again")


class _Work:
    """The trainings of this process."""

    def __init__(self, plan: Plan, tasks: Tasks):
        self.plan, self.tasks = plan, tasks
        self.running: list[tuple[Training, FrozenTrial, Task]] = []

    def run(self) -> None:
        """Run trainings until all are done, those of other processes too: if one dies, this one takes its tasks over."""
        waits = False
        try:
            while True:
                self._start()
                if not self.running:
                    if not self.tasks.open:
                        return
                    if not waits:
                        say(f"waiting for the trainings of other processes{self.tasks.advice}")
                        waits = True
                    time.sleep(_WAIT)
                self._watch()
        except KeyboardInterrupt:
            say(f"interrupted: {len(self.running)} trainings write their checkpoints; the same command goes on")
            raise
        finally:
            self._end()

    def _start(self) -> None:
        """Start trainings while there are tasks and jobs for them."""
        while len(self.running) < (self.plan.jobs or cores()) and (taken := self.tasks.take()):
            trial, task = taken
            folder = self.plan.folder / task.name
            try:
                resumes = _prepare(folder)
                options = [str(task.game), "--resume", str(folder), *self.plan.consent]
                if not resumes:
                    options = new_training(self.plan.config_of(task), folder, f"A training of a bench: {task.label}.",
                                           self.plan.consent)
                self.running.append((Training(folder, options), trial, task))
            except OSError as error:
                self.tasks.failed(trial, "failed", f"cannot write {folder}: {error.strerror or error}")
                continue
            say(f"{task.label}: {'goes on' if resumes else 'started'}")

    def _watch(self) -> None:
        """Wait for a moment, and note the trainings that have ended."""
        for index, (training, trial, task) in enumerate([*self.running]):
            ended = training.ended(POLL if index == 0 else 0.0)
            self.tasks.beat(trial)
            if not ended:
                continue
            self.running.remove((training, trial, task))
            try:
                facts = _facts(training)
            except TrialFailed as failure:
                self.tasks.failed(trial, "failed", str(failure))
                say(f"{task.label}: failed: {failure}")
                continue
            self.tasks.done(trial, facts)
            mean, minutes = facts["evaluations"][0]["mean"], facts["minutes"]
            say(f"{task.label}: score {mean:.4g} with sampled actions after {minutes:.3g} minutes of training")

    def _end(self) -> None:
        """Interrupt all trainings at once, then wait for each."""
        try:
            for training, _, _ in self.running:
                training.interrupt()
        finally:
            for training, _, _ in self.running:
                training.end()
            for _, trial, _ in self.running:  # after all have ended: the storage may fail
                self.tasks.failed(trial, "reason", "interrupted")


def _prepare(folder: Path) -> bool:
    """True if the run in `folder` is to be resumed. A folder without a checkpoint is made ready for a new run."""
    if not folder.exists():
        return False
    if _can_go_on(folder):
        return True
    remove_leftovers(folder, rf"{CHECKPOINT.pattern}|.*\.json|.*\.jsonl|.*\.toml")
    (folder / CONFIG).unlink(missing_ok=True)  # of a run that was killed before its first checkpoint
    return False


def _can_go_on(folder: Path) -> bool:
    return holds_run(folder) and any(CHECKPOINT.fullmatch(path.name) for path in folder.iterdir())


def _refuse_other_runs(plan: Plan, name: str, url: str) -> None:
    """Raises SweepError if a training would go on with a run that has other settings than its own, such as another bench's.

    A training that the bench has done already does not go on.
    """
    other = {task.name: difference for task in plan.tasks if (difference := _difference(plan, task))}
    if other and (study := find_study(url, name)):
        for trial in study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,)):
            other.pop(str(trial.user_attrs.get("task")), None)
    for run, difference in other.items():
        raise SweepError(f"--out must be a folder without runs of other settings, not {plan.folder}: its run {run} goes on "
                         f"only with the settings of its start ({difference}); give those, or name another --out")


def _difference(plan: Plan, task: Task) -> str | None:
    """The first difference between the settings of a run in a training's folder and those of the training, in words.

    None without a run, and for one that cannot be read, whose training fails with the reason.
    """
    folder = plan.folder / task.name
    if not _can_go_on(folder):
        return None
    from trainer.runs import checkpoint  # loads torch
    try:
        saved = checkpoint.read_config(checkpoint.latest(folder))
    except (CheckpointError, ConfigError):
        return None
    saved = replace(saved, game=place_of(saved.game, task.game))
    return first_difference(_of_a_score(saved), _of_a_score(plan.config_of(task)))


def _of_a_score(config: Config) -> dict[str, Any]:
    """The settings on which the score of a training depends."""
    sections = config.to_dict()
    run = sections.pop("run")
    for name in (*OF_THE_MACHINE, "sim"):
        sections["env"].pop(name)
    return sections | {"run": chosen(run, "seed", "eval_episodes")}


def _facts(training: Training) -> dict[str, Any]:
    """The results of a training for the storage. Raises TrialFailed."""
    evaluations = training.evaluations()
    last = (read_metrics(training.folder) or [{"step": 0, "seconds": 0.0}])[-1]
    return {"evaluations": evaluations, "steps": last["step"], "minutes": last["seconds"] / 60, "folder": str(training.folder)}
