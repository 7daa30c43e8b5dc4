"""A damaged file, or a file of another program, is never loaded as a checkpoint; files of format 2 are."""

import hashlib
import io
import json
import os
import pickle
from pathlib import Path

import pytest
import safetensors.torch
import torch

from trainer.config import Config
from trainer.errors import CheckpointError, ConfigError
from trainer.runs import checkpoint, checkpoint_file

CONFIG = {"config": Config("breakout").to_dict()}
SMALL = {"text": '" and \\ and "sha256":"', "third": 1 / 3, "x": None}  # without a config, to be quick
META = {**CONFIG, **SMALL}
TENSORS = {"x": torch.randn(3, 5, generator=torch.Generator().manual_seed(1)) * 100}


def rewritten(path, **changes):
    """Rewrite the file at `path` as valid safetensors with other texts in its metadata."""
    header = path.read_bytes()
    size = int.from_bytes(header[:8], "little")
    metadata = json.loads(header[8:8 + size])["__metadata__"] | changes
    safetensors.torch.save_file(safetensors.torch.load_file(path), path, metadata)


def test_every_flipped_byte_is_refused(tmp_path):
    path = checkpoint.save(tmp_path, 1, TENSORS, SMALL, score=1.5)
    good = path.read_bytes()
    for place in range(len(good)):
        bad = bytearray(good)
        bad[place] ^= 1 << (place % 8)
        path.write_bytes(bad)
        with pytest.raises(CheckpointError):
            checkpoint.load(path)
    path.write_bytes(good)
    checkpoint_file.read(path)


@pytest.mark.slow
def test_every_flipped_bit_of_the_header_is_refused(tmp_path):
    path = checkpoint.save(tmp_path, 1, TENSORS | {"counts": torch.ones(2, dtype=torch.int64)}, SMALL,
                           score=1.5)
    good = path.read_bytes()
    for place in range(8 + int.from_bytes(good[:8], "little")):
        for bit in range(8):
            bad = bytearray(good)
            bad[place] ^= 1 << bit
            path.write_bytes(bad)
            with pytest.raises(CheckpointError):
                checkpoint_file.read(path)


def test_read_meta_finds_damage_to_the_metadata_without_the_tensors(tmp_path):
    path = checkpoint.save(tmp_path, 1, TENSORS, META, score=1.5)
    good = path.read_bytes()
    path.write_bytes(good[:-1] + b"x")
    assert checkpoint.read_meta(path) == META
    path.write_bytes(good.replace(b"breakout", b"breakfast", 1)[:len(good)])
    with pytest.raises(CheckpointError):
        checkpoint.read_meta(path)
    path.write_bytes(good.replace(b"breakout", b"breakour", 1))
    with pytest.raises(CheckpointError, match="its contents do not match its checksum"):
        checkpoint.read_meta(path)


def format_2(tensors, meta) -> bytes:
    """A checkpoint of the format before: the hash is that of the whole file, with zeros in place of the hash itself."""
    envelope = json.dumps({"step": 1, "score": 1.5, "meta": meta})
    data = safetensors.torch.save(tensors, {"insertcoin": "2", "checkpoint": envelope, "sha256": "0" * 64})
    return data.replace(b"0" * 64, hashlib.sha256(data).hexdigest().encode(), 1)


def test_a_checkpoint_of_format_2_is_loaded(tmp_path):
    tensors, path = {"x": TENSORS["x"].bfloat16()}, tmp_path / checkpoint.BEST
    path.write_bytes(format_2(tensors, META))
    loaded = checkpoint.load(path)
    assert torch.equal(loaded.tensors["x"], tensors["x"]) and loaded.meta == META and checkpoint.read_meta(path) == META
    assert checkpoint.best_score(tmp_path) == 1.5


def test_every_flipped_byte_of_format_2_is_refused(tmp_path):
    path = tmp_path / "step_000000000001.safetensors"
    good = format_2({"x": torch.ones(2)}, {"config": {}})
    for place in range(len(good)):
        bad = bytearray(good)
        bad[place] ^= 1 << (place % 8)
        path.write_bytes(bad)
        for read in (checkpoint_file.read, checkpoint_file.read_envelope):
            with pytest.raises(CheckpointError):
                read(path)


def test_a_config_of_another_version_is_named(tmp_path):
    meta = {"config": Config("breakout").to_dict() | {"speed": 3}}
    path = checkpoint.save(tmp_path, 1, {}, meta, score=None)
    for read in (checkpoint.load, checkpoint.read_config):
        with pytest.raises(ConfigError, match="was written by another version of the trainer: unknown setting speed"):
            read(path)


def test_every_truncation_is_refused(tmp_path):
    path = checkpoint.save(tmp_path, 1, TENSORS, SMALL, score=1.5)
    good = path.read_bytes()
    for length in range(len(good)):
        path.write_bytes(good[:length])
        with pytest.raises(CheckpointError, match=r"cut short|empty"):
            checkpoint.load(path)


def test_bytes_after_the_end_are_refused(tmp_path):
    path = checkpoint.save(tmp_path, 1, TENSORS, CONFIG, score=None)
    path.write_bytes(path.read_bytes() + b"\0")
    with pytest.raises(CheckpointError, match="damaged"):
        checkpoint.load(path)


@pytest.mark.parametrize(("make", "sentence"), [
    (lambda path: path.write_bytes(b""), "is empty"),
    (lambda path: path.write_text("step 12\n" * 100), "no safetensors file"),
    (lambda path: path.write_text("{}"), "no safetensors file"),
    (lambda path: path.write_bytes(bytes(4096)), "no safetensors file"),
    (lambda path: path.write_bytes((2).to_bytes(8, "little") + b"[]"), "no safetensors file"),
    (lambda path: path.write_bytes((200_000).to_bytes(8, "little") + b"[" * 200_000), "no safetensors file"),
    (lambda path: path.write_bytes(pickle.dumps({"a": 1})), "a pickle"),
    (lambda path: torch.save({"a": torch.ones(3)}, path), "a pickle"),
    (lambda path: safetensors.torch.save_file({"a": torch.ones(3)}, path), "no checkpoint of this"),
    (lambda path: safetensors.torch.save_file({"a": torch.ones(3)}, path, {"format": "pt"}), "no checkpoint of this"),
    (lambda path: path.write_bytes((2**62).to_bytes(8, "little") + b"{"), "no safetensors file"),
    (lambda path: safetensors.torch.save_file({}, path, {"insertcoin": "9" * 5000, "checkpoint": "{}", "sha256": ""}),
     "contents do not match its checksum"),
    (os.mkfifo, "cannot read .* it is not a regular file"),
    (lambda path: None, "cannot read .* No such file"),
    (lambda path: path.mkdir(), "cannot read .* Is a directory"),
], ids=["empty", "text", "json", "zeros", "json list", "deep json", "pickle", "torch.save", "safetensors", "metadata",
        "long header", "digits", "pipe", "missing", "folder"])
def test_the_error_for_a_foreign_file_names_its_kind(tmp_path, make, sentence):
    path = tmp_path / "file.safetensors"
    make(path)
    with pytest.raises(CheckpointError, match=sentence):
        checkpoint.load(path)


@pytest.mark.parametrize("envelope", [
    [], [[]], "text", 5, {}, {"step": 1, "score": None}, {"step": 1, "score": None, "meta": []},
    {"step": "1", "score": None, "meta": {}}, {"step": 1, "score": "high", "meta": {}}, {"step": -1, "score": 1.5, "meta": {}},
], ids=str)
def test_a_file_with_right_checksums_and_another_content_is_no_checkpoint(tmp_path, envelope):
    path = tmp_path / "step_000000000001.safetensors"
    path.write_bytes(checkpoint_file.encode(TENSORS, envelope))
    for read in (checkpoint.load, checkpoint.read_meta):
        with pytest.raises(CheckpointError, match="a checkpoint without a step, a score and the settings of a run"):
            read(path)


@pytest.mark.parametrize("size", [1, 2**33])
def test_a_file_longer_than_its_tensors_is_refused_before_it_is_read(tmp_path, monkeypatch, size):
    path = checkpoint.save(tmp_path, 1, TENSORS, SMALL, score=None)
    os.truncate(path, path.stat().st_size + size)  # zeros that take no space
    monkeypatch.setattr(safetensors.torch, "load", None)
    for read in (checkpoint_file.read, checkpoint_file.read_envelope):
        with pytest.raises(CheckpointError, match=r"is damaged: it has [\d,]* of [\d,]* bytes$"):
            read(path)


def test_a_checkpoint_that_does_not_fit_into_the_memory_is_one_line(tmp_path, monkeypatch):
    class Large(io.BytesIO):
        def read(self, size=-1):
            if size == -1:
                raise MemoryError
            return super().read(size)
    path = checkpoint.save(tmp_path, 1, TENSORS, SMALL, score=None)
    content, size = path.read_bytes(), path.stat().st_size
    monkeypatch.setattr(checkpoint_file, "open_file", lambda path: Large(content))
    monkeypatch.setattr(checkpoint_file, "_start", lambda file: (content, size))
    with pytest.raises(CheckpointError, match=r"it does not fit into the memory$"):
        checkpoint_file.read(path)


def test_the_error_of_a_header_with_a_newline_is_one_line(tmp_path):
    path = checkpoint.save(tmp_path, 1, TENSORS, SMALL, score=None)
    path.write_bytes(path.read_bytes().replace(b'"F32"', b'"\\n2"'))
    with pytest.raises(CheckpointError, match=r"is damaged: [^\n]*$"):
        checkpoint.load(path)


def test_a_pickle_is_never_run(tmp_path):
    class Bomb:
        def __reduce__(self):
            return (Path.touch, (tmp_path / "it ran",))

    path = tmp_path / "step_000000000001.safetensors"
    path.write_bytes(pickle.dumps(Bomb()))
    with pytest.raises(CheckpointError):
        checkpoint.load(path)
    assert not (tmp_path / "it ran").exists()


def test_a_newer_format_is_refused_with_advice_to_update(tmp_path):
    path = checkpoint.save(tmp_path, 1, TENSORS, CONFIG, score=None)
    ours = checkpoint_file.FORMAT
    rewritten(path, insertcoin=str(ours + 1))
    with pytest.raises(CheckpointError, match=rf"format {ours + 1}.*up to {ours}; update"):
        checkpoint.load(path)
