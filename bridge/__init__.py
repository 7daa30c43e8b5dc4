"""Carries observations to the learner and actions back; knows buffers and batches, no learning and no rules of any game."""

from bridge.pipeline import Pipeline
from bridge.slab import Slab

__all__ = ["Pipeline", "Slab"]
