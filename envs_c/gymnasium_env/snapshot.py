"""The snapshots of a vector environment: the engine's snapshot, and the stacked frames.

    8 bytes   length of the engine's snapshot, little-endian; with stacked frames, DESCRIBED more
    4 bytes   crc32 of all that follows the engine's snapshot
    rest      the engine's snapshot; with stacked frames also their kind, a line of text, and the frames

Before there were lines of text, the stacked frames followed without one, and the length was the plain one.
"""

import zlib

from envs_c.engine import state
from envs_c.errors import InvalidState
from envs_c.text import shown

HEAD = 12  # bytes
DESCRIBED = 1 << 63


def kind_of(core, frame_stack: int) -> str:
    """The kind of the stacked frames of a VecEnv, as text."""
    shape = " x ".join(map(str, core.observation_shape))
    return "frame_stack=1" if frame_stack == 1 else f"frame_stack={frame_stack} of {shape} {core.observation_dtype}"


def close_snapshot(core: bytes, stack: bytes, kind: str) -> bytes:
    """Make a snapshot from the engine's and the stacked frames, b"" if there are none. kind: from `kind_of`."""
    length = len(core) + (DESCRIBED if stack else 0)
    stack = f"{kind}\n".encode() + stack if stack else b""
    return length.to_bytes(8, "little") + zlib.crc32(stack).to_bytes(4, "little") + core + stack


def open_snapshot(snapshot: bytes, size: int, kind: str, count: int) -> tuple[bytes, bytes]:
    """The engine's snapshot, and the stacked frames.

    size: bytes of the stacked frames of the `count` environments to restore.
    kind: that of these environments, from `kind_of`.
    Raises InvalidState if the bytes are damaged, or have frames of another kind or number.
    """
    if not isinstance(snapshot, bytes):
        raise InvalidState(f"a state must be bytes, not {type(snapshot).__name__}; pass the bytes that get_state returned")
    if snapshot.startswith(state.MAGIC[:-1]):
        raise InvalidState("this state is of a VecEnv, the engine without frame stacks: restore it with env.core.set_state")
    length = int.from_bytes(snapshot[:8], "little")
    end = HEAD + length % DESCRIBED
    stack = snapshot[end:]
    if end > len(snapshot) or zlib.crc32(stack) != int.from_bytes(snapshot[8:HEAD], "little"):
        raise InvalidState(f"this state ({len(snapshot)} bytes) is damaged or incomplete; use another copy")
    if length >= DESCRIBED:
        found, _, stack = stack.partition(b"\n")
        if found != kind.encode():
            raise InvalidState(f"this state has stacked frames of {shown(found.decode(errors='replace'))}; these environments "
                               f"have {kind!r}")
    if len(stack) != size:
        raise InvalidState(f"this state has {len(stack)} bytes of stacked frames; {kind} of {count} environments has {size}")
    return snapshot[HEAD:end], stack
