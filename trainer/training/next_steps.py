"""A training's last lines: the page to open, and the commands to type next."""

import shlex
from pathlib import Path

from trainer.play.agent_game import can_watch
from trainer.process import program_name
from trainer.results.report import REPORT
from trainer.training.session import TrainingSession


def next_steps(session: TrainingSession, folder: Path, *, interrupted: bool = False) -> list[str]:
    """Lines about a run whose training has ended, at its last step or before; the last one says how to go on.

    `play` is left out if the environment has no pictures.
    """
    run, config = _run(folder), session.config
    lines = [f"open      {folder / REPORT}"]
    if not config.game.is_gym or can_watch(config.game, config.env, session.pipeline.source):
        lines.append(f"watch     {program_name()} play {run}")
    lines.append(f"evaluate  {program_name()} eval {run}")
    resume = resuming(folder)
    if interrupted:
        return [*lines, f"interrupted at step {session.step:,}; go on with {resume}"]
    if session.step < config.num_iterations * config.batch_steps:
        return [*lines, f"stopped at step {session.step:,}; go on with {resume}"]
    return [*lines, f"go on     {resume} --total-steps {2 * max(config.ppo.total_steps, session.step)}"]


def resuming(folder: Path) -> str:
    """The command that goes on with the run in `folder`."""
    return f"{program_name()} --resume {_run(folder)}"


def _run(folder: Path) -> str:
    """The folder as an argument of a command: a game's name alone would be the game."""
    return shlex.quote(str(folder) if len(folder.parts) > 1 else f"./{folder}")
