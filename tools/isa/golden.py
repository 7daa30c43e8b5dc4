"""Compares every game's outputs with the golden checksums: `python golden.py TESTS [GAME ...]`, in any Python with envs_c.

TESTS is the folder tests/ of the repository; without games, all are played. Prints a line for each checksum that differs,
then the version of Python, the machine, the variant in use and the count. The status is 1 if one differs. No pytest needed.
"""

import ast
import platform
import sys
from pathlib import Path


def golden(tests: Path) -> dict:
    """The constants GOLDEN and GOLDEN_SIZE of test_determinism.py."""
    tree = ast.parse((tests / "envs_c" / "states" / "test_determinism.py").read_text(encoding="utf-8"))
    return {node.targets[0].id: ast.literal_eval(node.value) for node in tree.body
            if isinstance(node, ast.Assign) and node.targets[0].id in ("GOLDEN", "GOLDEN_SIZE")}


def main(tests: Path, games: list[str]) -> int:
    """Play, compare, print; returns the status."""
    sys.path.insert(0, str(tests / "support"))
    from support import play_core

    import envs_c
    from envs_c import isa
    facts, wrong, played = golden(tests), 0, 0
    for (name, view), checksum in facts["GOLDEN"].items():
        if games and name not in games:
            continue
        found = play_core(envs_c.game(name), view=view, **facts["GOLDEN_SIZE"])
        played += 1
        if found != checksum:
            wrong += 1
            print(f"{name} {view}: {found} is not {checksum}")
    print(f"Python {platform.python_version()}, {platform.machine()}, {isa.chosen() or 'one variant'}: "
          f"{played - wrong} of {played} golden checksums hold")
    return 1 if wrong or not played else 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: python golden.py TESTS [GAME ...]")
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
