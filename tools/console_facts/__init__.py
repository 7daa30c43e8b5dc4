"""What the console must know of a game, found by experiments with ale-py: `python -m tools.console_facts --help`."""
