"""The main program of the processes in workers.py: `rules NAME...`, `future`, `outcomes ACTION...`, `outputs`,
`changed`, `ends` or `summary`."""

import ctypes
import importlib.util
import json
import os
import sys
from pathlib import Path

from envs_c.errors import InvalidState
from envs_c.testing import REFUSED, RULES, Broken, restored, watchdog
from envs_c.testing.actions import outcomes
from envs_c.testing.causes import outputs
from envs_c.testing.endless import ends
from envs_c.testing.restored import changed
from envs_c.testing.rules import MemoryDamaged, future_of
from envs_c.testing.summary import summary

C = ctypes.CDLL(None)
LINE_BUFFERED = 1  # _IOLBF of glibc and musl


def load(module: str):
    """The GAME of a compiled module, by its file."""
    path = Path(module)
    spec = importlib.util.spec_from_file_location(path.name.split(".")[0], path)
    loaded = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = loaded
    spec.loader.exec_module(loaded)
    return loaded.GAME


def own_channel() -> int:
    """Keep the standard output for the results; what the game prints goes to the errors from now on. Returns its number."""
    channel = os.dup(1)
    os.dup2(2, 1)
    if sys.platform == "linux":  # line by line, so that a crash loses no whole line
        C.setvbuf(ctypes.c_void_p.in_dll(C, "stdout"), None, LINE_BUFFERED, 0)
    return channel


def flush_prints():
    """Write what the game has printed so far; C keeps it in a buffer of its own."""
    C.fflush(None)


def test(game, fields: str, rules: list[str], channel: int):
    """Write a line of JSON for each rule: its name, its fault or None, and whether no further rule can be tested.

    fields: the fields of the game's struct as JSON.
    """
    rule = ""
    restored.FIELDS[:] = json.loads(fields)

    def report(fault: str | None, stops: bool):
        flush_prints()
        line = json.dumps({"rule": rule, "fault": fault, "stops": stops})
        os.write(channel, f"{line}\n".encode())
    watchdog.start(lambda fault: report(fault, True))
    for rule in rules:
        try:
            RULES[rule](game)
        except Broken as broken:
            report(str(broken), isinstance(broken, MemoryDamaged))
        except InvalidState:
            report(REFUSED, False)
        else:
            report(None, False)


def main():
    """Load the game and do the task of the command line."""
    module, task, *rest = sys.argv[1:]
    watchdog.end_with_parent()
    channel = own_channel()
    game = load(module)
    if task == "rules":
        test(game, sys.stdin.read(), rest, channel)
        return
    watchdog.start(lambda fault: os.write(channel, f"{fault}\n".encode()))
    with os.fdopen(channel, "w") as results:
        if task == "changed":
            changed(game, results)
        elif task == "ends":
            print(json.dumps(ends(game)), file=results)
        elif task == "summary":
            print(json.dumps(summary(game)), file=results)
        elif task == "outputs":
            print(outputs(game), file=results)
        elif task == "future":
            results.buffer.write(b"".join(future_of(game, sys.stdin.buffer.read())))
        elif task == "outcomes":
            print(json.dumps(outcomes(game, [int(action) for action in rest])), file=results)


if __name__ == "__main__":
    main()
