"""Copies from global to shared memory that run beside the kernel (`cp.async`), and `ldmatrix`.

A copy reads at once and writes when its thread waits for it. Until then its bytes in shared memory count as never written.
"""

import numpy as np

from ptx.decoder import Decoder, family, unknown
from ptx.instructions.access import address_of, aligned, cells, parts, read, write
from ptx.parser import Instruction
from ptx.races import WRITE
from ptx.threads import WARP


@family("cp")
def copy_async(decoder: Decoder, instruction: Instruction):
    """cp.async, cp.async.commit_group, cp.async.wait_group N and cp.async.wait_all."""
    found = instruction.opcode[1:]
    if found == ["async", "commit_group"]:
        return commit
    if found == ["async", "wait_all"]:
        return lambda frame: finish(frame, instruction, frame.groups[frame.active()] + 1)
    if found == ["async", "wait_group"]:
        left = int(instruction.operands[0])
        return lambda frame: finish(frame, instruction, frame.groups[frame.active()] - left)
    if found[:1] != ["async"] or found[1] not in ("ca", "cg") or found[2:4] != ["shared", "global"] or found[4:] not in (
            [], ["L2:128B"], ["L2:64B"], ["L2:256B"]):
        raise unknown(instruction)
    to, of = (address_of(decoder, instruction, operand) for operand in instruction.operands[:2])
    size = int(instruction.operands[2], 0)
    if size not in (4, 8, 16):
        raise unknown(instruction)
    limit = decoder.source(instruction, instruction.operands[3], "u32") if len(instruction.operands) > 3 else None

    def step(frame):
        source, place = frame.spread(of(frame)), frame.spread(to(frame))
        threads = frame.active()
        for address in (source, place):
            aligned(frame, instruction, address, size)
        kept = np.full(len(threads), size) if limit is None else frame.spread(limit(frame)).astype(int)
        data = np.zeros((size // 4, len(threads)), np.uint32)  # bytes from `limit` on become zeros
        for k in range(size // 4):
            some = np.flatnonzero(kept > 4 * k)
            with_some = frame.narrowed(threads[some])
            if len(some):
                data[k, some] = read(with_some, instruction, "global", source[some] + np.uint64(4 * k), 4)
            forget(frame, instruction, place + np.uint64(4 * k))
        frame.copies.append((threads, place, data, frame.groups[threads]))
    return step


def forget(frame, instruction: Instruction, address: np.ndarray):
    """Record that a copy can write 4 bytes of shared memory for each active thread from now on: they count as never written."""
    for memory, threads, _, here in parts(frame, instruction, "shared", address):
        for allocation, _, phase, index in cells(frame, memory, threads, here, 4, WRITE):
            for byte in range(4):
                allocation.written[index * 4 + phase + byte] = False


def commit(frame):
    """End the group of the active threads' copies so far."""
    frame.groups[frame.active()] += 1


def finish(frame, instruction: Instruction, before: np.ndarray):
    """Write the active threads' copies of the groups below `before`."""
    limit = np.full(frame.threads.count, -1)
    limit[frame.active()] = before
    copies, frame.copies = frame.copies, []
    for threads, place, data, group in copies:
        done = group < limit[threads]
        if done.any():
            mine = frame.narrowed(threads[done])
            for k, words in enumerate(data):
                write(mine, instruction, "shared", place[done] + np.uint64(4 * k), words[done])
        if not done.all():
            frame.copies.append((threads[~done], place[~done], data[:, ~done], group[~done]))


@family("ldmatrix")
def load_matrix(decoder: Decoder, instruction: Instruction):
    """Loads 1, 2 or 4 matrices of 8x8 16-bit elements. Thread 8 m + r of a warp has the address of row r of matrix m; thread l
    gets two neighbours of row l // 4, or with `trans` of column l // 4."""
    found = instruction.opcode[1:]
    count = {"x1": 1, "x2": 2, "x4": 4}.get(found[3] if len(found) > 3 else "")
    transposed = "trans" in found
    rest = ["trans"] * transposed
    if count is None or found != ["sync", "aligned", "m8n8", found[3], *rest, found[-2], "b16"] or found[-2] not in (
            "shared", "shared:cta"):
        raise unknown(instruction)
    targets = [decoder.target(instruction, name, "b32") for name in instruction.operands[0][1]]
    address = address_of(decoder, instruction, instruction.operands[1])

    def step(frame):
        threads = frame.active()
        rows = frame.spread(address(frame)).reshape(-1, WARP)[:, :8 * count]
        readers = frame.narrowed(threads.reshape(-1, WARP)[:, :8 * count].reshape(-1))
        aligned(readers, instruction, rows.reshape(-1), 16)
        words = [read(readers, instruction, "shared", rows.reshape(-1) + np.uint64(4 * k), 4) for k in range(4)]
        matrices = np.stack(words, axis=-1).view(np.uint16).reshape(-1, count, 8, 8)
        if transposed:
            matrices = np.ascontiguousarray(matrices.swapaxes(2, 3))
        pairs = matrices.view(np.uint32).reshape(-1, count, WARP)
        for k, target in enumerate(targets):
            target(frame, pairs[:, k].reshape(-1))
    return step
