"""What a sweep found: a table, pictures, and the best settings as a preset. All of it is read out of the storage."""

import shlex
import warnings
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import optuna
import optuna.visualization.matplotlib as plot
from matplotlib.axes import Axes
from matplotlib.ticker import EngFormatter
from optuna.importance import PedAnovaImportanceEvaluator
from optuna.trial import FrozenTrial, TrialState
from rich.console import Console

from trainer.config import Config
from trainer.config.config import overlay
from trainer.config.options import PROG
from trainer.config.preset import preset_text
from trainer.errors import SweepError
from trainer.files import write_atomically
from trainer.log.text import show
from trainer.sweep.space import NONE

BEST = "best.toml"
_SHOWN = 10    # trials of the table
_REASONS = 5   # failures that are told
_ENOUGH = 10   # finished trials that importances are told from
_LEGEND = 10   # curves that a legend names


def write_report(study: optuna.Study, folder: Path) -> None:
    """Print the best trials, and write best.toml and the pictures into `folder`. Raises SweepError where no trial finished."""
    done = study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
    _tell_failures(study)
    if not done:
        raise SweepError(f"no trial of {study.study_name} has finished, so there is nothing to report ({counts(study)})")
    ranked = sorted(done, key=lambda trial: (-trial.value, trial.user_attrs["minutes"]))
    columns = ("trial", "score", "±", "minutes", "steps", "settings")
    show(columns, [_row(trial) for trial in ranked[:_SHOWN]], Console(), right=columns[:-1])
    best = ranked[0]
    config = settings_of(study, best)
    facts = best.user_attrs
    comment = (f"Trial {best.number}, the best of {len(done)} that finished in the sweep {study.study_name}: a score of\n"
               f"{scored(best.value, facts['standard_error'])} after {facts['minutes']:.3g} minutes of training.")
    _write(folder / BEST, preset_text(config, comment).encode())
    print(f"{folder / BEST}: the best settings; {PROG} {shlex.quote(config.game)} --preset {shlex.quote(str(folder / BEST))}")
    plt.switch_backend("agg")  # of Optuna's pyplot: files alone, no window
    for name, (what, draw, needed) in _PICTURES.items():
        if len(done) >= needed:
            _write(folder / name, _picture(draw, study))
            print(f"{folder / name}: {what}")
        else:
            print(f"{name}: not drawn, since {len(done)} trials have finished, and it needs {needed}")


def settings_of(study: optuna.Study, trial: FrozenTrial) -> Config:
    """The settings that a trial was trained with, apart from where and how it was run."""
    facts = study.user_attrs["facts"]
    settings = facts["settings"]
    shared = {name: section for name, section in settings.items() if name not in ("game", "run")}
    config = overlay(Config(settings["game"]), shared)
    changes: dict[str, dict[str, Any]] = {"ppo": {"minibatch": trial.user_attrs["settings"]["minibatch"]}}
    for name, line in facts["ranges"].items():
        changes.setdefault(line["section"], {})[name] = trial.user_attrs["settings"][name]
    return overlay(config, changes)


def counts(study: optuna.Study) -> str:
    """How many trials ended how, in words."""
    trials = study.get_trials(deepcopy=False)
    refused = sum(trial.user_attrs.get("reason", "").startswith("refused") for trial in trials)
    states = [trial.state for trial in trials]
    failed = sum("failed" in trial.user_attrs for trial in trials)
    parts = {"finished": states.count(TrialState.COMPLETE), "pruned": states.count(TrialState.PRUNED) - refused,
             "refused": refused, "failed": failed, "interrupted": states.count(TrialState.FAIL) - failed,
             "under way elsewhere": states.count(TrialState.RUNNING)}
    return ", ".join(f"{number} {what}" for what, number in parts.items() if number or what == "finished")


def scored(score: float, error: float) -> str:
    """A score with the standard error of its mean."""
    return f"{score:.4g} (± {error:.3g})"


def values_text(values: dict[str, Any]) -> str:
    """learning_rate 0.003, gamma 0.99: the settings in four digits."""
    return ", ".join(f"{name} {f'{value:.4g}' if isinstance(value, float) else NONE if value is None else value}"
                     for name, value in values.items())


def _row(trial: FrozenTrial) -> tuple[str, ...]:
    """A trial's line of the table."""
    facts = trial.user_attrs
    return (str(trial.number), f"{trial.value:.4g}", f"{facts['standard_error']:.3g}", f"{facts['minutes']:.3g}",
            f"{facts['steps']:,}", values_text(facts["settings"]))


def _tell_failures(study: optuna.Study) -> None:
    """A line for each of the last trials that failed or were refused."""
    told = [(trial.number, trial.user_attrs.get("failed") or trial.user_attrs.get("reason", ""))
            for trial in study.get_trials(deepcopy=False)
            if "failed" in trial.user_attrs or trial.user_attrs.get("reason", "").startswith("refused")]
    for number, reason in told[-_REASONS:]:
        print(f"trial {number}: {reason}")
    if len(told) > _REASONS:
        print(f"... and {len(told) - _REASONS} before them")


def _history(study: optuna.Study) -> Axes:
    axes = plot.plot_optimization_history(study, target_name="score")
    axes.set_title(f"{study.study_name}: scores of the finished trials")
    return axes


def _curves(study: optuna.Study) -> Axes:
    axes = plot.plot_intermediate_values(study)
    axes.set(title=f"{study.study_name}: learning curves, of pruned trials too", xlabel="steps", ylabel="mean score")
    axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    if axes.get_legend() is not None and len(axes.lines) > _LEGEND:
        axes.get_legend().remove()
    return axes


def _importances(study: optuna.Study) -> Axes:
    """PED-ANOVA (Watanabe et al., 2023, arXiv:2304.10255): how far a setting's values in the best tenth differ from all."""
    axes = plot.plot_param_importances(study, evaluator=PedAnovaImportanceEvaluator(), target_name="score")
    axes.set_title("", loc="left")
    axes.set(title=f"{study.study_name}: what tells the best trials from the others", xlabel="importance", ylabel="")
    axes.get_legend().remove()
    return axes


def _pareto(study: optuna.Study) -> Axes:
    """Score against minutes, with the trials that none beats in both; numbered."""
    both = optuna.create_study(directions=["minimize", "maximize"])
    for trial in study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,)):
        both.add_trial(optuna.trial.create_trial(values=[trial.user_attrs["minutes"], trial.value],
                                                 user_attrs={"trial": trial.number}))
    axes = plot.plot_pareto_front(both, target_names=["minutes of training", "score"])
    for trial in both.best_trials:
        axes.annotate(f"{trial.user_attrs['trial']}", trial.values, xytext=(5, 4), textcoords="offset points", fontsize="small")
    axes.set_title(f"{study.study_name}: score against cost (the numbers are trials')")
    for text in axes.get_legend().get_texts():
        text.set_text({"Trial": "trial", "Best Trial": "no trial is better at less cost"}[text.get_text()])
    return axes


_PICTURES: dict[str, tuple[str, Callable[[optuna.Study], Axes], int]] = {  # what it shows, and the trials that it needs
    "history.png": ("the scores in the order of the trials", _history, 1),
    "curves.png": ("the scores while the trials learned", _curves, 1),
    "pareto.png": ("score against minutes of training", _pareto, 1),
    "importances.png": ("how much each setting matters", _importances, _ENOUGH),
}


def _picture(draw: Callable[[optuna.Study], Axes], study: optuna.Study) -> bytes:
    """A PNG of one of Optuna's plots, which are pyplot's; its style is put back."""
    with warnings.catch_warnings(), plt.rc_context():
        warnings.simplefilter("ignore")  # of what is experimental, and of trials that are too alike to tell apart
        figure = draw(study).figure
    figure.set_size_inches(9, 5.5)
    figure.set_layout_engine("tight")
    picture = BytesIO()
    figure.savefig(picture, format="png", dpi=100)
    plt.close(figure)
    return picture.getvalue()


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, [content])
