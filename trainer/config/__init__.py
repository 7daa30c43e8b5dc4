"""The settings of a run. Loads no torch.

    sections.py      the settings: one frozen dataclass for each concern
    fields.py        types, ranges and checks of settings
    config.py        `Config`, the sections together, and sizes derived from them
    minibatches.py   sizes of minibatches for a rollout
    preset.py        reads and writes presets, the TOML files of settings
    options.py       the command line's options, made from the sections
    games.py         names of games
"""

from trainer.config.config import Config
from trainer.config.sections import EnvConfig, PolicyConfig, PPOConfig, RunConfig, SelfPlayConfig

__all__ = ["Config", "EnvConfig", "PPOConfig", "PolicyConfig", "RunConfig", "SelfPlayConfig"]
