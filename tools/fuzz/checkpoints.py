"""Checkpoint files with changed bytes; with changed settings, tensors and headers and right checksums; and their verbs.

A file with a wrong checksum is never accepted. Any other is loaded, or refused by an error of one line.
"""

import json
import os
import sys
from random import Random

import torch

from tools.fuzz.case import Box, Fault
from tools.fuzz.lines import TINY, line, make_run
from tools.fuzz.values import changed, damaged, deep
from trainer.errors import TrainerError
from trainer.policy.load import load_policy
from trainer.runs import checkpoint, checkpoint_file

DTYPES = [torch.float64, torch.float16, torch.int64, torch.uint8, torch.bool, torch.float32]
BAIT = "import pathlib\npathlib.Path(__file__).with_name('ran.txt').touch()\nclass Bait: pass\n"  # code of a stranger


def setup(box: Box) -> None:
    """Train a tiny run, and read its checkpoint."""
    os.chdir(box.folder)
    sys.path.append(str(box.folder))
    for name in ("bait.py", "bait.pyx"):
        (box.folder / name).write_text(BAIT, encoding="utf-8")
    make_run(box.folder / "runs" / "one")
    box.path = next((box.folder / "runs" / "one").glob("step_*.safetensors"))
    box.data = box.path.read_bytes()
    box.tensors, box.envelope = checkpoint_file.read(box.path)


def case(rng: Random, box: Box) -> None:
    """Change the checkpoint, and use it."""
    if rng.random() < 0.5:
        data, sound = damaged(rng, box.data), False
    else:
        data, sound = crafted(rng, box), True
    box.path.write_bytes(data)
    try:
        use(rng, box, sound or data == box.data)
    finally:
        box.path.write_bytes(box.data)


def use(rng: Random, box: Box, sound: bool) -> None:
    """Read the file in one of the ways of the trainer. sound: it has right checksums."""
    way = rng.choices(["load", "meta", "policy", "eval", "export", "resume"], [6, 3, 4, 0.5, 0.3, 0.5])[0]
    if way in ("load", "meta", "policy"):
        reader = {"load": checkpoint.load, "meta": checkpoint.read_meta, "policy": load_policy}[way]
        result = box.attempt(lambda: own(lambda: reader(box.path)), (TrainerError,))
        if result is not None and not sound and way != "meta":
            raise Fault("a damaged checkpoint was accepted")
        return
    words = {"eval": ["eval", str(box.path), "--episodes=1", "--device=cpu"],
             "export": ["export", str(box.path), "--format=safetensors", "--out=policy.safetensors"],
             "resume": ["--resume", str(box.path), *TINY[-7:]]}[way]
    code = line(words, box)
    box.tidy()
    if code == 0 and not sound:
        raise Fault(f"a damaged checkpoint was accepted: {words}")


def own(call):
    """The result of `call()`; an error must have one line."""
    try:
        return call()
    except TrainerError as error:
        if len(str(error).splitlines()) != 1:
            raise Fault(f"an error must be one line: {str(error)[:400]!r}") from None
        raise


def crafted(rng: Random, box: Box) -> bytes:
    """The bytes of a checkpoint with other settings, tensors or headers, and right checksums."""
    kind = rng.randrange(4)
    if kind == 0:
        return with_header(rng, box.data)
    tensors, envelope = dict(box.tensors), dict(box.envelope)
    if kind == 1:
        envelope = with_envelope(rng, envelope)
    elif kind == 2:
        envelope["meta"] = changed(rng, envelope["meta"]) if rng.random() < 0.3 else envelope["meta"]
        tensors = with_tensors(rng, tensors)
    else:
        tensors, envelope = with_tensors(rng, tensors), with_envelope(rng, envelope)
    return checkpoint_file.encode(tensors, envelope)


def with_envelope(rng: Random, envelope: dict):
    """The JSON content with changed settings, or with anything changed."""
    content = json.loads(json.dumps(envelope))
    if rng.random() < 0.1:
        section, name = rng.choice([("policy", "encoder"), ("policy", "memory"), ("run", "track")])
        content["meta"]["config"][section][name] = "bait:Bait"
        content["meta"]["config"]["game"] = rng.choice(["cartpole", "bait.pyx", "gym:bait:Bait-v0"])
        return content
    if rng.random() < 0.7:
        section = rng.choice(["env", "policy", "ppo", "run", "self_play"])
        content["meta"]["config"][section] = changed(rng, content["meta"]["config"][section])
        return content
    return deep(rng) if rng.random() < 0.05 else changed(rng, content)


def with_tensors(rng: Random, tensors: dict) -> dict:
    """The tensors with some removed, added, renamed, of another shape or dtype, or not finite."""
    for _ in range(rng.choice([1, 1, 3])):
        name = rng.choice(list(tensors))
        tensor, kind = tensors[name], rng.randrange(6)
        if kind == 0:
            del tensors[name]
        elif kind == 1:
            tensors[rng.choice(["", "x", f"{name}.x", "policy.x", "__metadata", "é"])] = tensor
        elif kind == 2:
            tensors[name] = tensor.to(rng.choice(DTYPES))
        elif kind == 3:
            shape = rng.choice([(), (0,), (1,), (2, 3), (*tensor.shape, 1), tensor.shape[::-1]])
            tensors[name] = torch.zeros(shape, dtype=tensor.dtype)
        elif kind == 4 and tensor.is_floating_point():
            tensors[name] = torch.full_like(tensor, rng.choice([float("nan"), float("inf"), 1e38, -1e38]))
        elif tensor.numel():
            noise = torch.frombuffer(bytearray(rng.randbytes(tensor.nbytes)), dtype=tensor.dtype)
            tensors[name] = noise.reshape(tensor.shape)
        if not tensors:
            return tensors
    return tensors


def with_header(rng: Random, data: bytes) -> bytes:
    """The file with a changed JSON header of its tensors; the metadata and their checksum stay right."""
    end = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:end])
    metadata = header.pop("__metadata__")
    header = changed(rng, header)
    text = json.dumps({"__metadata__": metadata, **header} if isinstance(header, dict) else header).encode()
    size = len(text) if rng.random() < 0.9 else rng.choice([0, 1, 2**31, 2**63, 2**64 - 1])
    return size.to_bytes(8, "little") + text + data[end:]
