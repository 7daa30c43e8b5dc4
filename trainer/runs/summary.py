"""`Run`: a summary of a run, read from the files in its folder. Loads no torch."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from trainer.config.config import SECTIONS, Config, completed
from trainer.config.games import GameName
from trainer.errors import ConfigError, RunError
from trainer.files import read_json
from trainer.runs.evaluation import JUDGED, enough, is_of_another_step, read_evaluations, text
from trainer.runs.folder import CONFIG, is_locked, refuse_links, steps_saved
from trainer.runs.metrics import read_metrics


@dataclass(frozen=True)
class Run:
    """A run over all its sessions."""

    folder: Path
    config: dict[str, Any]    # the settings in config.json, with those that later versions added, see `completed`
    started: datetime         # start of the first session
    step: int                 # all environments together, with those after the last checkpoint
    saved: int | None         # the step of the last checkpoint; None without one, as after they were removed
    seconds: float            # of training
    score: float | None       # mean return of recent episodes
    best: float | None        # see `_best_score`
    evaluations: list[dict[str, Any]]  # of the last checkpoint, in evaluation.json: the first is the one with sampled actions
    running: bool             # True if a process is training in the folder now

    @property
    def game(self) -> GameName:
        return GameName(self.config["game"])

    @property
    def settings(self) -> Config:
        """`config`, checked. Raises ConfigError if it is of another version of the trainer."""
        try:
            return Config.from_dict(self.config)
        except ConfigError as error:
            raise ConfigError(f"{self.folder / CONFIG} was written by another version of the trainer: {error}") from None

    @property
    def evaluation(self) -> float | None:
        """Mean return of the evaluation at the end, with sampled actions; None without one of the last checkpoint."""
        return self.evaluations[0]["mean"] if self.evaluations else None

    @property
    def protocol(self) -> str:
        """The protocol of `evaluation` in words; empty without one."""
        return text(self.evaluations[0]) if self.evaluations else ""

    @property
    def seed(self) -> int:
        return self.config["run"]["seed"]

    @property
    def total_steps(self) -> int:
        return self.config["ppo"]["total_steps"]

    @property
    def state(self) -> str:
        """running, finished, or stopped: also if the last checkpoint could not be written, for a resumed run goes on before."""
        reached = self.step if self.saved is None else self.saved
        return "running" if self.running else "finished" if reached >= self.total_steps else "stopped"


def read_run(folder: Path) -> Run:
    """The summary of the run in `folder`. Raises RunError if the folder holds no run or a link, or if a file
    is damaged.
    """
    path = folder / CONFIG
    if not path.is_file():
        raise RunError(f"{folder} holds no run: it has no {CONFIG}")
    refuse_links(folder)
    try:
        saved = read_json(path)
        config, started = saved["config"], datetime.fromisoformat(saved["sessions"][0]["started"])
        numbers = config["run"]["seed"], config["ppo"]["total_steps"]
        known = config["game"].isprintable() and all(type(number) is int and 0 <= number < 2**63 for number in numbers)
        known = known and all(isinstance(config.get(section, {}), dict) for section in SECTIONS)
        known = known and isinstance(config.get("env", {}).get("options", {}), dict | None)
        noop_max, num_envs = (config.get("env", {}).get(name, 0) for name in ("noop_max", "num_envs"))
        known = known and type(noop_max) is type(num_envs) is int
    except OSError as error:
        raise RunError(f"cannot read {path}: {error.strerror or error}; let your user read it, or leave the run out") from None
    except (ValueError, TypeError, LookupError, AttributeError):
        known = False
    if not known:
        raise RunError(f"{path} is damaged, or was written by another program; move it away; a run that is resumed writes "
                       "another")
    entries, evaluations = read_metrics(folder), read_evaluations(folder, noop_max)
    saved = steps_saved(folder)
    if evaluations and is_of_another_step(evaluations[0], saved):
        evaluations = []
    scores = [entry["score_mean"] for entry in entries if entry.get("score_mean") is not None]
    last = entries[-1] if entries else {"step": 0, "seconds": 0.0}
    step = max([last["step"], *saved])  # a session of the user's own saves checkpoints without metrics
    return Run(folder, completed(config), started, step, max(saved, default=None), last["seconds"],
               scores[-1] if scores else None, _best_score(entries, enough(num_envs)), evaluations, is_locked(folder))


def _best_score(entries: Sequence[dict[str, Any]], enough: int) -> float | None:
    """The highest score of a judgment in the entries of metrics.jsonl.

    If the newest judgment has no score, since it had to cut episodes, or if there is none, the means of recent episodes count
    too: a short training could judge its early policies only. These count from `enough` ended episodes on.
    """
    judged = [entry[JUDGED] for entry in entries if JUDGED in entry]
    if not judged or judged[-1] is None:
        judged += [entry.get("score_mean") for entry in entries if (entry.get("episodes") or enough) >= enough]
    return max((score for score in judged if score is not None), default=None)
