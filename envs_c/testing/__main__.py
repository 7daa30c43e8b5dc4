"""The main program of the processes in workers.py: `rules NAME...`, `future`, `outcomes ACTION...`, `outputs`,
`changed` or `ends`."""

import importlib.util
import json
import os
import sys
from pathlib import Path

from envs_c.testing import RULES, Broken, watchdog
from envs_c.testing.actions import outcomes
from envs_c.testing.causes import outputs
from envs_c.testing.endless import ends
from envs_c.testing.restored import changed
from envs_c.testing.rules import MemoryDamaged, future_of


def load(module: str):
    """The GAME of a compiled module, by its file."""
    path = Path(module)
    spec = importlib.util.spec_from_file_location(path.name.split(".")[0], path)
    loaded = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = loaded
    spec.loader.exec_module(loaded)
    return loaded.GAME


def test(game, rules: list[str]):
    """Write a line of JSON for each rule: its name, its fault or None, and whether no further rule can be tested."""
    rule = ""

    def report(fault: str | None, stops: bool):
        line = json.dumps({"rule": rule, "fault": fault, "stops": stops})
        os.write(sys.stdout.fileno(), f"{line}\n".encode())
    watchdog.start(lambda fault: report(fault, True))
    for rule in rules:
        try:
            RULES[rule](game)
        except Broken as broken:
            report(str(broken), isinstance(broken, MemoryDamaged))
        else:
            report(None, False)


def main():
    """Load the game and do the task of the command line."""
    module, task, *rest = sys.argv[1:]
    watchdog.end_with_parent()
    game = load(module)
    if task == "rules":
        test(game, rest)
        return
    watchdog.start(lambda fault: os.write(sys.stdout.fileno(), f"{fault}\n".encode()))
    if task == "changed":
        changed(game)
    elif task == "ends":
        print(json.dumps(ends(game)))
    elif task == "outputs":
        print(outputs(game))
    elif task == "future":
        sys.stdout.buffer.write(b"".join(future_of(game, sys.stdin.buffer.read())))
    elif task == "outcomes":
        print(json.dumps(outcomes(game, [int(action) for action in rest])))


if __name__ == "__main__":
    main()
