"""Checkpoints are loaded bit for bit, the last and the best are kept, and a kill never damages one."""

import math
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

from trainer.config import Config
from trainer.errors import CheckpointError
from trainer.runs import checkpoint

DTYPES = [torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.uint8, torch.int8, torch.int16,
          torch.int32, torch.int64, torch.bool]
CONFIG = {"config": Config("breakout").to_dict()}
META = {**CONFIG, "sizes": [1, 2], "text": '" and \\ and "sha256":"', "third": 1 / 3, "x": None}


def tensor_of(dtype):
    return (torch.randn(3, 5, generator=torch.Generator().manual_seed(1)) * 100).to(dtype)


def save(folder, step=1, score=None, **keywords):
    weight = torch.full((4, 4), float(step))
    return checkpoint.save(folder, step, {"weight": weight}, CONFIG | {"step": step}, score=score, **keywords)


def steps_in(folder):
    return sorted(int(path.stem.removeprefix("step_")) for path in folder.glob("step_*.safetensors"))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_a_tensor_of_any_dtype_comes_back_with_equal_bits(tmp_path, dtype):
    tensor = tensor_of(dtype)
    tensors = checkpoint.load(checkpoint.save(tmp_path, 1, {"x": tensor}, CONFIG, score=None)).tensors
    assert tensors["x"].dtype == dtype
    assert torch.equal(tensors["x"].view(torch.uint8), tensor.view(torch.uint8))


SHARED = torch.arange(24.0).reshape(4, 6)


@pytest.mark.parametrize("tensors", [
    {},
    {"empty": torch.zeros(0, 3), "scalar": torch.tensor(3, dtype=torch.int64)},
    {"transposed": SHARED.t(), "strided": SHARED[:, ::2], "row": SHARED[1]},
    {"one": SHARED, "the same": SHARED},
    {"parameter": torch.nn.Parameter(torch.ones(2))},
    {"nan": torch.tensor([math.nan, math.inf, -0.0])},
    {"sha256": torch.ones(1), "__strange/name.0": torch.ones(2)},
], ids=lambda tensors: "+".join(tensors) or "none")
def test_tensors_of_any_layout_come_back_with_equal_bits(tmp_path, tensors):
    loaded = checkpoint.load(checkpoint.save(tmp_path, 1, tensors, CONFIG, score=None)).tensors
    assert loaded.keys() == tensors.keys()
    for name, tensor in tensors.items():
        assert loaded[name].shape == tensor.shape
        assert loaded[name].numpy().tobytes() == tensor.detach().contiguous().numpy().tobytes()


def test_meta_is_loaded_unchanged(tmp_path):
    path = checkpoint.save(tmp_path, 1, {"x": torch.ones(1)}, META, score=2.5)
    loaded = checkpoint.load(path)
    assert loaded.meta == META and loaded.config == Config("breakout")
    assert checkpoint.read_meta(path) == META


def test_loaded_tensors_can_be_written_to(tmp_path):
    checkpoint.load(save(tmp_path)).tensors["weight"].add_(1)


def test_the_last_three_and_the_best_are_kept(tmp_path):
    for step, score in enumerate([1.0, 5.0, 2.0, None, math.nan, 5.0, 3.0], 1):
        save(tmp_path, step, score)
    assert steps_in(tmp_path) == [5, 6, 7]
    assert checkpoint.read_meta(tmp_path / checkpoint.BEST)["step"] == 2
    assert checkpoint.best_score(tmp_path) == 5.0
    assert checkpoint.latest(tmp_path).name == "step_000000000007.safetensors"


@pytest.mark.parametrize("scores", [(-21.0, -20.0), (-1.0, 0.0), (0.0, 0.5)])
def test_a_higher_score_is_a_record_around_zero_too(tmp_path, scores):
    save(tmp_path, 1, scores[1])
    save(tmp_path, 2, scores[0])
    assert checkpoint.best_score(tmp_path) == scores[1]
    save(tmp_path, 3, scores[1] + 0.25)
    assert checkpoint.best_score(tmp_path) == scores[1] + 0.25


@pytest.mark.parametrize("score", [None, math.nan])
def test_there_is_no_best_without_a_score(tmp_path, score):
    save(tmp_path, 1, score=score)
    assert checkpoint.best_score(tmp_path) is None
    assert not (tmp_path / checkpoint.BEST).exists()


def test_a_checkpoint_stands_in_as_the_best_until_one_has_a_score(tmp_path):
    def best():
        return checkpoint.read_meta(tmp_path / checkpoint.BEST)["step"], checkpoint.best_score(tmp_path)

    for step in (1, 2):
        save(tmp_path, step, stand_in=-math.inf)
        assert best() == (step, None)
    save(tmp_path, 3)
    assert best() == (2, None)
    save(tmp_path, 4, -21.0)
    for step, stand_in in ((5, -math.inf), (6, -22.0), (7, math.nan)):
        save(tmp_path, step, stand_in=stand_in)
        assert best() == (4, -21.0)
    save(tmp_path, 8, stand_in=-20.0)
    assert best() == (8, None)


def test_keep_is_how_many_stay(tmp_path):
    for step in range(1, 6):
        save(tmp_path, step, keep=2)
    assert steps_in(tmp_path) == [4, 5]


@pytest.mark.parametrize("step", [15, 20, 25, 40])
def test_going_on_from_an_older_checkpoint_gives_up_the_later_ones(tmp_path, step):
    for before in (10, 20, 30):
        save(tmp_path, before)
    save(tmp_path, step, since=10)
    assert steps_in(tmp_path) == [10, step]


def test_the_best_of_steps_that_were_given_up_is_kept_under_another_name(tmp_path):
    for _ in range(2):
        for step, score in ((10, 0.1), (20, 9.0), (30, 2.0)):
            save(tmp_path, step, score)
        assert checkpoint.name_aside(tmp_path, 20) is None
        aside = checkpoint.name_aside(tmp_path, 10)
        save(tmp_path, 25, 0.5, since=10)
        assert checkpoint.read_meta(aside)["step"] == 20
        assert checkpoint.best_score(tmp_path) == 0.5
    kept = {path.name for path in tmp_path.glob("best_*")}
    assert kept == {"best_000000000020.safetensors", "best_000000000020-2.safetensors", "best_000000000025.safetensors"}


def test_a_record_saved_before_a_kill_stays_the_best(tmp_path):
    save(tmp_path, 10, 1.0)
    save(tmp_path, 20, 9.0).unlink()  # killed between the record and the checkpoint of the step
    save(tmp_path, 15, 1.5, since=10)
    assert checkpoint.best_score(tmp_path) == 9.0


def test_a_damaged_best_is_named_before_the_resumed_run_begins(tmp_path):
    save(tmp_path, 10)
    save(tmp_path, 20, 9.0)
    (tmp_path / checkpoint.BEST).write_bytes(b"torn")
    with pytest.raises(CheckpointError, match=r"best.safetensors is damaged.*; move it away, and go on with --resume"):
        checkpoint.name_aside(tmp_path, 10)


def test_latest_takes_a_folder_or_a_file_as_text_or_path(tmp_path):
    older, newer = save(tmp_path, 999_999_999_999), save(tmp_path, 1_000_000_000_000)
    assert checkpoint.latest(tmp_path) == newer
    assert checkpoint.latest(str(tmp_path)) == newer
    assert checkpoint.latest(older) == older


@pytest.mark.parametrize(("make", "sentence"), [
    (lambda run: None, "there is no run at"),
    (lambda run: run.mkdir(), "has no checkpoint"),
    (lambda run: (save(run, 1, 1.0), (run / "step_000000000001.safetensors").unlink()), "pass .*best.safetensors"),
    (lambda run: (run.mkdir(), (run / ".step_000000000001.safetensors.7.tmp").touch()), "has no checkpoint"),
], ids=["nothing", "empty folder", "only the best", "only a temporary file"])
def test_latest_raises_an_error_that_names_the_missing_file(tmp_path, make, sentence):
    make(tmp_path / "run")
    with pytest.raises(CheckpointError, match=sentence):
        checkpoint.latest(tmp_path / "run")


@pytest.mark.parametrize("damage", [lambda data: b"", lambda data: data[:-3], lambda data: b"x" + data[1:],
                                    lambda data: data[:-1] + b"x"], ids=["empty", "cut", "first byte", "last byte"])
def test_a_damaged_newest_checkpoint_names_an_older_intact_one(tmp_path, damage):
    older, middle, newest = save(tmp_path, 1), save(tmp_path, 2), save(tmp_path, 3)
    for path in (middle, newest):
        path.write_bytes(damage(path.read_bytes()))
    assert checkpoint.latest(tmp_path) == newest
    with pytest.raises(CheckpointError, match=f"{newest.name} is .*{older.name} is intact: pass it"):
        checkpoint.load(newest)


def test_the_error_for_a_single_damaged_checkpoint_names_no_other(tmp_path):
    path = save(tmp_path)
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(CheckpointError, match="no other intact checkpoint"):
        checkpoint.load(path)


def test_a_damaged_best_is_not_written_over(tmp_path):
    save(tmp_path, 1, 5.0)
    best = tmp_path / checkpoint.BEST
    best.write_bytes(best.read_bytes()[:-1])
    with pytest.raises(CheckpointError, match=r"best.safetensors is cut short.*; move it away, and go on with --resume"):
        save(tmp_path, 2, 9.0)
    assert steps_in(tmp_path) == [1, 2]


def test_leftovers_of_a_killed_run_are_removed_at_the_next_save(tmp_path):
    for name in ("step_000000000009", "best"):
        (tmp_path / f".{name}.safetensors.123.tmp").write_bytes(b"half")
    path = save(tmp_path, 1)
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("name", [".policy.onnx.123.tmp", ".policy.safetensors.123.tmp", ".cache.tmp", ".best.safetensors.tmp",
                                  ".step_000000000009.safetensors.123.tmp.gif", ".step_9.safetensors.123.tmp", "a.tmp"])
def test_a_save_removes_no_file_of_an_export_or_of_another_program(tmp_path, name):
    (tmp_path / name).write_bytes(b"half")
    path = save(tmp_path, 1)
    assert sorted(tmp_path.iterdir()) == sorted([path, tmp_path / name])


def test_a_folder_that_cannot_be_written_is_an_error_with_its_reason(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(CheckpointError, match=r"cannot write the checkpoint .*; make room, let your user write there"):
        save(tmp_path / "file" / "run")


def test_the_error_of_a_full_disk_names_the_best_checkpoint_if_it_alone_has_the_step(tmp_path, monkeypatch):
    write = checkpoint.write_atomically

    def refuse_steps(path, chunks):
        if path.name != checkpoint.BEST:
            raise OSError(28, "No space left on device", str(path))
        write(path, chunks)
    monkeypatch.setattr(checkpoint, "write_atomically", refuse_steps)
    for step, ending in ((1, f"--resume, or from {tmp_path / checkpoint.BEST}, which holds this step"), (2, "with --resume")):
        with pytest.raises(CheckpointError) as error:
            save(tmp_path, step, score=-step)
        assert str(error.value).endswith(ending)


SAVE_FOREVER = """
import sys, torch
from pathlib import Path
from trainer.config import Config
from trainer.runs import checkpoint
meta = {"config": Config("breakout").to_dict()}
folder, step = Path(sys.argv[1]), int(sys.argv[2])
while True:
    step += 1
    checkpoint.save(folder, step, {"weight": torch.full((300_000,), float(step))}, meta | {"step": step}, score=float(step))
    print(flush=True)
"""


@pytest.mark.parametrize("kills", [2, pytest.param(60, marks=pytest.mark.slow)])
def test_a_kill_at_any_moment_leaves_newest_and_best_intact(tmp_path, kills):
    step, moments = 0, random.Random(1)
    for _ in range(kills):
        command = [sys.executable, "-c", SAVE_FOREVER, str(tmp_path), str(step)]
        process = subprocess.Popen(command, cwd=Path(__file__).parents[3], stdout=subprocess.PIPE)
        process.stdout.readline()
        time.sleep(moments.uniform(0.0, 0.25))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        tensors, meta, _ = checkpoint.load(checkpoint.latest(tmp_path))
        assert meta["step"] > step
        assert torch.equal(tensors["weight"], torch.full((300_000,), float(meta["step"])))
        assert checkpoint.read_meta(tmp_path / checkpoint.BEST)["step"] >= meta["step"]  # each step was a record
        assert len(steps_in(tmp_path)) <= 4
        step = meta["step"]
