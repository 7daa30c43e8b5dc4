"""Observations and rewards that are not finite, or too large to learn from.

Only an error message needs them, so a rollout is searched after it failed.
"""

from typing import NamedTuple

from trainer.rollout.storage import Storage

LARGEST = 1e15  # magnitude: the square of a sum of larger numbers may be infinite in float32

class Fault(NamedTuple):
    """A number of a rollout that is not finite, or above LARGEST; a fault of an earlier step is smaller."""

    step: int         # of the run, in every environment
    environment: int  # among those of all ranks
    name: str         # observation or reward
    value: float

    @property
    def text(self) -> str:
        """The fault as the beginning of a sentence."""
        return f"environment {self.environment} returned {self.value:g} in its {self.name} in step {self.step:,}"


def first_fault(storage: Storage, begin: int, first: int) -> Fault | None:
    """The first observation or reward in `storage` that is not finite, or too large; None if there is none.

    begin: steps of every environment before the rollout.
    first: number of environment 0 among those of all ranks.
    """
    steps = range(storage.horizon + 1)
    parts = [("reward", storage.reward, steps), ("observation", storage.observation, steps)]
    if storage.sample is not None:  # `observation` is normalized and clipped
        last = {step // storage.sample_period % len(storage.sample): step for step in steps}  # that a row holds
        rows = sorted(last, key=last.__getitem__)
        parts.append(("observation", storage.sample[rows], [last[row] for row in rows]))
    faults = []
    for name, values, at in parts:
        values = values.flatten(2) if values.ndim > 2 else values[..., None]
        bad = (~(values.abs() <= LARGEST)).nonzero()  # sorted by step, then by environment
        if len(bad):
            row, environment, _ = place = tuple(bad[0].tolist())
            faults.append(Fault(begin + at[row], first + environment, name, values[place].item()))
    return min(faults, default=None)
