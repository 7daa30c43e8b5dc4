"""The report of a sweep: a table, pictures, and the best settings as a preset. All of it comes from the storage."""

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

from envs_c.files import write_atomically
from envs_c.text import say
from trainer.config import Config
from trainer.config.config import completed, overlay, with_added
from trainer.config.preset import preset_text
from trainer.errors import SweepError
from trainer.files import writing
from trainer.log.console import Terminal
from trainer.log.numbers import number
from trainer.log.text import show
from trainer.process import program_name
from trainer.sweep.folder import MAY_WRITE
from trainer.sweep.space import NONE
from trainer.sweep.study import is_cost_aware, score_of

BEST, FRONT, CURVES = "best.toml", "front", "curves.png"
_SHOWN = 10    # trials in the table
_REASONS = 5   # printed failures
_ENOUGH = 10   # finished trials needed for the picture of importances
_LEGEND = 10   # curves in a legend at most


def write_report(study: optuna.Study, folder: Path) -> None:
    """Print the best trials, and write best.toml and the pictures into `folder`. Raises SweepError if no trial has finished."""
    done = study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
    _print_failures(study)
    if not done:
        raise SweepError(f"no trial of {study.study_name} has finished, so there is no report ({counts(study)})")
    ranked = sorted(done, key=lambda trial: (-score_of(trial), trial.user_attrs["minutes"]))
    columns = ("trial", "score", "±", "minutes", "steps", "settings")
    front = sorted(_front(study).best_trials, key=lambda trial: trial.values) if is_cost_aware(study) else []
    everything = study.get_trials(deepcopy=False)
    rows = [everything[trial.user_attrs["trial"]] for trial in front]
    show(columns, [_row(trial) for trial in rows or ranked[:_SHOWN]], Terminal(), right=columns[:-1])
    _write(folder / BEST, _preset(study, ranked[0], f"the best of the {len(done)} finished trials"))
    game = shlex.quote(study.user_attrs["facts"]["settings"]["game"])
    command = f"{program_name()} {game} --preset {shlex.quote(str(folder / BEST))}"
    say(f"{folder / BEST}: the best settings; {command}")
    if rows:
        _write_front(study, rows, folder / FRONT)
    plt.switch_backend("agg")  # Optuna draws with pyplot; this backend opens no window
    for name, (caption, draw, needed) in _PICTURES.items():
        if name == CURVES and is_cost_aware(study):
            say(f"{name}: not drawn, since a cost-aware sweep compares no scores during the trainings")
        elif len(done) >= needed:
            _write(folder / name, _picture(draw, study))
            say(f"{folder / name}: {caption}")
        else:
            say(f"{name}: not drawn, since {len(done)} trials have finished and it needs {needed}")


def _preset(study: optuna.Study, trial: FrozenTrial, which: str) -> bytes:
    """The preset with the settings of a trial. which: what the trial is among the others, for its comment."""
    facts = trial.user_attrs
    comment = (f"Trial {trial.number}, {which} of the sweep {study.study_name}: a score of\n"
               f"{scored(score_of(trial), facts['standard_error'])} after {facts['minutes']:.3g} minutes of training.")
    return preset_text(settings_of(study, trial), comment).encode()


def _write_front(study: optuna.Study, trials: list[FrozenTrial], folder: Path) -> None:
    """Write a preset for each trial of the Pareto front; presets of trials that are no longer in it are removed."""
    files = {folder / f"trial-{trial.number:04d}.toml": trial for trial in trials}
    for path, trial in files.items():
        _write(path, _preset(study, trial, "in the Pareto front of score and minutes"))
    with writing(folder, MAY_WRITE):
        for path in set(folder.glob("trial-*.toml")) - files.keys():
            path.unlink(missing_ok=True)
    say(f"{folder}: the settings of each trial above, a preset each: no other trial is better at less cost")


def settings_of(study: optuna.Study, trial: FrozenTrial) -> Config:
    """The settings of a trial, without those of the section `run`."""
    facts = study.user_attrs["facts"]
    settings = facts["settings"]
    shared = {name: section for name, section in completed(settings, with_added).items() if name not in ("game", "run")}
    config = overlay(Config(settings["game"]), shared)
    changes: dict[str, dict[str, Any]] = {"ppo": {"minibatch": trial.user_attrs["settings"]["minibatch"]}}
    for name, line in facts["ranges"].items():
        changes.setdefault(line["section"], {})[name] = trial.user_attrs["settings"][name]
    return overlay(config, changes)


def counts(study: optuna.Study) -> str:
    """The numbers of finished, pruned, refused, failed and interrupted trials, as text."""
    trials = study.get_trials(deepcopy=False)
    refused = sum(trial.user_attrs.get("reason", "").startswith("refused") for trial in trials)
    states = [trial.state for trial in trials]
    failed = sum("failed" in trial.user_attrs for trial in trials)
    parts = {"finished": states.count(TrialState.COMPLETE), "pruned": states.count(TrialState.PRUNED) - refused,
             "refused": refused, "failed": failed, "interrupted": states.count(TrialState.FAIL) - failed,
             "running elsewhere": states.count(TrialState.RUNNING)}
    return ", ".join(f"{count} {state}" for state, count in parts.items() if count or state == "finished")


def scored(score: float, error: float) -> str:
    """A score with the standard error of its mean."""
    return f"{number(score)} (± {error:.3g})"


def values_text(values: dict[str, Any]) -> str:
    """Settings with four digits: "learning_rate 0.003, gamma 0.99"."""
    return ", ".join(f"{name} {number(value) if isinstance(value, float) else NONE if value is None else value}"
                     for name, value in values.items())


def _row(trial: FrozenTrial) -> tuple[str, ...]:
    """A trial's row of the table."""
    facts = trial.user_attrs
    return (str(trial.number), number(score_of(trial)), f"{facts['standard_error']:.3g}", f"{facts['minutes']:.3g}",
            f"{facts['steps']:,}", values_text(facts["settings"]))


def _print_failures(study: optuna.Study) -> None:
    """Print a line for each of the last failed or refused trials."""
    reasons = [(trial.number, trial.user_attrs.get("failed") or trial.user_attrs.get("reason", ""))
               for trial in study.get_trials(deepcopy=False)
               if "failed" in trial.user_attrs or trial.user_attrs.get("reason", "").startswith("refused")]
    for trial_number, reason in reasons[-_REASONS:]:
        say(f"trial {trial_number}: {reason}")
    if len(reasons) > _REASONS:
        say(f"... and {len(reasons) - _REASONS} earlier ones")


def _history(study: optuna.Study) -> Axes:
    axes = plot.plot_optimization_history(study, target=_target(study), target_name="score")
    axes.set_title(f"{study.study_name}: scores of the finished trials")
    return axes


def _curves(study: optuna.Study) -> Axes:
    axes = plot.plot_intermediate_values(study)
    axes.set(title=f"{study.study_name}: learning curves, including pruned trials", xlabel="steps", ylabel="mean score")
    axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    if axes.get_legend() is not None and len(axes.lines) > _LEGEND:
        axes.get_legend().remove()
    return axes


def _importances(study: optuna.Study) -> Axes:
    """The importance of each setting by PED-ANOVA: the difference of its values in the best tenth of the trials from all.

    Watanabe et al., 2023, arXiv:2304.10255.
    """
    axes = plot.plot_param_importances(study, evaluator=PedAnovaImportanceEvaluator(), target=_target(study),
                                       target_name="score")
    axes.set_title("", loc="left")
    title = f"{study.study_name}: settings in which the best trials differ from the others"
    axes.set(title=title, xlabel="importance", ylabel="")
    axes.get_legend().remove()
    return axes


def _target(study: optuna.Study) -> Callable[[FrozenTrial], float] | None:
    """The score of a trial, for a picture of a study with two objectives; None: Optuna finds it."""
    return score_of if is_cost_aware(study) else None


def _front(study: optuna.Study) -> optuna.Study:
    """The finished trials as a study of minutes and score, whose best trials are the Pareto front; "trial" is the number."""
    both = optuna.create_study(directions=["minimize", "maximize"])
    for trial in study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,)):
        both.add_trial(optuna.trial.create_trial(values=[trial.user_attrs["minutes"], score_of(trial)],
                                                 user_attrs={"trial": trial.number}))
    return both


def _pareto(study: optuna.Study) -> Axes:
    """Score against minutes. The trials of the Pareto front are numbered."""
    both = _front(study)
    axes = plot.plot_pareto_front(both, target_names=["minutes of training", "score"])
    for trial in both.best_trials:
        axes.annotate(f"{trial.user_attrs['trial']}", trial.values, xytext=(5, 4), textcoords="offset points", fontsize="small")
    axes.set_title(f"{study.study_name}: score against cost (numbers of trials)")
    for text in axes.get_legend().get_texts():
        text.set_text({"Trial": "trial", "Best Trial": "no other trial is better at less cost"}[text.get_text()])
    return axes


_PICTURES: dict[str, tuple[str, Callable[[optuna.Study], Axes], int]] = {  # caption, and finished trials needed
    "history.png": ("scores in the order of the trials", _history, 1),
    CURVES: ("scores during the trainings", _curves, 1),
    "pareto.png": ("score against minutes of training", _pareto, 1),
    "importances.png": ("importance of each setting", _importances, _ENOUGH),
}


def _picture(draw: Callable[[optuna.Study], Axes], study: optuna.Study) -> bytes:
    """A plot of Optuna as PNG. Optuna sets a style of pyplot, which is restored."""
    with warnings.catch_warnings(), plt.rc_context():
        warnings.simplefilter("ignore")  # about experimental functions, and about trials with equal settings
        figure = draw(study).figure
    figure.set_size_inches(9, 5.5)
    figure.set_layout_engine("tight")
    picture = BytesIO()
    figure.savefig(picture, format="png", dpi=100)
    plt.close(figure)
    return picture.getvalue()


def _write(path: Path, content: bytes) -> None:
    """Write a file of the report. Raises FileError."""
    with writing(path.parent, MAY_WRITE):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, [content])
