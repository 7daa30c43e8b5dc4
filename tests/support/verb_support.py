"""What the tests of the verbs share: how a command is run or refused, and how a run's settings are changed behind its back."""

import json
from pathlib import Path

from trainer.__main__ import main
from trainer.runs import checkpoint
from trainer.runs.folder import CONFIG


def run(capsys, words: str) -> str:
    """What a command that works prints."""
    assert main(words.split()) == 0, capsys.readouterr().err
    return capsys.readouterr().out


def refused(capsys, words: str) -> str:
    """The one line on stderr of a command that exits with 2."""
    assert main(words.split()) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    return err


def rewrite(folder: Path, change) -> None:
    """Change the settings in the checkpoints and in config.json of a run."""
    for path in folder.glob("*.safetensors"):
        tensors, meta = checkpoint.load(path)
        change(meta["config"])
        path.unlink()
        checkpoint.save(folder, int(path.stem.partition("_")[2] or 0), tensors, meta, score=None)
    saved = json.loads((folder / CONFIG).read_text())
    change(saved["config"])
    (folder / CONFIG).write_text(json.dumps(saved))
