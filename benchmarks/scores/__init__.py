"""Scores of trained agents: each module is a command, `python -m benchmarks.scores.NAME`."""
