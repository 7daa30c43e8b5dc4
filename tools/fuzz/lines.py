"""Command lines: every verb with right, wrong and hostile arguments. An error is one line, and leaves no file.

The work after the arguments are checked is left out, except for some verbs on a tiny run.
"""

import importlib
import os
from dataclasses import fields
from pathlib import Path
from random import Random

from tools.fuzz.case import Box, Done, Fault, captured
from trainer.__main__ import main as start
from trainer.commands import VERBS
from trainer.commands.main import run
from trainer.config.config import SECTIONS

TINY = ["--num-envs=4", "--horizon=8", "--minibatch=32", "--total-steps=64", "--encoder-size=8", "--lstm-size=8",
        "--num-threads=1", "--device=cpu", "--no-dashboard", "--no-gif", "--eval-episodes=0", "--track=none"]
# The functions that do a verb's work. They end the command line; those of `games` compile, or measure for seconds.
WORK = [("trainer.training.train", "train"), ("trainer.play.evaluate", "evaluate_run"), ("trainer.play.evaluate", "record_run"),
        ("trainer.export.export", "export_run"), ("trainer.sweep.sweep", "run_sweep"),
        ("trainer.sweep.bench", "run_bench"), ("trainer.results.report", "write_report"), ("trainer.training.profile",
        "profile_run"), ("trainer.play.agent_game", "AgentGame"), ("trainer.commands.play", "Window"),
        ("envs_c.play.command", "show"), ("envs_c.arcade.command", "run"), ("trainer.commands.watch", "make_site"),
        ("envs_c.__main__", "describe"), ("envs_c.testing", "check")]
VALUES = ["", "0", "1", "-1", "2", "3", "64", "nan", "inf", "1e400", "9" * 400, "9" * 5000, "none", "auto", "cpu", "cuda:99",
          "x", "a b", "a\nb", "~nosuchuser", "a\0b", "../..", "/", ".", "x" * 300, "nosuch:Name", "é", "--", "-x", "lives=3",
          "a=b=c",
          "true", "False", "[1]", "'", '"', "runs/one", "last", "file.txt", "file.gif", "file.png", "file.onnx", "table.toml",
          "journal:file.txt", "sqlite:///x.db", "nosuch://x", "\ud800"]
NAMES = [f"--{one.name.replace('_', '-')}" for section in SECTIONS.values() for one in fields(section)]
OF_VERBS = ["--episodes", "--out", "--greedy", "--json", "--terminal", "--human", "--speed", "--root", "--by", "--group",
            "--format", "--trials", "--name", "--space", "--storage", "--startup", "--prune", "--minutes", "--report",
            "--seeds", "--jobs", "--sticky", "--csv",
            "--iterations", "--preset", "--help", "--nosuch", "-h", "--dir", "--no-dashboard", "--scale", "--frame-skip"]
REAL = [["list"], ["list", "--root", "runs"], ["eval", "runs/one", "--episodes=1", "--device=cpu"],
        ["eval", "last", "--episodes=1", "--device=cpu", "--json"], ["new", "mine"], ["cartpole", *TINY, "--run-dir=new"]]


def setup(box: Box) -> None:
    """Train a tiny run, and replace the functions that work."""
    os.chdir(box.folder)
    make_run(box.folder / "runs" / "one")
    for name in ("file.txt", "table.toml"):
        (box.folder / name).write_text("[ppo]\ngamma = 0.5\n", encoding="utf-8")
    box.real = False
    for module, name in WORK:
        loaded = importlib.import_module(module)
        setattr(loaded, name, ending(getattr(loaded, name), box))


def make_run(folder: Path) -> None:
    """Train a tiny agent in `folder`."""
    code, _, errors = captured(lambda: start(["cartpole", *TINY, f"--run-dir={folder}"]))
    if code:
        raise Fault(f"the tiny training failed: {errors}")


def ending(work, box: Box):
    """`work`, or an end of the command line in its place."""
    def call(*arguments, **named):
        if not box.real:
            raise Done
        return work(*arguments, **named)
    return call


def case(rng: Random, box: Box) -> None:
    """Run one command line."""
    box.real = rng.random() < 0.03
    words = rng.choice(REAL) if box.real else arguments(rng)
    code = line(words, box)
    if code == 0 and (box.real or words[0] == "new"):
        box.tidy()


def arguments(rng: Random) -> list[str]:
    """A command line: a verb or a game, what it names, and some options."""
    head = rng.choice([*VERBS, *VERBS, "cartpole", "breakout", "breakout", "go", "gym:CartPole-v1", "--resume",
                       rng.choice(VALUES)])
    words = [head]
    if head in ("sweep", "profile", "games", "check") and rng.random() < 0.9:
        words.append(rng.choice(["cartpole", "breakout", rng.choice(VALUES)]))
    elif head in (*VERBS, "--resume") and head != "list" and rng.random() < 0.9:
        words += rng.choice([["runs/one"], ["last"], ["runs/one", "runs/one"], ["breakout"], [rng.choice(VALUES)]])
    for _ in range(rng.choice([0, 1, 1, 2, 3, 6])):
        option = rng.choice([*NAMES, *OF_VERBS, *OF_VERBS, rng.choice(VALUES)])
        value = rng.choice(VALUES)
        words += rng.choice([[f"{option}={value}"], [option, value], [option]])
    if rng.random() < 0.1:
        words[rng.randrange(len(words))] = rng.choice(VALUES)
    return words


def line(words: list[str], box: Box) -> int:
    """Run a command line; returns its exit code.

    Raises Fault unless it works, or is an error of one line that leaves no file.
    """
    code, out, errors = captured(lambda: run(list(words)))
    shown = f"{' '.join(map(repr, words))[:600]} ended with {code}\n{out[-300:]}\n{errors[:3000]}"
    box.counts["accepted" if code == 0 else "refused"] += 1
    if code not in (0, 1, 2) or "Traceback" in errors:
        raise Fault(f"a command line must work or be an error of one line: {shown}")
    if code and not (errors.startswith("error: ") and len(errors.splitlines()) == 1):
        raise Fault(f"an error must be one line: {shown}")
    new = box.new_files()
    if code and new:
        raise Fault(f"an error must leave no file, not {new[:5]}: {shown}")
    return code
