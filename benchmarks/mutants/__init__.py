"""Mutation testing: small faults are planted one by one in a copy of the sources, and the tests must notice them.

`python -m benchmarks.mutants [AREA ...] [--sample 30] [--seed 1]` draws mutants of each area at random, runs the tests of that
area on each, and writes the table and the survivors. `make mutants` installs what it needs and does so for all areas.

Python files are mutated by the operators of cosmic-ray (python_mutants.py), Cython files by a table of our own
(cython_mutants.py), since no mutation tester reads Cython. A mutant is killed if a test fails or does not end in time; it is
not counted if the mutated Cython file does not compile.
"""

from typing import NamedTuple


class Area(NamedTuple):
    """Sources that are mutated, and the tests that must notice it.

    sources: globs of files, relative to the repository's root; Python files or Cython files, not both.
    tests: pytest's arguments.
    """

    sources: tuple[str, ...]
    tests: tuple[str, ...]


def _game(name: str) -> Area:
    return Area((f"envs_c/games/{name}/*.p[xy][dx]",),
                (f"tests/envs_c/games/test_{name}.py", "tests/envs_c/states/test_determinism.py", "-k", name))


AREAS = {
    "ppo": Area(("trainer/ppo/*.py",), ("tests/trainer/ppo",)),
    "rollout": Area(("trainer/rollout/*.py",), ("tests/trainer/rollout", "tests/trainer/ppo")),
    "policy": Area(("trainer/policy/*.py", "trainer/policy/encoders/*.py"), ("tests/trainer/policy",)),
    "results": Area(("trainer/results/[!p]*.py",), ("tests/trainer/results",)),  # not published.py: numbers of papers
    "training": Area(("trainer/training/*.py",), ("tests/trainer/training",)),
    "engine": Area(("envs_c/engine/*.p[xy][dx]", "envs_c/game.pxd"),
                   ("tests/envs_c/stepping", "tests/envs_c/states", "tests/envs_c/misuse", "tests/envs_c/test_views.py")),
    **{name: _game(name) for name in ("breakout", "pong", "seaquest")},
}
