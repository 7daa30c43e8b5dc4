"""A sweep of stand-ins for trainings, in this process."""

from trainer.config import Config
from trainer.config.config import overlay
from trainer.sweep.trial import Outcome

BASE = overlay(Config("cartpole"), {"env": {"num_envs": 8}, "ppo": {"total_steps": 10_000, "minibatch": 512},
                                    "run": {"device": "cpu", "gif": False}})
SPACE = {"ppo": {"learning_rate": {"low": 0.001, "high": 0.1, "log": True}, "epochs": {"low": 1, "high": 4}}}


def quality(config: Config) -> float:
    """The final score of a stand-in: best at a learning rate of 0.01."""
    return 100.0 - 1e4 * abs(config.ppo.learning_rate - 0.01)


def stand_in(config, folder, watch, before=lambda config: None):
    """A trial of ten iterations whose score grows linearly; `before` may raise."""
    before(config)
    for k in range(1, 11):
        watch({"step": k * 1000, "seconds": 6.0 * k * config.ppo.epochs, "score_judged": quality(config) * k / 10})
    return Outcome(quality(config), 1.5)
