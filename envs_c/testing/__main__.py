"""The main program of the processes in workers.py: `rules NAME...`, `future` or `outcomes ACTION...`."""

import importlib.util
import json
import sys
from pathlib import Path

from envs_c.testing import RULES, Broken
from envs_c.testing.actions import outcomes
from envs_c.testing.rules import future_of


def load(module: str):
    """The GAME of a compiled module, by its file."""
    path = Path(module)
    spec = importlib.util.spec_from_file_location(path.name.split(".")[0], path)
    loaded = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = loaded
    spec.loader.exec_module(loaded)
    return loaded.GAME


def main():
    """Load the game and do the task of the command line."""
    module, task, *rest = sys.argv[1:]
    game = load(module)
    if task == "rules":
        for name in rest:
            try:
                RULES[name](game)
                fault = None
            except Broken as broken:
                fault = str(broken)
            print(json.dumps({"rule": name, "fault": fault}), flush=True)
    elif task == "future":
        sys.stdout.buffer.write(b"".join(future_of(game, sys.stdin.buffer.read())))
    elif task == "outcomes":
        print(json.dumps(outcomes(game, [int(action) for action in rest])))


if __name__ == "__main__":
    main()
