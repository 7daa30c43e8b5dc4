"""Benchmarks. Each module is a command, `python -m benchmarks.NAME`, and prints a table with the machine it ran on."""

from trainer.waiting import share_cores

share_cores()
