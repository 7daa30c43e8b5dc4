"""Files from the user: any path and any content gives the content or one error, and no reading waits or runs code."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from trainer.config.games import GameName
from trainer.config.preset import preset_file
from trainer.errors import ConfigError, ExportError, FileError
from trainer.export.weights import rebuild
from trainer.files import LARGEST_TOML, open_file, read_file, read_json, read_toml, user_path, writing
from trainer.sweep.space import read_space

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(("text", "problem"), [
    ("a\0b", "the character NUL"), ("~nosuchuser/x", "the home folder of an unknown user"), ("x" * 256, "too long"),
    ("a/" * 3000, "too long"), ("\udcff", "UTF-8"),
])
def test_a_text_that_is_no_path_is_refused(text, problem):
    with pytest.raises(FileError, match=problem) as error:
        user_path(text)
    assert str(error.value).isprintable() and len(str(error.value)) < 300


def test_a_locale_without_utf_8_is_named_with_what_to_set(monkeypatch):
    monkeypatch.setattr("sys.getfilesystemencoding", lambda: "ascii")
    with pytest.raises(FileError, match=r"must be in ascii, the encoding of this locale: set PYTHONUTF8=1"):
        user_path("r\udcc3\udcban")


def test_a_path_begins_with_the_home_folder_for_a_tilde(monkeypatch):
    monkeypatch.setenv("HOME", "/home/me")
    assert [str(user_path(text)) for text in ("~/x", "a/~", "", "runs/")] == ["/home/me/x", "a/~", ".", "runs"]


def test_a_file_in_a_folder_without_permission_is_named(monkeypatch):
    def refuse(*given, **more):
        raise PermissionError(13, "Permission denied")
    monkeypatch.setattr(Path, "stat", refuse)
    for read in (lambda: preset_file(GameName("pong"), "closed/x.toml"), lambda: read_space("closed/x.toml")):
        with pytest.raises(FileError, match=r"^cannot read closed/x.toml: Permission denied$"):
            read()


def test_only_regular_files_of_a_limited_size_are_read(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "ten").write_bytes(b"0123456789")
    (tmp_path / "link").symlink_to(tmp_path / "ten")
    assert read_file(tmp_path / "link", 10) == b"0123456789"
    for path in (tmp_path, tmp_path / "pipe", tmp_path / "missing", Path("/dev/zero")):
        with pytest.raises(OSError):
            open_file(path)
    with pytest.raises(OSError, match="it has 10 bytes, and at most 9 are read"):
        read_file(tmp_path / "ten", 9)


@pytest.mark.parametrize("text", [b"", b"{", b"\0", b"\xff", b"[" * 100_000, b'{"a":' * 100_000, b"9" * 5000])
def test_text_that_is_no_json_is_a_value_error(tmp_path, text):
    (tmp_path / "file").write_bytes(text)
    with pytest.raises(ValueError):
        read_json(tmp_path / "file")


@pytest.mark.parametrize("header", [b"[" * 200_000, b'{"a":' * 200_000, b'{"__metadata__":{"policy":"%s"}}' % (b"[" * 200_000)])
def test_a_deeply_nested_header_of_an_export_is_one_line(header):
    with pytest.raises(ExportError, match=r"^the file must be a policy written by `export`: [^\n]*$"):
        rebuild(len(header).to_bytes(8, "little") + header)


@pytest.mark.parametrize(("text", "problem"), [
    (b"a", "Expected"), (b"\xff", "its byte 0 is not"), (b"a = " + b"[" * 5000, "nested too deeply"),
    (b"a = " + b"{a=" * 5000, "nested too deeply"), (b"a = " + b"9" * 5000, "4300 digits"),
    (b"#" * (LARGEST_TOML + 1), "at most 1,048,576 are read"),
])
def test_text_that_is_no_toml_is_an_error_with_the_name_of_the_file(tmp_path, text, problem):
    (tmp_path / "file").write_bytes(text)
    with pytest.raises(ConfigError, match=f"label.*{problem}") as error:
        read_toml(tmp_path / "file", "label")
    assert str(error.value).isprintable()


def test_a_refused_write_says_what_to_do(tmp_path):
    with pytest.raises(FileError, match=r"^cannot write x: No such file or directory; choose another --out$"), \
            writing("x", "choose another --out"):
        (tmp_path / "missing" / "x").touch()


def test_no_code_of_the_project_unpickles():
    """Neither pickle nor a function that uses it is named; safetensors, JSON and TOML contain only data."""
    unpicklers = ["import pickle", "from pickle", "torch.load(", "np.load(", "import shelve", "import marshal", "yaml.load",
                  "joblib", "weights_only", "allow_pickle"]
    sources = [path for room in ("trainer", "bridge", "envs_c", "examples", "benchmarks")
               for ending in ("py", "pyx", "pxd") for path in (ROOT / room).rglob(f"*.{ending}")]
    assert len(sources) > 100
    found = [f"{path}: {word}" for path in sources for word in unpicklers
             if word in path.read_text(encoding="utf-8").replace("safetensors.torch.load(", "")]
    assert found == []


PICKLE = b"cposix\nsystem\n(S'touch ran'\ntR."
GIVEN = [  # a file, and a command that reads it
    ("run/config.json", "list --root ."), ("other/metrics.jsonl", "list --root ."), ("last/evaluation.json", "list --root ."),
    ("step_000000000001.safetensors", "eval FILE"), ("step_000000000001.safetensors", "--resume FILE"),
    ("step_000000000001.safetensors", "export FILE"), ("best.safetensors", "play FILE --terminal"),
    ("mine.toml", "cartpole --preset FILE"), ("mine.toml", "sweep cartpole --space FILE"),
    ("journal", "sweep cartpole --report --storage journal:FILE"), ("some.db", "sweep cartpole --report --storage sqlite:///FILE"),
]
REFUSING = """\
import _pickle, pickle, sys
import optuna, torch  # they may unpickle files of their own while they are loaded
from trainer.__main__ import main

def refuse(*given, **more):
    raise AssertionError("unpickled")

for module in (pickle, _pickle):
    module.load = module.loads = module.Unpickler = refuse
torch.load = refuse
print([main(words.split()) for words in sys.argv[1:]])
"""


def test_a_pickle_in_place_of_a_file_is_not_loaded(tmp_path):
    for name, _ in GIVEN:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(PICKLE)
    commands = [words.replace("FILE", str(tmp_path / name)) for name, words in GIVEN]
    done = subprocess.run([sys.executable, "-c", REFUSING, *commands], cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(ROOT)},
                          capture_output=True, text=True, check=False)
    assert done.stdout.splitlines()[-1] == str([0] * 3 + [2] * 8), done.stderr
    assert not (tmp_path / "ran").exists()
