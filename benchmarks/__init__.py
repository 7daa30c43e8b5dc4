"""Benchmarks: each module is a command, `python -m benchmarks.NAME`, that prints a table and the machine it ran on."""

import trainer.openmp  # noqa: F401  (before anything that loads OpenMP)
