"""A disk without room: each write is checked, names its file, and loses nothing that was written before."""

import errno
import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from log_support import STEP, iterations

from envs_c.files import Appended, write_atomically, write_together
from trainer.errors import ConfigError, FileError
from trainer.play import film
from trainer.runs.metrics import METRICS, MetricsFile, read_metrics

ROOT = Path(__file__).parents[3]
LIMIT = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (%d, resource.RLIM_INFINITY))\n"
ROOM = "resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)\n"


def python(code: str, *arguments: object) -> subprocess.CompletedProcess:
    """Run code in a process of its own: a limit on the size of files is a limit of the process."""
    return subprocess.run([sys.executable, "-c", code, *map(str, arguments)], cwd=ROOT, capture_output=True, text=True,
                          check=False)


def test_a_record_that_fits_in_part_leaves_nothing_and_the_next_is_whole(tmp_path):
    code = "import sys\nfrom pathlib import Path\nfrom envs_c.files import Appended\n" + LIMIT % 100 + """
file = Appended(Path(sys.argv[1]))
file.append(b"a" * 59 + b"\\n")
try:
    file.append(b"b" * 59 + b"\\n")
except OSError as error:
    print(error.filename, error.strerror)
""" + ROOM + 'file.append(b"c" * 59 + b"\\n")\n'
    done = python(code, tmp_path / "file")
    assert done.stdout == f"{tmp_path / 'file'} File too large\n", done.stderr
    assert (tmp_path / "file").read_bytes() == b"a" * 59 + b"\n" + b"c" * 59 + b"\n"


class Full:
    """An open file that takes `room` bytes."""

    def __init__(self, file, room: int):
        self.file, self.room = file, room

    def write(self, data) -> int:
        taken = min(len(data), self.room)
        if data and not taken:
            raise OSError(28, "No space left on device")
        self.room -= taken
        return self.file.write(data[:taken])

    def __getattr__(self, name):
        return getattr(self.file, name)


def test_a_short_write_of_a_disk_that_then_has_room_is_continued(tmp_path):
    file = Appended(tmp_path / "file")
    whole, sizes = file._file, iter((3, 1, 99))

    class Slow:
        def write(self, data):
            return whole.write(data[:next(sizes)])

        def __getattr__(self, name):
            return getattr(whole, name)
    file._file = Slow()
    file.append(b"abcdefgh\n")
    assert (tmp_path / "file").read_bytes() == b"abcdefgh\n"


def test_the_metrics_of_a_full_disk_are_an_error_that_names_the_file(tmp_path):
    iterations(tmp_path, 1, 2)
    metrics = MetricsFile(tmp_path, 2 * STEP)
    metrics.cut()
    metrics._file._file = Full(metrics._file._file, 10)
    with pytest.raises(FileError, match=r"^cannot write .*/metrics.jsonl: No space left on device; make room, "):
        metrics.append({"step": 3 * STEP, "seconds": 2.0})
    metrics.close()
    assert [entry["step"] for entry in read_metrics(tmp_path)] == [STEP, 2 * STEP]
    assert (tmp_path / METRICS).read_bytes().endswith(b"}\n")


def test_a_training_on_a_full_disk_ends_with_one_line_and_goes_on_later(tmp_path):
    words = ("cartpole --num-envs=32 --minibatch=1024 --total-steps=65536 --lstm-size=8 --device=cpu --eval-episodes=0 "
             f"--track=none --run-dir={tmp_path / 'run'}").split()
    code = f"import sys\nfrom trainer.__main__ import main\n{LIMIT % 9000}sys.exit(main(sys.argv[1:]))"
    done = python(code, *words)
    assert done.returncode == 2 and done.stderr.count("\n") == 1, done.stderr
    assert done.stderr.startswith("error: cannot write ") and "File too large" in done.stderr
    for line in (tmp_path / "run" / METRICS).read_bytes().splitlines(keepends=True) if (tmp_path / "run").exists() else []:
        json.loads(line)


@pytest.mark.parametrize("suffix", [".gif", ".mp4"])
def test_a_film_on_a_full_disk_is_one_line_and_leaves_no_file(tmp_path, suffix):
    code = f"""
import sys
from pathlib import Path
import numpy as np
from trainer.play import film
{LIMIT % 500}
try:
    film._save(Path(sys.argv[1]), [np.random.default_rng(k).integers(0, 255, (64, 64, 3), np.uint8) for k in range(20)], 30.0)
except Exception as error:
    print(type(error).__name__, error)
"""
    done = python(code, tmp_path / f"film{suffix}")
    assert done.stdout.startswith(f"ConfigError cannot write the film {tmp_path}") and done.stdout.count("\n") == 1, done
    assert "Traceback" not in done.stderr and not list(tmp_path.iterdir())


def test_a_film_is_encoded_before_it_is_written(tmp_path, monkeypatch):
    def refuse(path, chunks):
        raise OSError(28, "No space left on device", str(path))
    monkeypatch.setattr(film, "write_atomically", refuse)
    with pytest.raises(ConfigError, match=r"^cannot write the film .*film.gif: No space left on device; make room, or film"):
        film._save(tmp_path / "film.gif", [np.zeros((8, 8, 3), np.uint8)], 30.0)
    assert not list(tmp_path.iterdir())


def test_an_atomic_write_names_its_file(tmp_path):
    def chunks():
        yield b"a"
        raise OSError(28, "No space left on device")
    with pytest.raises(OSError) as error:
        write_atomically(tmp_path / "file", chunks())
    assert error.value.filename == str(tmp_path / "file") and not list(tmp_path.iterdir())


def test_a_write_to_a_place_that_can_hold_no_file_names_the_file_and_not_a_temporary_one(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError) as error:
        write_atomically(tmp_path / "file" / "below", [b"a"])
    assert error.value.filename == str(tmp_path / "file" / "below")


def test_a_file_system_that_syncs_no_folders_takes_files(monkeypatch, tmp_path):
    def sync(number):
        if stat.S_ISDIR(os.fstat(number).st_mode):
            raise OSError(errno.EINVAL, "Invalid argument")
    monkeypatch.setattr(os, "fsync", sync)
    write_atomically(tmp_path / "file", [b"a"])
    assert (tmp_path / "file").read_bytes() == b"a"


def test_files_written_together_are_all_new_or_all_old(tmp_path):
    code = "import sys\nfrom pathlib import Path\nfrom envs_c.files import write_together\n" + LIMIT % 100 + """
try:
    write_together({Path(sys.argv[1]): [b"new"], Path(sys.argv[2]): [b"b" * 200]})
except OSError as error:
    print(error.filename, error.strerror)
"""
    first, second = tmp_path / "first", tmp_path / "second"
    first.write_bytes(b"old")
    assert python(code, first, second).stdout == f"{second} File too large\n"
    assert first.read_bytes() == b"old" and list(tmp_path.iterdir()) == [first]
    write_together({first: [b"new"], second: [b"b"]})
    assert (first.read_bytes(), second.read_bytes()) == (b"new", b"b")
