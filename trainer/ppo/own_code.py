"""Functions of the user's own in the learning, given by import path: terms of the loss, and transforms of rewards.

Both are tried with a rollout of zeros before a run begins, so that a wrong one is refused before anything is written.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch

from trainer.errors import SettingError
from trainer.imports import describe, find, user_errors
from trainer.policy.policy import Policy
from trainer.rollout.faults import first_fault
from trainer.rollout.storage import Storage

REPLACED = ("policy", "value", "entropy")  # terms of PPO, which a function of the user's own may replace
_TAKEN = (*REPLACED, "kl", "clip_fraction", "grad_norm")  # no names of further terms


@dataclass(frozen=True)
class Outputs:
    """The policy's outputs for a minibatch of S sequences of T steps, with gradients.

    logits: (T, S, A) the outputs for the actions, before illegal actions are masked.
    value: (T, S).
    hidden: (T, S, n) float32, the memory's output, which the heads read; None with a memory of one's own whose `unroll` does
        not return the result of `apply_heads`.
    log_prob: (T, S), of the actions that were taken.
    entropy: (T, S), of the distribution over legal actions.
    ratio: (T, S), the new probability of the action over the rollout's.
    advantage: (T, S) normalized, and without a gradient.
    policy: the policy itself, such as for further layers in heads of the user's own.
    """

    logits: torch.Tensor
    value: torch.Tensor
    hidden: torch.Tensor | None
    log_prob: torch.Tensor
    entropy: torch.Tensor
    ratio: torch.Tensor
    advantage: torch.Tensor
    policy: Policy


class OwnLoss:
    """The function in the setting `loss`, called as function(batch=Minibatch, outputs=Outputs).

    It returns a dict of scalar tensors by name. A term named policy, value or entropy replaces that of PPO; the weights
    value_coef and entropy_coef apply to it. Any other term is added to the loss. All are logged as loss_NAME (the entropy as
    entropy). Each must be a mean over the valid steps, so that ranks can add their shares. All calls return the same names.

    Raises SettingError if there is no such function.
    """

    def __init__(self, path: str):
        self.path, self.function = path, find("loss", path, ("batch", "outputs"))
        self._names: tuple[str, ...] = ()  # of the terms, in the order of the first call

    def terms(self, batch, outputs: Outputs, share) -> dict[str, torch.Tensor]:
        """The terms of a minibatch.

        share: factor of this rank's part of the steps; 1 without ranks.
        Raises SettingError if the function fails, or returns something else.
        """
        with user_errors("loss", self.path, "calling it with a minibatch"):
            found = self.function(batch=batch, outputs=outputs)
        if not isinstance(found, Mapping) or not found:
            raise SettingError("loss", f"{self.path!r} must return a dict of scalar tensors by name, not {_shown(found)}")
        for name, term in found.items():
            self._check(name, term)
        self._names = self._names or tuple(found)
        if found.keys() != set(self._names):
            raise SettingError("loss", f"{self.path!r} must return the same terms in each call, {', '.join(self._names)}, not "
                                       f"{', '.join(found)}")
        return {name: found[name].float() * share for name in self._names}

    def _check(self, name: Any, term: Any):
        """Raises SettingError if a term has a bad name or is no scalar tensor."""
        if not isinstance(name, str) or not name.isidentifier() or name in _TAKEN[len(REPLACED):]:
            raise SettingError("loss", f"{self.path!r} must name its terms by identifiers other than "
                                       f"{', '.join(_TAKEN[len(REPLACED):])}, such as smoothness, not {name!r}")
        if not isinstance(term, torch.Tensor) or term.ndim:
            raise SettingError("loss", f"{self.path!r} must return scalar tensors, but {name} is {_shown(term)}")


@dataclass(frozen=True)
class Rollout:
    """A rollout of T steps in N environments, for a transform of its rewards.

    observation: (T + 1, N, *shape) as they are stored: bytes, or numbers in the policy's precision (normalized, if so set);
        observation[t + 1] is the result of step t.
    action: (T, N, ...).
    reward: (T, N) float32, of step t; after --reward-clip.
    value: (T + 1, N) float32, the critic's predictions for the observations.
    terminated, truncated: (T, N) float32, 1.0 if step t ended its episode.
    start: (T + 1, N) float32, 1.0 if an observation is the first of its episode.
    valid: (T, N) float32, 0.0 if the environment only reset in this step.
    """

    observation: torch.Tensor
    action: torch.Tensor
    reward: torch.Tensor
    value: torch.Tensor
    terminated: torch.Tensor
    truncated: torch.Tensor
    start: torch.Tensor
    valid: torch.Tensor

    @classmethod
    def of(cls, storage: Storage) -> "Rollout":
        """The rollout in a storage. The tensors share its memory, except the rewards."""
        return cls(storage.observation, storage.action, storage.reward[1:].clone(), storage.value, storage.terminated[1:],
                   storage.truncated[1:], storage.start, storage.valid)


class RewardTransform:
    """The function in the setting `reward_transform`, called as function(rollout=Rollout); returns rewards (T, N).

    Raises SettingError if there is no such function.
    """

    def __init__(self, path: str):
        self.path = path
        self.function: Callable[..., Any] = find("reward_transform", path, ("rollout",))

    @torch.no_grad()
    def __call__(self, storage: Storage) -> torch.Tensor:
        """The transformed rewards (T, N) float32. Raises SettingError if the function fails, or returns something else.

        Rewards that are not finite pass if the rollout has such numbers: the loss then names the fault, and its step is found.
        """
        rollout = Rollout.of(storage)
        shape = rollout.reward.shape
        with user_errors("reward_transform", self.path, "calling it with a rollout"):
            found = self.function(rollout=rollout)
        if not isinstance(found, torch.Tensor) or found.shape != shape or not found.is_floating_point():
            raise SettingError("reward_transform", f"{self.path!r} must return floats of shape {tuple(shape)}, (steps, "
                                                   f"environments), not {_shown(found)}")
        if not torch.isfinite(found).all() and first_fault(storage, 0, 0) is None:
            raise SettingError("reward_transform", f"{self.path!r} must return finite rewards")
        return found.float()


def _shown(value: Any) -> str:
    """A value for error messages: a tensor by its dtype and shape."""
    if isinstance(value, torch.Tensor):
        return f"a tensor of {str(value.dtype).removeprefix('torch.')} and the shape {tuple(value.shape)}"
    return describe(value)
