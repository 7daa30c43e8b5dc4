"""Whatever a stranger's run has in its names, settings and files: no command and no function hands it to the terminal."""

import json
import shutil

import pytest
from verb_support import run as works

import trainer
from trainer.__main__ import main
from trainer.errors import TrainerError
from trainer.runs.evaluation import EVALUATION
from trainer.runs.folder import CONFIG

NAME = "x\x1b]0;title\x07\x9b2J\u202eevil\nrow"


@pytest.fixture
def hostile(there):
    """A copy of a run whose folder has such a name, and so have settings and files in it."""
    folder = there / "runs" / NAME
    shutil.copytree(there / "runs" / "one", folder)
    content = json.loads((folder / CONFIG).read_text())
    content["config"]["policy"]["memory"] = NAME
    content["sessions"][0]["facts"]["command"] = NAME
    (folder / CONFIG).write_text(json.dumps(content))
    summary = json.loads((folder / EVALUATION).read_text()) if (folder / EVALUATION).exists() else {"mean": 1.0, "episodes": 3}
    summary["protocol"] = {"actions": NAME, "sticky": 0.25, "frame_skip": 4, "time_limit": 5, "scores": "raw", "end": "over"}
    (folder / EVALUATION).write_text(json.dumps(summary))
    return folder


def plain(text: str) -> bool:
    """True if all characters but the ends of lines are printed."""
    return all(line.isprintable() for line in text.split("\n"))


TINY = ["--total-steps=64", "--num-envs=4", "--horizon=8", "--minibatch=32", "--eval-episodes=0", "--track=none",
        "--device=cpu"]
COMMANDS = [
    ["list"], ["list", "--root", "FOLDER"], ["report", "FOLDER"], ["report", "FOLDER", "runs/one"],
    ["record", "FOLDER", "--episodes=1"], ["compare", "FOLDER", "runs/one"], ["compare", "FOLDER", "runs/one", "--group"],
    ["compare", "FOLDER", "runs/one", "--csv"], ["compare", "FOLDER", "runs/one", "--json"], ["--resume", "FOLDER"],
    ["eval", "FOLDER", "--episodes=1"], ["export", "FOLDER"], ["eval", "runs/x"], ["--resume", f"{NAME}.nowhere"],
    ["play", f"{NAME}.nowhere"], [NAME], ["cartpole", "--preset", f"{NAME}.toml"], ["cartpole", f"--{NAME}"],
    ["sweep", "cartpole", "--space", f"{NAME}.toml"], ["replay", f"#replay=1&{NAME}=1"], ["check", NAME],
    ["cartpole", "--run-dir", f"new{NAME}", *TINY],
]


def test_no_command_prints_them(there, hostile, capsys):
    for words in COMMANDS:
        code = main([word.replace("FOLDER", str(hostile.relative_to(there))) for word in words])
        out, err = capsys.readouterr()
        assert plain(out) and plain(err), (words, out, err)
        assert code in (0, 2) and "Traceback" not in err, words


def test_the_list_shows_the_name_as_escapes(there, hostile, capsys):
    assert r"x\x1b]0;title\x07\x9b2J\u202eevil\nrow" in works(capsys, "list")


CALLS = [
    lambda folder: trainer.load(f"nowhere/{NAME}"), lambda folder: trainer.train(resume=f"{NAME}?"),
    lambda folder: trainer.preset("cartpole", file=f"{NAME}.toml"), lambda folder: trainer.preset(NAME),
    lambda folder: trainer.train("cartpole", **{NAME: 1}), lambda folder: trainer.preset("cartpole", device=NAME),
    lambda folder: trainer.train(resume=folder, device=NAME),
    lambda folder: trainer.preset("cartpole", file=bad_preset(folder)),
]


def test_no_function_has_them_in_its_error(there, hostile):
    for call in CALLS:
        with pytest.raises(TrainerError) as error:
            call(hostile)
        assert str(error.value).isprintable() and len(str(error.value)) < 2000


def bad_preset(folder):
    """A preset with very many unknown settings."""
    path = folder.parent / "many.toml"
    path.write_text("[ppo]\n" + "\n".join(f'"{k}\\u001b{"long" * 8}" = 1' for k in range(99)))
    return path
