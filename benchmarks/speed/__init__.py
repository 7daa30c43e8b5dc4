"""Time, memory and source of stepping and training: each module is a command, `python -m benchmarks.speed.NAME`."""
