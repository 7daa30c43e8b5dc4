"""The memory of a captured graph on the test device: each replay must use the memory of the capture, and all of it must still
be allocated.

A CUDA graph holds addresses. A replay calls no Python: it reads and writes the same addresses again, even if their memory was
freed. The test device runs the Python of the work at each replay instead, and would not notice. So it records the memory that
each graph uses: of the arguments of torch's operations (backward passes too), of the compiled kernels, and
of copies between host and device. The first replay, directly after the capture, stands for the capture. Memory that the work
itself allocates belongs to the graph's own pool and is not recorded; the work must not keep it, since the next replay on the
test device allocates anew.
"""

import contextlib
import threading
import weakref
from collections.abc import Callable

import numpy as np
import torch
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from trainer.kernels.actions import cpu as actions
from trainer.kernels.heads import tiled as heads_tiled
from trainer.kernels.lstm import cpu as lstm
from trainer.kernels.lstm import tiled as lstm_tiled
from trainer.kernels.mingru import cpu as mingru
from trainer.kernels.rollout import cpu as rollout

KERNELS = {
    actions: ("sample", "categorical", "categorical_backward", "gaussian", "gaussian_sample", "gaussian_backward"),
    lstm: ("lstm_forward", "lstm_backward", "lstm_sequence", "lstm_sequence_backward"),
    lstm_tiled: ("pack", "lstm_step", "lstm_sequence", "lstm_sequence_backward"),
    heads_tiled: ("heads", "heads_backward"),
    mingru: ("mingru", "mingru_backward"),
    rollout: ("advantages", "stack_frames"),
}

Record = dict[tuple, tuple[Callable[[], bool], str]]

_thread = threading.local()  # `replay`: the Replay that runs in this thread


class MemoryFault(RuntimeError):
    """A replay used memory that a CUDA graph would not have used, or memory that was freed after the capture."""


class GraphMemory:
    """The memory of one graph outside its own pool.

    recorded: by identity, whether it is still allocated (a function) and its first use as a text; None before the first replay.
    """

    def __init__(self):
        self.recorded: Record | None = None

    def holds(self, memory: torch.Tensor | np.ndarray) -> bool:
        """True if the graph uses the memory of this tensor or this array of the host."""
        return identity(memory)[0] in self.recorded

    @contextlib.contextmanager
    def replay(self):
        """Record the memory used in this context, by this thread. Raises MemoryFault, the later times."""
        for alive, use in (self.recorded or {}).values():
            if not alive():
                raise MemoryFault(f"a graph's replay uses memory that was freed after its capture: {use}")
        replay = _thread.replay = Replay(self.recorded)
        try:
            with replay:
                yield
        finally:
            _thread.replay = None
        if self.recorded is None:
            self.recorded = replay.outside


def identity(memory: torch.Tensor | np.ndarray) -> tuple[tuple, Callable[[], bool]]:
    """The identity of a piece of memory with its address, and a function: whether it is still allocated."""
    if isinstance(memory, torch.Tensor):
        storage = memory.untyped_storage()
        reference = StorageWeakRef(storage)
        return (reference.cdata, storage.data_ptr()), lambda: not reference.expired()
    while isinstance(memory.base, np.ndarray):
        memory = memory.base
    owner = weakref.ref(memory)
    return ("host", memory.ctypes.data), lambda: owner() is not None


class Replay(TorchDispatchMode):
    """One replay.

    allowed: the graph's recorded memory; None for any memory, at the first replay.
    """

    def __init__(self, allowed: Record | None):
        super().__init__()
        self.allowed = allowed
        self.outside: Record = {}             # memory that is older than this replay
        self.own: set[int] = set()            # memory that this replay allocated
        self.kept: list[StorageWeakRef] = []  # they keep identities from being used twice

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        given = [leaf for leaf in tree_leaves((args, kwargs or {})) if isinstance(leaf, torch.Tensor)]
        if operation is torch.ops.aten.lift_fresh.default:  # torch.tensor(...) in the work
            self.allocated(given)
        for tensor in given:
            self.uses(tensor, str(operation))
        result = operation(*args, **(kwargs or {}))
        self.allocated(tensor for tensor in tree_leaves(result) if isinstance(tensor, torch.Tensor))
        return result

    def uses(self, memory: torch.Tensor | np.ndarray, what: str):
        """Record that the operation `what` reads or writes this tensor or this array of the host."""
        key, alive = identity(memory)
        if key[0] in self.own or key in self.outside:
            return
        use = f"{what} of {tuple(memory.shape)} {memory.dtype}"
        if self.allowed is not None and key not in self.allowed:
            raise MemoryFault(f"a graph's replay uses other memory than its capture: {use}")
        self.outside[key] = alive, use

    def allocated(self, results):
        """Record the memory of these tensors as the graph's own, unless it was used before."""
        outside = {key[0] for key in self.outside}
        for tensor in results:
            reference = StorageWeakRef(tensor.untyped_storage())
            if reference.cdata not in outside and reference.cdata not in self.own:
                self.own.add(reference.cdata)
                self.kept.append(reference)


def used(memory: torch.Tensor | np.ndarray, what: str):
    """Record a use by this thread's replay, if there is one."""
    replay = getattr(_thread, "replay", None)
    if replay is not None:
        replay.uses(memory, what)


def watch_kernels(monkeypatch):
    """Record the arguments of the CPU's kernels, which are no operations of torch."""
    def watched(name, kernel):
        def call(*arguments):
            for tensor in arguments:
                if isinstance(tensor, torch.Tensor):
                    used(tensor, name)
            kernel(*arguments)
        return call
    for module, names in KERNELS.items():
        for name in names:
            monkeypatch.setattr(module, name, watched(name, getattr(module, name)))
