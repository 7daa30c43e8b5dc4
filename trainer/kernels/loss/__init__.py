"""A minibatch of PPO: its sequences, its loss with the gradient, and its end.

`minibatch` has the functions and chooses their versions. `reference` is the loss to read, in plain torch.
"""

from envs_c import isa

__path__[:] = isa.search(__path__)

from trainer.kernels.loss.minibatch import (  # noqa: E402
    Loss,
    end_minibatch,
    ppo_gradient,
    ppo_loss,
    select_sequences,
    space_for_statistics,
    take,
)
from trainer.kernels.loss.reference import Rollout  # noqa: E402

__all__ = ["Loss", "Rollout", "end_minibatch", "ppo_gradient", "ppo_loss", "select_sequences", "space_for_statistics", "take"]
