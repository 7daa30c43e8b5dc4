"""Benchmarks: each module is a command, `python -m benchmarks.NAME`, that prints a table and the machine it ran on."""

from trainer.process import limit_openmp_spin

limit_openmp_spin()  # before envs_c and torch load OpenMP
