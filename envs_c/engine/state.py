"""The format of snapshots, the bytes of `get_state` and `set_state`.

    8 bytes   MAGIC; the last of them is the version of the format
    4 bytes   length of the header, little-endian
    header    JSON: game, version, stride, options, count (environments), crc32 (of the rest)
    rest      the environments' memory, `count` times `stride` bytes
"""

import json
import zlib

from envs_c.errors import InvalidState, OtherVersion
from envs_c.text import shown

MAGIC = b"envs_c\x00\x01"
LENGTH = 4  # bytes


def close_state(signature: dict, count: int, raw: bytes) -> bytes:
    """Make a snapshot.

    signature: the kind of the environments: game, version, stride, options.
    count: number of environments.
    raw: their memory.
    """
    text = json.dumps({**signature, "count": count, "crc32": zlib.crc32(raw)}).encode()
    return MAGIC + len(text).to_bytes(LENGTH, "little") + text + raw


def open_state(state: bytes, signature: dict, count: int, defaults: dict) -> bytes:
    """Return the memory of the `count` environments in a snapshot.

    defaults: the game's options with their default values, which hold for options that are newer than the snapshot.

    Raises InvalidState if the bytes are no snapshot, are damaged, or have another signature or count; OtherVersion if that is
    another version of the game.
    """
    if not isinstance(state, bytes) or not state.startswith(MAGIC[:-1]):
        raise InvalidState("this is not a state of envs_c; pass the bytes that get_state returned")
    if state[: len(MAGIC)] != MAGIC:
        raise InvalidState(f"this state has format {state[len(MAGIC) - 1]}; this version of envs_c reads format {MAGIC[-1]}")
    head, raw = _parse(state)
    if isinstance(head.get("options"), dict):
        head["options"] = {**defaults, **head["options"]}
    for key, ours in signature.items():
        if head.get(key) != ours:
            error = OtherVersion if key in ("version", "stride") else InvalidState  # the game is compared before
            raise error(f"this state has {key} {shown(head.get(key))}; these environments have {ours!r}")
    if head["count"] != count:
        raise InvalidState(f"this state holds {shown(head['count'])} environments, not {count}: select them with indices=...")
    return raw


def join_states(states: list[bytes]) -> bytes:
    """Join snapshots of environments of one kind into one snapshot, in their order.

    Raises InvalidState if one of them is damaged or of another kind.
    """
    opened = [_parse(state) for state in states]
    kinds = [_signature(head) for head, _ in opened]
    if any(kind != kinds[0] for kind in kinds):
        raise InvalidState("these states belong to different kinds of environments; join those of one game, version and "
                           "set of options")
    return close_state(kinds[0], sum(head["count"] for head, _ in opened), b"".join(raw for _, raw in opened))


def part_of_state(state: bytes, index: int, count: int) -> bytes:
    """Part `index` of a snapshot, divided into `count` equal parts.

    Raises InvalidState if it is damaged or cannot be divided.
    """
    head, raw = _parse(state)
    if head["count"] % count:
        raise InvalidState(f"this state holds {shown(head['count'])} environments, which cannot be divided into {count} equal "
                           "parts")
    size = len(raw) // count
    return close_state(_signature(head), head["count"] // count, raw[index * size: (index + 1) * size])


def memory_of(state: bytes) -> bytes:
    """The environments' memory in a snapshot. Raises InvalidState if it is damaged."""
    return _parse(state)[1]


def with_memory(state: bytes, raw: bytes) -> bytes:
    """A snapshot of environments of the same kind and number with other memory. Raises InvalidState if `state` is damaged."""
    head, _ = _parse(state)
    return close_state(_signature(head), head["count"], raw)


def _signature(head: dict) -> dict:
    return {key: value for key, value in head.items() if key not in ("count", "crc32")}


def _parse(state: bytes) -> tuple[dict, bytes]:
    """The header of a snapshot, and the environments' memory. Raises InvalidState if the snapshot is damaged."""
    start = len(MAGIC) + LENGTH
    end = start + int.from_bytes(state[len(MAGIC):start], "little")
    try:
        head = json.loads(state[start:end])
        raw = state[end:]
        intact = len(raw) == head["count"] * head["stride"] and zlib.crc32(raw) == head["crc32"]
    except (ValueError, KeyError, TypeError, RecursionError):
        intact = False
    if not intact:
        raise InvalidState(f"this state ({len(state)} bytes) is damaged or incomplete; use another copy")
    return head, raw


def restored(kind, args, settings, state):
    """Environments from a pickle.

    kind: VecEnv or a subclass, whose own `__init__` is not called: its attributes are copied.
    args, settings: of VecEnv, since a subclass's may differ.
    state: the snapshot, or None if they were closed.
    """
    env = kind.__new__(kind)
    env._again(*args, **settings)  # VecEnv's __init__
    if state is None:
        env.close()
    else:
        env.set_state(state)
    return env
