"""Helpers for tests of the log: made-up metrics, a clock moved by the test, and consoles with their output."""

import contextlib
import io
import math

from rich.console import Console

from trainer.config.config import overlay
from trainer.config.games import GameName
from trainer.config.preset import preset
from trainer.log.run_log import RunLog
from trainer.runs.folder import open_folder

CONFIG_OF_RUN = overlay(preset(GameName("breakout")), {"ppo": {"total_steps": 10_000_000}})
STEP = CONFIG_OF_RUN.batch_steps
FACTS = {"device": "cpu", "precision": "bfloat16"}
METRICS_OF_ITERATION = {
    "score_mean": 12.25, "length_mean": 812.0, "episodes": 42, "sps": 231_000.0, "loss_policy": -0.01,
    "loss_value": 0.5, "entropy": 1.25, "kl": 0.004, "clip_fraction": 0.125, "explained_variance": 0.75,
    "grad_norm": 0.5, "learning_rate": 0.003, "time_env": 0.1, "time_copy": 0.0, "time_forward": 0.2,
    "time_sample": 0.05, "time_learn": 0.6, "time_other": 0.05}
NOTHING = dict.fromkeys(METRICS_OF_ITERATION)
NOT_A_NUMBER = dict.fromkeys(METRICS_OF_ITERATION, math.nan)


class Clock:
    """A clock, moved by the test."""

    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


def terminal(width=80, height=40, encoding="utf-8"):
    """A console in a terminal; see `shown` for its output."""
    file = io.TextIOWrapper(io.BytesIO(), encoding=encoding, write_through=True)
    return Console(file=file, force_terminal=True, width=width, height=height, color_system=None, _environ={})


def pipe():
    """A console in a pipe; see `shown` for its output."""
    return Console(file=io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True), _environ={})


def shown(console):
    """The output of a console."""
    return console.file.buffer.getvalue().decode(console.encoding)


def make_log(folder, clock, console, *, config=CONFIG_OF_RUN, dashboard=False, goal=None, **keywords):
    """A log, not entered yet; `folder` must exist then."""
    return RunLog(folder, config.game, goal=goal or config.ppo.total_steps, facts=FACTS, dashboard=dashboard, clock=clock,
                  trackers=config.run.trackers, settings=config.to_dict(), console=console, **keywords)


@contextlib.contextmanager
def run_log(folder, clock, console, *, config=CONFIG_OF_RUN, resume_step=None, **keywords):
    """The log of a session in `folder`, which is opened as the training opens it."""
    with open_folder(folder, config.to_dict(), FACTS, resume_step), \
         make_log(folder, clock, console, config=config, resume_step=resume_step, **keywords) as log:
        yield log


def iterations(folder, first, last, *, seconds=0.5, metrics=METRICS_OF_ITERATION, console=None, **keywords):
    """Log the iterations first..last, each of `seconds`; returns the output of the console."""
    clock, console = Clock(), console or pipe()
    with run_log(folder, clock, console, **keywords) as log:
        for index in range(first, last + 1):
            clock.now += seconds
            log.iteration(index * STEP, metrics)
    return shown(console)
