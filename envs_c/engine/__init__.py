"""The engine: memory, threads and the stepping of N environments of any game.

    busy.pyx      flags that keep two threads from using the same environments at once
    engine.pyx    `Engine`: memory and settings of the environments, and the loop over them
    pool.h        the threads that share the work of a call, in C; helpers.h has those of its own
    runtime.pyx   finds the OpenMP runtime of torch, whose threads the pool uses instead; runtime.h says why
    team.h        how many of them take part, decided by measured times
    vecenv.pyx    `VecEnv` and `Batch`, the interface to the engine
    painter.pyx   `Painter`: the screen of one game
    checks.py     checks of arguments
    state.py      the format of snapshots
"""
