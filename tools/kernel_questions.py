"""Finds questions about kernels outside of trainer/kernels: only trainer/kernels/choose.py decides which version runs.

    python tools/kernel_questions.py

prints a line for each question in trainer/, and returns 1 if there is one. Questions are names that begin with
takes_, `fused`, `is_cuda` and `is_cpu`, `isinstance` and `type` with an encoder, a head, a distribution or an optimizer, and
comparisons of a device's type. Files that ask about the device itself, such as its copies or its streams, are in DEVICES.
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TYPES = {"Encoder", "Mlp", "Conv", "Board", "Pixels", "Cells", "Parts", "Custom", "Transformed", "LinearHeads", "CustomHeads",
         "Discrete", "MultiDiscrete", "Box", "Adam", "Muon"}
KINDS = {"cpu", "cuda"}
DEVICES = {  # a file, and what it asks a device's type for
    "trainer/ranks.py": "the process group of a tensor",
    "trainer/policy/precision.py": "the table of dtypes, and waiting for the device",
    "trainer/self_play/league.py": "whether moves are queued on a stream",
    "trainer/training/overlap.py": "whether a second thread plays",
    "trainer/training/profile.py": "what the profiler records",
}


def questions(text: str, file: str) -> Iterator[tuple[int, str]]:
    """The questions in a source: line and text. file: its path from the root, with slashes."""
    for node in ast.walk(ast.parse(text)):
        name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
        if name.startswith("takes_") or name == "fused":
            yield node.lineno, f"{name} asks what a kernel supports"
        if name in ("is_cuda", "is_cpu") and file not in DEVICES:
            yield node.lineno, f"{name} asks for a tensor's device"
        if isinstance(node, ast.Compare) and file not in DEVICES and _compares_kind(node):
            yield node.lineno, "the type of a device is compared"
        if isinstance(node, ast.Call | ast.Compare) and (asked := _asked_types(node) & TYPES):
            yield node.lineno, f"the type {', '.join(sorted(asked))} is asked for: make it an attribute"


def _compares_kind(node: ast.Compare) -> bool:
    """True for `something.type == "cuda"` and the like."""
    sides = [node.left, *node.comparators]
    return any(isinstance(one, ast.Attribute) and one.attr == "type" for one in sides) and \
        any(isinstance(one, ast.Constant) and one.value in KINDS for one in sides)


def _asked_types(node: ast.Call | ast.Compare) -> set[str]:
    """The names that a call of isinstance, or a comparison with type(x), asks for."""
    if isinstance(node, ast.Call):
        asks, parts = getattr(node.func, "id", "") == "isinstance", node.args[1:]
    else:
        sides = [node.left, *node.comparators]
        asks = any(isinstance(one, ast.Call) and getattr(one.func, "id", "") == "type" for one in sides)
        parts = sides
    if not asks:
        return set()
    return {getattr(one, "id", getattr(one, "attr", "")) for part in parts for one in ast.walk(part)}


def main() -> int:
    """Print the questions of all sources. Returns 1 if there is one."""
    found = [f"{path.relative_to(ROOT).as_posix()}:{line}: {text}" for path in sorted((ROOT / "trainer").rglob("*.py"))
             if not path.is_relative_to(ROOT / "trainer" / "kernels")
             for line, text in questions(path.read_text(encoding="utf-8"), path.relative_to(ROOT).as_posix())]
    for line in found:
        print(f"{line}; trainer/kernels/choose.py picks versions", file=sys.stderr)
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
