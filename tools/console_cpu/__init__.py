"""The processor of envs_c/console against ale-py: `python -m tools.console_cpu --help`."""
