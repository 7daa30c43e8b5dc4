"""How much source one iteration of a training executes: `python -m benchmarks.speed.one_iteration`.

Trains three iterations with the game's preset, then watches a fourth: a rollout and the update after it. Counted are the lines
of the Python functions that it enters, with and without their docstrings, comments and blank lines, and the files that they
are in; and beside them the lines of the Cython modules that run: the trainer's whose functions it calls, the game's, and the
engine's. These are whole files with all that they include, also functions that do not run.
"""

import ast
import contextlib
import io
import re
import sys
import threading
import tokenize
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType, ModuleType

import bridge
import envs_c
import trainer
from benchmarks.common import head, new_parser, publish
from trainer.config import options
from trainer.config.games import GameName
from trainer.log.text import markdown
from trainer.training.build import make_session
from trainer.training.train import iterate

ROOTS = [Path(package.__file__).parent for package in (trainer, bridge, envs_c)]
INCLUDED = re.compile(r'(?:^cdef extern from|^include|^\s*#include) "([\w./]+)"|^(?:from )?([\w.]+) cimport|^cimport ([\w.]+)',
                      re.MULTILINE)


def compiled_modules(package: str) -> list[ModuleType]:
    """The loaded Cython modules of a package."""
    return [module for name, module in sys.modules.items()
            if name.startswith(f"{package}.") and Path(getattr(module, "__file__", None) or "").suffix == ".so"]


class Entered:
    """What a call of some work enters: Python code by file and first line, and Cython modules."""

    def __init__(self, work: Callable[[], object]):
        self.code: set[tuple[Path, int]] = set()
        self.modules: set[ModuleType] = set()
        with self._noted():
            work()

    @contextlib.contextmanager
    def _noted(self) -> Iterator[None]:
        found = [(module, name, function) for module in compiled_modules("trainer") for name, function in vars(module).items()
                 if type(function).__name__ == "cython_function_or_method"]
        for module, name, function in found:
            setattr(module, name, self._noting(module, function))
        threading.setprofile(self._enter)
        sys.setprofile(self._enter)
        try:
            yield
        finally:
            sys.setprofile(None)
            threading.setprofile(None)
            for module, name, function in found:
                setattr(module, name, function)

    def _enter(self, frame: FrameType, event: str, _):
        if event == "call":
            self.code.add((Path(frame.f_code.co_filename), frame.f_code.co_firstlineno))

    def _noting(self, module: ModuleType, function: Callable):
        def call(*arguments, **named):
            self.modules.add(module)
            return function(*arguments, **named)
        return call


def lines_of(path: Path, starts: set[int]) -> tuple[set[int], set[int]]:
    """The numbers of all lines of the functions that begin at these lines, and of those with code."""
    text = path.read_text(encoding="utf-8")
    entered, docs = set(), set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.Lambda | ast.GeneratorExp):
            decorated = getattr(node, "decorator_list", [])
            if min([node.lineno, *(one.lineno for one in decorated)]) in starts:
                entered |= set(range(node.lineno, node.end_lineno + 1))
            body = node.body if isinstance(node, ast.FunctionDef) else []
            if body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
                docs |= set(range(body[0].lineno, body[0].end_lineno + 1))
    silent = tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER
    told = {line for token in tokenize.generate_tokens(io.StringIO(text).readline) if token.type not in silent
            for line in range(token.start[0], token.end[0] + 1)}
    return entered, (entered & told) - docs


def modules_of(env: envs_c.VecEnv | None) -> set[ModuleType]:
    """The Cython modules that step environments: the game's, and those of the engine's classes. None: not our own games."""
    if env is None:
        return set()
    games = {module for module in compiled_modules("envs_c") if getattr(module, "GAME", None) is env.game}
    return games | {sys.modules[kind.__module__] for kind in (*type(env).__mro__, envs_c.Batch) if kind is not object}


def compiled_files(modules: set[ModuleType]) -> dict[Path, int]:
    """The sources of Cython modules, with what they include: their lines by path."""
    found, folder = {}, ROOTS[0].parent
    left = [folder / f"{module.__name__.replace('.', '/')}.pyx" for module in modules]
    while left:
        path = left.pop()
        if path in found:
            continue
        text = path.read_text(encoding="utf-8")
        found[path] = text.count("\n")
        for header, *imported in INCLUDED.findall(text):
            name = header or f"{''.join(imported).replace('.', '/')}.pxd"
            headers = [folder / "envs_c" / "engine", folder / "trainer" / "kernels" / "shared"]
            beside = [one / name for one in (path.parent, path.parents[1], *headers, folder)]
            left += [one.resolve() for one in beside if one.is_file()][:1]
    return found


def main():
    parser = new_parser("speed.one_iteration", __doc__)
    parser.add_argument("game", nargs="?", default="breakout", help="default: breakout")
    parser.add_argument("--files", action="store_true", help="also print a row for each file")
    parser.add_argument("--out", type=Path, help="file to write the table to")
    given, settings = parser.parse_known_args()
    session = make_session(options.parse_new(GameName(given.game), settings))
    for _ in range(3):
        iterate(session)
    entered = Entered(lambda: iterate(session))
    starts: dict[Path, set[int]] = {}
    for path, line in entered.code:
        if any(path.is_relative_to(root) for root in ROOTS):
            starts.setdefault(path, set()).add(line)
    python = {path: tuple(map(len, lines_of(path, lines))) for path, lines in sorted(starts.items())}
    python = {path: lines for path, lines in python.items() if lines[0]}
    compiled = compiled_files(entered.modules | modules_of(getattr(session.pipeline.source, "env", None)))
    folder = ROOTS[0].parent
    rows = [["Python functions", len(python), *map(sum, zip(*python.values(), strict=True))],
            ["whole files of Cython and C", len(compiled), sum(compiled.values()), "-"]]
    if given.files:
        rows += [[str(path.relative_to(folder)), "", *lines] for path, lines in python.items()]
        rows += [[str(path.relative_to(folder)), "", lines, "-"] for path, lines in sorted(compiled.items())]
    table = markdown(["what an iteration enters", "files", "lines", "without docstrings, comments, blank lines"],
                     [list(map(str, row)) for row in rows])
    publish(head(f"One iteration of {given.game}") + "\n" + table, given.out)


if __name__ == "__main__":
    main()
