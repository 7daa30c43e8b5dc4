"""The engine: memory, threads and the stepping of N environments of any game. `VecEnv` and `Batch` are its interface; callers
reach them as `envs_c.VecEnv` and by its method `bind`."""

from envs_c.engine import openmp

openmp.load()  # before the modules that are linked with it
