"""Folders of runs without a training: settings, metrics and evaluations made up by a test."""

import json
from pathlib import Path

from trainer.config import Config
from trainer.config.config import overlay
from trainer.runs.evaluation import protocol
from trainer.runs.folder import CONFIG

FACTS = {"machine": "Linux", "cpu": "a CPU", "cores": "2", "insertcoin": "0.1.0", "torch": "2.8.0", "command": "insertcoin x",
         "device": "cpu", "precision": "float32 (as asked)"}


def summary(mean, *, greedy=False, sticky=0.0, noop_max=0, **more):
    """An evaluation as in evaluation.json."""
    used = protocol(greedy=greedy, sticky=sticky, noop_max=noop_max, frame_skip=4, time_limit=27_000)
    return {"protocol": used, "episodes": 100,
            "mean": float(mean), "standard_error": 1.0, "mean_interval": [mean - 2.0, mean + 2.0], "median": float(mean),
            "min": mean - 9.0, "max": mean + 9.0, "mean_length": 812.0, **more}


def make_run(folder: Path, *, game="breakout", seed=1, scores=(1.0, 2.0, 3.0), evaluation=None, greedy=None,
             **settings) -> Path:
    """The folder of a run.

    scores: score_mean of each iteration; evaluation, greedy: the means of its evaluations, or None.
    settings: sections with changed values, such as ppo={"gamma": 0.9}.
    """
    folder.mkdir(parents=True)
    config = overlay(Config(game), {"run": {"seed": seed}, **settings}).to_dict()
    sessions = [{"started": "2026-11-21T14:00:00+00:00", "from_step": 0, "facts": FACTS}]
    (folder / CONFIG).write_text(json.dumps({"config": config, "sessions": sessions}))
    entries = [{"step": 1000 * k, "seconds": 6.0 * k, "score_mean": score, "length_mean": 10.0, "sps": 5000.0,
                "loss_policy": -0.01 * k, "loss_value": 1 / k, "entropy": 1.5 - 0.1 * k} for k, score in enumerate(scores, 1)]
    (folder / "metrics.jsonl").write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    if evaluation is not None:
        others = [] if greedy is None else [summary(greedy, greedy=True)]
        (folder / "evaluation.json").write_text(json.dumps(summary(evaluation) | {"others": others}))
    return folder
