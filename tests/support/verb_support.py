"""Helpers for tests of the verbs: working and refused commands, and changes to the settings of saved runs."""

import json
from pathlib import Path

from trainer.__main__ import main
from trainer.runs import checkpoint
from trainer.runs.folder import CONFIG


def run(capsys, words: str) -> str:
    """The output of a working command."""
    assert main(words.split()) == 0, capsys.readouterr().err
    return capsys.readouterr().out


def refused(capsys, words: str) -> str:
    """The one line on stderr of a command; its exit code is 2."""
    assert main(words.split()) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    return err


def rewrite(folder: Path, change) -> None:
    """Change the settings in the checkpoints and in config.json of a run.

    change: called with the config as a dict, which it changes in place.
    """
    saved = []
    for path in list(folder.glob("*.safetensors")):
        tensors, meta, _ = checkpoint.load(path)
        saved.append((int(path.stem.partition("_")[2] or 0), tensors, meta))
        path.unlink()
    for step, tensors, meta in saved:
        change(meta["config"])
        checkpoint.save(folder, step, tensors, meta, score=None)
    content = json.loads((folder / CONFIG).read_text())
    change(content["config"])
    (folder / CONFIG).write_text(json.dumps(content))
