"""The command of a page of trainings, which several modules of benchmarks/scores have: FOLDER ..., --out and --add."""

import argparse
import json
from collections.abc import Callable, Hashable, Iterable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.common import new_parser, publish
from trainer.errors import RunError
from trainer.runs.folder import CONFIG
from trainer.runs.summary import Run, read_run


def finished(folders: Iterable[Path]) -> Iterator[Run]:
    """The trainings in these folders that have ended with an evaluation."""
    for folder in folders:
        for path in sorted(folder.iterdir()):
            if (path / CONFIG).is_file():
                run = read_run(path)
                if run.evaluations and not run.running and run.step >= run.total_steps:
                    yield run


def make_page(name: str, description: str, argv: list[str] | None, of_run: Callable[[Run], dict[str, Any]],
              text: Callable[[list[dict[str, Any]]], str],
              merged: Callable[[list[dict[str, Any]], Path], list[dict[str, Any]]],
              key: Callable[[dict[str, Any]], Hashable]):
    """The command of a page of trainings.

    of_run: what the page keeps of each.
    text: the page of all that are kept.
    merged: these trainings and those of a file, for --add.
    key: what makes a training another one; two with the same key in the folders are refused.
    """
    parser = new_parser(name, description)
    parser.add_argument("folders", nargs="*", type=Path, metavar="FOLDER", help="folders of benches")
    parser.add_argument("--out", type=Path, help="Markdown file for the page")
    parser.add_argument("--add", action="store_true", help="keep the trainings that the .json beside --out has")
    options = parser.parse_args(argv)
    file = options.out and options.out.with_suffix(".json")
    if options.add and not (file and file.is_file()):
        parser.error(f"--add needs the .json of an earlier page beside --out, which is {file or 'not given'}: leave it out")
    if not (options.folders or options.add):
        parser.error("FOLDER is missing: name the folders of benches, or give --add to write the page of the .json again")
    trainings = _read(parser, options.folders, of_run, key)
    if options.add:
        trainings = merged(trainings, file)
    publish(text(trainings), options.out)
    if file:
        lines = ",\n".join(json.dumps(one) for one in trainings)
        file.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


def _read(parser: argparse.ArgumentParser, folders: Iterable[Path], of_run: Callable[[Run], dict[str, Any]],
          key: Callable[[dict[str, Any]], Hashable]) -> list[dict[str, Any]]:
    """What the page keeps of the trainings in these folders, as for `make_page`. Ends the program with an error if a folder has
    none, or if one is there twice: it would count as two seeds."""
    trainings: dict[Hashable, dict[str, Any]] = {}
    places: dict[Hashable, Path] = {}
    for folder in folders:
        if not folder.is_dir():
            parser.error(f"FOLDER must be the folder of a bench, not {folder}: `python -m trainer bench GAME --out {folder}` "
                         "makes it")
    for folder in folders:
        before = len(trainings)
        try:
            for run in finished([folder]):
                one = of_run(run)
                if other := places.get(key(one)):
                    parser.error(f"FOLDER must hold each training once, but {other} and {run.folder} are the same game, "
                                 f"protocol and seed {run.seed}: leave one of them out")
                trainings[key(one)], places[key(one)] = one, run.folder
        except RunError as error:
            parser.error(str(error))
        if len(trainings) == before:
            parser.error(f"no training in {folder} has ended with an evaluation: FOLDER is a bench's, not a training's")
    return list(trainings.values())
