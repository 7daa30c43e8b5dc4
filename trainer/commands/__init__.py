"""The verbs of the command line, a module each: its `main(argv)` parses the words behind the verb, does it, and raises
TrainerError for what a person can put right.

Nothing here loads torch before the words are parsed.
"""

from importlib import import_module

VERBS = {  # the words behind it, and what it does
    "eval": ("RUN [options]", "evaluate a trained agent, and film it"),
    "list": ("[options]", "list the runs, with their scores and states"),
    "play": ("RUN [options]", "watch a trained agent in a window or the terminal, or play yourself"),
    "record": ("RUN [options]", "film the best, the median and the worst of an agent's episodes"),
    "compare": ("RUN RUN ... [options]", "draw the scores of several runs into one picture"),
    "export": ("RUN [options]", "write a trained agent as ONNX and safetensors"),
    "sweep": ("GAME [options]", "search the settings that a game is learned best with"),
    "profile": ("GAME", "trace a training, and tell where its time goes"),
}


def run_verb(verb: str, argv: list[str]) -> None:
    """Do one of VERBS."""
    import_module(f"trainer.commands.{verb}").main(argv)
