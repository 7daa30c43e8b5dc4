"""Advantages of the steps of a rollout."""

import torch

from trainer.kernels.choose import CPU, CUDA, REFERENCE, run
from trainer.kernels.rollout import cpu, cuda, reference
from trainer.kernels.shared.arguments import check

VERSIONS = {REFERENCE: reference, CPU: cpu, CUDA: cuda}


def advantages(reward, terminated, truncated, valid, value, gamma: float, lam: float, ratio=None, rho_clip: float = 1.0,
               c_clip: float = 1.0, out=None):
    """Generalized advantage estimation, with the importance weights of V-trace if `ratio` is given: `reference.advantages`.

    reward, terminated, truncated, valid: (T, B) float32.
    value: (T + 1, B) float32.
    ratio: (T, B) float32, or None.
    out: OUT (T, B) float32; None for a new tensor.
    Returns out.
    """
    steps, rows = reward.shape
    out = torch.empty_like(reward) if out is None else out
    check(reward, torch.float32, (steps, rows), reward=reward, terminated=terminated, truncated=truncated, valid=valid,
           ratio=ratio, out=out)
    check(reward, torch.float32, (steps + 1, rows), value=value)
    run("advantages", VERSIONS, (reward, terminated, truncated, valid, value, gamma, lam, ratio, rho_clip, c_clip), (out,))
    return out
