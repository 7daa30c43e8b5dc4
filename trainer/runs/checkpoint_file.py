"""The bytes of one checkpoint file, and checks for any damage to them.

A file is safetensors with this metadata:

    insertcoin    the number of the format
    checkpoint    one JSON text: step, score, and the `meta` of the caller
    tensors       SHA-256 of the tensors: their names, dtypes, shapes and bytes
    sha256        SHA-256 of the three texts above

`sha256` lets `read_envelope` check the metadata without reading the tensors. Reading parses JSON and copies bytes; it never
runs code. The config in the metadata may name code, which runs only if the user allows it: see trust.py.
"""

import hashlib
import json
import os
from pathlib import Path
from typing import Any, BinaryIO

import safetensors
import safetensors.torch
import torch

from trainer.errors import CheckpointError
from trainer.files import open_file

FORMAT = 3  # raise it if an older trainer cannot read the files any more

_DIGITS = 10                   # of no number of a format
_LONGEST_HEADER = 100_000_000  # bytes, the limit of safetensors
_WHOLE_FILE = 2  # up to this format, `sha256` covers the whole file with zeros in place of the hash itself
_HASH_KEY = b'"sha256":"'  # occurs only once in the header: inside another text the quotes are escaped
_HASH_SIZE = 64
_HEADER_START = b'{"__metadata__":{'
_PICKLES = (b"PK", b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05")


class DamagedError(CheckpointError):
    """A checkpoint of ours, changed since it was written."""


def encode(tensors: dict[str, torch.Tensor], envelope: dict[str, Any]) -> bytes:
    """The bytes of a checkpoint with these tensors and this JSON content."""
    # clone: safetensors refuses tensors with shared memory, and views into a larger one
    plain = {name: one.detach().cpu().clone(memory_format=torch.contiguous_format) for name, one in tensors.items()}
    metadata = {"insertcoin": str(FORMAT), "checkpoint": json.dumps(envelope), "tensors": tensors_digest(plain)}
    return safetensors.torch.save(plain, metadata | {"sha256": _metadata_digest(metadata)})


def read(path: Path) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
    """The tensors and the JSON content of a file; all its bytes are checked.

    Raises DamagedError for a damaged checkpoint, and CheckpointError for any other file.
    """
    try:
        with open_file(path) as file:
            metadata = _metadata(path, *_start(file))  # before the rest, which may be of any size
            file.seek(0)
            data = file.read()
    except OSError as error:
        raise CheckpointError(f"cannot read the checkpoint {path}: {error.strerror}") from None
    except MemoryError:
        raise CheckpointError(f"cannot read the checkpoint {path}: it does not fit into the memory") from None
    _check_metadata(path, metadata, data)
    try:
        tensors = safetensors.torch.load(data)
    except safetensors.SafetensorError as error:
        raise DamagedError(f"{path} is damaged: {' '.join(str(error).split())}") from None
    if _version(metadata) > _WHOLE_FILE and tensors_digest(tensors) != metadata["tensors"]:
        raise _mismatch(path)
    return tensors, _envelope(path, metadata)


def read_envelope(path: Path) -> dict[str, Any]:
    """The JSON content of a file. It is checked, but the tensors are neither read nor checked. Raises as `read`."""
    try:
        with open_file(path) as file:
            start, size = _start(file)
    except OSError as error:
        raise CheckpointError(f"cannot read the checkpoint {path}: {error.strerror}") from None
    metadata = _metadata(path, start, size)
    if _version(metadata) <= _WHOLE_FILE:
        return read(path)[1]
    _check_metadata(path, metadata, start)
    return _envelope(path, metadata)


def _start(file: BinaryIO) -> tuple[bytes, int]:
    """The header of a file with the eight bytes before it, and the size of the file."""
    size = os.fstat(file.fileno()).st_size
    start = file.read(8)
    return start + file.read(min(max(int.from_bytes(start, "little"), len(_HEADER_START)), size, _LONGEST_HEADER)), size


def tensors_digest(tensors: dict[str, torch.Tensor]) -> str:
    """SHA-256 of the names, dtypes, shapes and bytes of tensors, whatever their order, device and layout."""
    digest = hashlib.sha256()
    for name in sorted(tensors):
        tensor = tensors[name].detach().cpu().contiguous()
        digest.update(json.dumps([name, str(tensor.dtype), list(tensor.shape)]).encode())
        digest.update(tensor.reshape(-1).view(torch.uint8).numpy())
    return digest.hexdigest()


def _metadata_digest(metadata: dict[str, str]) -> str:
    texts = [metadata.get(name) for name in ("insertcoin", "checkpoint", "tensors")]
    return hashlib.sha256(json.dumps(texts).encode()).hexdigest()


def _version(metadata: dict[str, str]) -> int:
    """The number of the format; the present one if it is unreadable: the checks then find the damage."""
    text = metadata["insertcoin"]
    return int(text) if text.isdecimal() and len(text) < _DIGITS else FORMAT


def _check_metadata(path: Path, metadata: dict[str, str], data: bytes) -> None:
    """Raises DamagedError if the metadata, or up to format 2 the whole file `data`, does not match its hash."""
    if _version(metadata) > _WHOLE_FILE:
        matches = _metadata_digest(metadata) == metadata["sha256"]
    else:
        start = data.find(_HASH_KEY) + len(_HASH_KEY)
        digest = hashlib.sha256(memoryview(data)[:start])
        digest.update(b"0" * _HASH_SIZE)
        digest.update(memoryview(data)[start + _HASH_SIZE:])
        matches = digest.hexdigest() == metadata["sha256"]
    if not matches:
        raise _mismatch(path)


def _envelope(path: Path, metadata: dict[str, str]) -> dict[str, Any]:
    """The JSON content in the metadata. Raises CheckpointError if this is not the content of a checkpoint."""
    try:
        content = json.loads(metadata["checkpoint"])
        ours = (isinstance(content["meta"], dict) and type(content["step"]) is int and content["step"] >= 0
                and type(content["score"]) in (int, float, type(None)))
    except (ValueError, TypeError, LookupError, RecursionError):
        ours = False
    if not ours:
        raise _not_ours(path, "a checkpoint without a step, a score and the settings of a run")
    return content


def _mismatch(path: Path) -> DamagedError:
    return DamagedError(f"{path} is damaged: its contents do not match its checksum")


def _metadata(path: Path, start: bytes, size: int) -> dict[str, str]:
    """The metadata of a checkpoint of ours, of full size and in a readable format.

    start: the first bytes of the file, at least the header.
    size: bytes of the whole file.
    """
    header, tensors_start = _header(path, start)
    metadata = header.get("__metadata__")
    if not isinstance(metadata, dict) or not {"insertcoin", "checkpoint", "sha256"} <= metadata.keys():
        raise _not_ours(path, "a safetensors file, but no checkpoint of this trainer")
    end = tensors_start + _tensor_bytes(header)
    if size != end:
        raise DamagedError(f"{path} is {'cut short' if size < end else 'damaged'}: it has {size:,} of {end:,} bytes")
    metadata = {name: str(text) for name, text in metadata.items()}
    if _version(metadata) > FORMAT:
        raise CheckpointError(f"{path} has format {metadata['insertcoin']}, and this trainer reads up to {FORMAT}; update it "
                              "to the version that wrote the file")
    return metadata


def _header(path: Path, start: bytes) -> tuple[dict[str, Any], int]:
    """The JSON header of a safetensors file, and the position of its first tensor."""
    if not start:
        raise DamagedError(f"{path} is empty")
    if start[:2] in _PICKLES and not start.startswith(b"{", 8):
        raise _not_ours(path, "a pickle, as torch.save writes it, and not read, since loading one can run any code")
    end = 8 + int.from_bytes(start[:8], "little")
    try:
        header = json.loads(start[8:end]) if end <= len(start) else None
    except (ValueError, RecursionError):
        header = None
    if isinstance(header, dict):
        return header, end
    if path.name.startswith("step_") or path.name == "best.safetensors" or start.startswith(_HEADER_START, 8):
        raise DamagedError(f"{path} is damaged or cut short: its header cannot be read")
    raise _not_ours(path, "no safetensors file")


def _not_ours(path: Path, kind: str) -> CheckpointError:
    return CheckpointError(f"{path} is {kind}; pass a run's folder, or one of the .safetensors files in it")


def _tensor_bytes(header: dict[str, Any]) -> int:
    """The bytes of all tensors; 0 if the header is too damaged."""
    try:
        return min(max(header[name]["data_offsets"][1] for name in header if name != "__metadata__"), 2**63)
    except (ValueError, TypeError, LookupError):
        return 0
