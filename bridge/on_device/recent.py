"""The newest ended episodes of each environment on a device, which a step records and no step waits for."""

import torch

RECENT = 32  # episodes kept of each environment: enough for a rollout of 128 steps if no episode has fewer than 4


def newest(counts: torch.Tensor, returns: torch.Tensor, lengths: torch.Tensor
           ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The last RECENT episodes of each environment, the oldest of each first.

    counts: (N,) int64, the episodes that ended in each environment.
    returns, lengths: (RECENT, N), of episode k of an environment in row k modulo RECENT.

    Returns returns (E,) float64, lengths (E,) and numbers of the environments (E,) int64. Waits for the device.
    """
    age = torch.arange(RECENT, device=counts.device)[:, None]
    kept = counts.clamp(max=RECENT)
    rows = (counts - kept + age) % RECENT
    there = age < kept
    return returns.gather(0, rows)[there].double(), lengths.gather(0, rows)[there], torch.nonzero(there)[:, 1]
