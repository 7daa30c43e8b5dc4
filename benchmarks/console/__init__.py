"""The console beside ale-py: what is equal, `python -m benchmarks.console`, and how fast, `benchmarks.console.speed`."""
