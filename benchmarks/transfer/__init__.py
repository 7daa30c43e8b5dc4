"""Scores of trained policies on the cartridges: `python -m benchmarks.transfer`."""
