"""Checkpoints: one safetensors file each, that a kill cannot tear and a flipped bit cannot slip through.

The metadata of the file hold one JSON text (step, score, and what the caller passes as `meta`), the number of the
format, and a SHA-256 over every byte of the file, taken with zeros where the hash itself stands. Loading parses JSON
and copies bytes; it never runs code. A run's folder holds the last few checkpoints, named after their step, and
`best.safetensors`.
"""

import hashlib
import json
import math
import re
from pathlib import Path
from typing import Any

import safetensors
import safetensors.torch
import torch

from trainer.errors import CheckpointError
from trainer.files import remove_leftovers, write_atomically

BEST = "best.safetensors"
FORMAT = 2  # raise it when an older trainer could no longer read what this one writes

_NAME = re.compile(r"step_(\d{12,})\.safetensors")
_HASH_KEY = b'"sha256":"'  # cannot occur inside another text of the header: there, quotes are escaped
_NO_HASH = "0" * 64
_HEADER_START = b'{"__metadata__":{'


def save(folder: Path, step: int, tensors: dict[str, torch.Tensor], meta: dict[str, Any], *, score: float | None,
         keep: int = 3) -> Path:
    """Write the checkpoint of `step` into `folder`, as `best.safetensors` too if `score` is a record; keep the last.

    tensors: of any device, dtype and layout; they come back on the CPU, contiguous, with equal bits.
    meta: anything that JSON can hold; tuples come back as lists.
    score: higher is better; None or NaN is never a record.
    keep: how many checkpoints stay, the best one not counted; 1 or more.

    Checkpoints of later steps are removed: they belong to a future that was given up when an older one was resumed.
    Raises CheckpointError when the file cannot be written, or when `best.safetensors` is damaged.
    """
    if score is not None and math.isnan(score):
        score = None
    chunks = _encode(tensors, {"step": step, "score": score, "meta": meta})
    path = folder / f"step_{step:012d}.safetensors"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        remove_leftovers(folder)
        try:
            best = best_score(folder)
            if score is not None and (best is None or score > best):
                write_atomically(folder / BEST, chunks)
        finally:  # last: the resumed run would not save this step again, so a kill before its record was kept loses it
            write_atomically(path, chunks)
        steps = _by_step(folder)
        kept = [at for at in steps if at <= step][:keep]
        for at in steps.keys() - kept:
            steps[at].unlink()
    except OSError as error:
        raise CheckpointError(f"cannot write the checkpoint {path}: {error.strerror or error}") from error
    return path


def load(path: Path) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
    """The tensors and the `meta` of a checkpoint, every byte of it checked.

    Raises CheckpointError when the file is missing, empty, damaged, cut short, foreign or of a newer format.
    """
    envelope, data = _verified(path)
    try:
        return safetensors.torch.load(data), envelope["meta"]
    except safetensors.SafetensorError as error:
        raise CheckpointError(f"{path} is no valid safetensors file: {error}") from None


def read_meta(path: Path) -> dict[str, Any]:
    """The `meta` of a checkpoint alone, checked like `load` and with the same errors."""
    return _verified(path)[0]["meta"]


def latest(run: str | Path) -> Path:
    """The newest checkpoint of a run's folder; a path to a file is that file. Does not open it.

    Raises CheckpointError when there is none.
    """
    run = Path(run)
    if run.is_file():
        return run
    if not run.is_dir():
        raise CheckpointError(f"there is no run at {run}; pass a run's folder, or one of its checkpoints")
    steps = _by_step(run)
    if steps:
        return next(iter(steps.values()))
    best = f"; to go on from the best one, pass {run / BEST}" if (run / BEST).is_file() else ""
    raise CheckpointError(f"{run} has no checkpoint (step_....safetensors){best}")


def best_score(folder: Path) -> float | None:
    """The score of `best.safetensors`, None where there is none. Raises CheckpointError when it is damaged."""
    path = folder / BEST
    try:
        return _decode(path)[0]["score"] if path.exists() else None
    except _DamagedError as error:
        raise CheckpointError(f"{error}; move it away, and go on with --resume {folder}") from None


def _by_step(folder: Path) -> dict[int, Path]:
    """The checkpoints of a folder by step, newest first."""
    named = ((_NAME.fullmatch(path.name), path) for path in folder.iterdir())
    return dict(sorted(((int(match[1]), path) for match, path in named if match), reverse=True))


def _encode(tensors: dict[str, torch.Tensor], envelope: dict[str, Any]) -> tuple[memoryview, bytes, memoryview]:
    """The bytes of a checkpoint in three pieces: before the hash, the hash, after it."""
    # clone: safetensors refuses tensors that share memory, and views into a larger one
    plain = {name: one.detach().cpu().clone(memory_format=torch.contiguous_format) for name, one in tensors.items()}
    metadata = {"insertcoin": str(FORMAT), "checkpoint": json.dumps(envelope), "sha256": _NO_HASH}
    data = safetensors.torch.save(plain, metadata)
    start = data.index(_HASH_KEY) + len(_HASH_KEY)
    before, after = memoryview(data)[:start], memoryview(data)[start + len(_NO_HASH):]
    return before, _digest(before, after).encode(), after


def _digest(before: memoryview, after: memoryview) -> str:
    """SHA-256 of a file whose hash, standing between these two pieces, is taken as zeros."""
    digest = hashlib.sha256(before)
    digest.update(_NO_HASH.encode())
    digest.update(after)
    return digest.hexdigest()


def _verified(path: Path) -> tuple[dict[str, Any], bytes]:
    """What JSON a checkpoint holds, and its bytes. The error for a damaged one names another that is whole."""
    try:
        return _decode(path)
    except _DamagedError as error:
        for other in [*_by_step(path.parent).values(), path.parent / BEST]:
            if other != path and _is_whole(other):
                raise CheckpointError(f"{error}; {other} is whole: pass it instead to go on from there") from None
        raise CheckpointError(f"{error}; {path.parent} holds no other checkpoint that is whole") from None


class _DamagedError(CheckpointError):
    """A checkpoint that is no longer as it was written."""


def _is_whole(path: Path) -> bool:
    try:
        _decode(path)
    except CheckpointError:
        return False
    return True


def _decode(path: Path) -> tuple[dict[str, Any], bytes]:
    """Read and check a file. Raises _DamagedError for what was ours once, CheckpointError for what never was."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise CheckpointError(f"cannot read the checkpoint {path}: {error.strerror}") from None
    header, data_start = _header(path, data)
    metadata = header.get("__metadata__")
    if not isinstance(metadata, dict) or not {"insertcoin", "checkpoint", "sha256"} <= metadata.keys():
        raise _stranger(path, "a safetensors file, but no checkpoint of this trainer")
    written_in = str(metadata["insertcoin"])
    if written_in.isdecimal() and int(written_in) > FORMAT:
        raise CheckpointError(f"{path} has format {written_in}, and this trainer reads up to {FORMAT}; update it to "
                              "the version that wrote the file")
    start = data.find(_HASH_KEY) + len(_HASH_KEY)
    view = memoryview(data)
    if _digest(view[:start], view[start + len(_NO_HASH):]) != metadata["sha256"]:
        end = data_start + _tensor_bytes(header)
        if len(data) < end:
            raise _DamagedError(f"{path} is cut short: {len(data):,} of {end:,} bytes are there")
        raise _DamagedError(f"{path} is damaged: its contents do not match its checksum")
    return json.loads(metadata["checkpoint"]), data


def _header(path: Path, data: bytes) -> tuple[dict[str, Any], int]:
    """The JSON header of a safetensors file, and where its tensors start."""
    if not data:
        raise _DamagedError(f"{path} is empty")
    if data[:2] in (b"PK", b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05") and not data.startswith(b"{", 8):
        raise _stranger(path, "a pickle, as torch.save writes it, and not read, since loading one can run any code")
    end = 8 + int.from_bytes(data[:8], "little")
    try:
        header = json.loads(data[8:end]) if end <= len(data) else None
    except (ValueError, RecursionError):
        header = None
    if isinstance(header, dict):
        return header, end
    if _NAME.fullmatch(path.name) or path.name == BEST or data.startswith(_HEADER_START, 8):
        raise _DamagedError(f"{path} is damaged or cut short: its header cannot be read")
    raise _stranger(path, "no safetensors file")


def _stranger(path: Path, what: str) -> CheckpointError:
    return CheckpointError(f"{path} is {what}; pass a run's folder, or one of the .safetensors files in it")


def _tensor_bytes(header: dict[str, Any]) -> int:
    """Bytes that the tensors of a header take, 0 where the header is too damaged to tell."""
    try:
        return max(header[name]["data_offsets"][1] for name in header if name != "__metadata__")
    except (ValueError, TypeError, LookupError):
        return 0
