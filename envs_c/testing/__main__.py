"""What a process that tries a game does: `rules NAME...`, `future` and `outcomes ACTION...`; see workers.py."""

import importlib.util
import json
import sys
from pathlib import Path

from envs_c.testing.rules import RULES, Broken, future_of, outcomes


def load(module: str):
    """The GAME of a compiled module's file."""
    path = Path(module)
    spec = importlib.util.spec_from_file_location(path.name.split(".")[0], path)
    loaded = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = loaded
    spec.loader.exec_module(loaded)
    return loaded.GAME


def main():
    module, task, *rest = sys.argv[1:]
    game = load(module)
    if task == "rules":
        for name in rest:
            try:
                RULES[name](game)
                how = None
            except Broken as broken:
                how = str(broken)
            print(json.dumps({"rule": name, "broken": how}), flush=True)
    elif task == "future":
        sys.stdout.buffer.write(b"".join(future_of(game, sys.stdin.buffer.read())))
    elif task == "outcomes":
        print(json.dumps(outcomes(game, [int(action) for action in rest])))


if __name__ == "__main__":
    main()
