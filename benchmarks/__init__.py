"""Benchmarks: each module is a command, `python -m benchmarks.NAME`, that prints a table and the machine it ran on."""
