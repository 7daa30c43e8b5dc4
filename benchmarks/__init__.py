"""Benchmarks: commands, `python -m benchmarks.NAME`, each of which prints a table with the machine it ran on.

`envs` and `train` stay at the top, for `benchmarks.speed.revisions` runs those of older commits too.
"""

from trainer.waiting import share_cores

share_cores()
