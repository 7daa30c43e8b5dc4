"""The TIA of envs_c/console against ale-py: `python -m tools.console_tia --help`."""
