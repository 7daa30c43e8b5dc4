"""The games as GPU programs, without a GPU: `python -m benchmarks.device_games`."""
