"""The verbs of the command line, a module each: its `main(argv)` parses the words behind the verb, does it, and raises
TrainerError for what a person can put right.

Nothing here loads torch before the words are parsed.
"""

from importlib import import_module

VERBS = {  # the words behind it, and what it does
    "eval": ("RUN [options]", "evaluate a trained agent, and film it"),
    "profile": ("GAME", "trace a training, and tell where its time goes"),
}


def run_verb(verb: str, argv: list[str]) -> None:
    """Do one of VERBS."""
    import_module(f"trainer.commands.{verb}").main(argv)
