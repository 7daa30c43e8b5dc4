"""The scores that a trial reports at its rungs, by which others are pruned."""

import optuna

from trainer.config import Config
from trainer.config.config import overlay
from trainer.sweep.plan import Plan
from trainer.sweep.space import parse_space
from trainer.sweep.watch import Watch

BASE = overlay(Config("cartpole"), {"ppo": {"total_steps": 10_000}})
SPACE = parse_space({"ppo": {"learning_rate": {"low": 0.001, "high": 0.1}}})


def test_a_rung_has_the_last_score_since_the_one_before_or_none(tmp_path):
    """Rungs are 500 steps apart; a judgment belongs to those that its iteration has passed."""
    trial = optuna.create_study(direction="maximize").ask()
    watch = Watch(Plan(BASE, SPACE, tmp_path, trials=1, startup=1, prune=False, minutes=None), trial, BASE)
    for step, score in ((200, 1.0), (400, 2.0), (600, None), (1000, None), (2000, 3.0), (3000, None)):
        watch({"step": step, "seconds": 1.0, "score_judged": score})
    assert trial.study.trials[0].intermediate_values == {500: 2.0, 1500: 3.0, 2000: 3.0}
