"""The settings of a run, and where they come from: the command line, presets and saved runs. Loads no torch."""

from trainer.config.config import Config
from trainer.config.sections import EnvConfig, PolicyConfig, PPOConfig, RunConfig, SelfPlayConfig

__all__ = ["Config", "EnvConfig", "PPOConfig", "PolicyConfig", "RunConfig", "SelfPlayConfig"]
