"""Small trainings of the learner, for tests of its options."""

from trainer.config import Config, EnvConfig, PolicyConfig, PPOConfig, RunConfig
from trainer.rollout.actor import collect
from trainer.training.build import make_session
from trainer.training.session import TrainingSession
from trainer.training.train import iterate

N, T, SEQUENCES = 16, 8, 4


def config(folder=None, *, policy=None, iterations=8, device="cpu", **settings) -> Config:
    return Config("cartpole", EnvConfig(num_envs=N, num_threads=1, time_limit=30),
                  PolicyConfig(encoder_size=16, lstm_size=12, precision="float32", **policy or {}),
                  PPOConfig(**{"horizon": T, "minibatch": SEQUENCES * T, "total_steps": iterations * N * T, **settings}),
                  RunConfig(seed=5, device=device, dashboard=False, eval_episodes=0, gif=False, checkpoint_seconds=0.0,
                            run_dir=None if folder is None else str(folder)))


def collected(**settings) -> TrainingSession:
    """A session that has learned from one rollout and has a second one in storage."""
    made = make_session(config(**settings))
    iterate(made)
    collect(made.actor)
    return made


def watched(made: TrainingSession) -> list:
    """A list that gets the sequences of each minibatch."""
    minibatches, original = [], made.learner.minibatch

    def minibatch(first, last):
        minibatches.append(made.learner.order[made.learner.position[0]].tolist())
        original(first, last)
    made.learner.minibatch = minibatch
    return minibatches
