"""The snapshots of a vector environment: the engine's snapshot, and the stacked frames.

    8 bytes   length of the engine's snapshot, little-endian
    4 bytes   crc32 of the stacked frames
    rest      the engine's snapshot, then the stacked frames; none for frame_stack=1
"""

import zlib

from envs_c.engine import state
from envs_c.errors import InvalidState

HEAD = 12  # bytes


def close_snapshot(core: bytes, stack: bytes) -> bytes:
    """Make a snapshot from the engine's and the stacked frames."""
    return len(core).to_bytes(8, "little") + zlib.crc32(stack).to_bytes(4, "little") + core + stack


def open_snapshot(snapshot: bytes, size: int, frame_stack: int, count: int) -> tuple[bytes, bytes]:
    """The engine's snapshot, and the stacked frames.

    size: bytes of the stacked frames of the `count` environments to restore.
    Raises InvalidState if the bytes are damaged or have another number of frames.
    """
    if not isinstance(snapshot, bytes):
        raise InvalidState(f"a state must be bytes, not {type(snapshot).__name__}; pass the bytes that get_state returned")
    if snapshot.startswith(state.MAGIC[:-1]):
        raise InvalidState("this state is of a VecEnv, the engine without frame stacks: restore it with env.core.set_state")
    end = HEAD + int.from_bytes(snapshot[:8], "little")
    stack = snapshot[end:]
    if end > len(snapshot) or zlib.crc32(stack) != int.from_bytes(snapshot[8:HEAD], "little"):
        raise InvalidState(f"this state ({len(snapshot)} bytes) is damaged or incomplete; use another copy")
    if len(stack) != size:
        raise InvalidState(f"this state has {len(stack)} bytes of stacked frames; frame_stack={frame_stack} "
                           f"of {count} environments has {size}")
    return snapshot[HEAD:end], stack
