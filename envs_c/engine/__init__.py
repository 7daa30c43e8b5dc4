"""The engine: memory, threads and the stepping of N environments of any game.

    busy.pyx      flags that keep two threads from using the same environments at once
    engine.pyx    `Engine`: memory and settings of the environments, and the loop over them
    team.h        how many threads step a call: all or one
    openmp.py     loads the OpenMP runtime before the engine: that of torch, if torch is installed
    vecenv.pyx    `VecEnv` and `Batch`, the interface to the engine
    painter.pyx   `Painter`: the screen of one game
    checks.py     checks of arguments
    state.py      the format of snapshots
"""

from envs_c.engine import openmp

openmp.load()  # before the modules that are linked with it
