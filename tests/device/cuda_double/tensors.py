"""Tensors on the device, and the dispatch mode that does torch's operations on them.

A DeviceTensor has a tensor of the host in the device's memory, `inner`, and keeps its allocation. Each aten operation on
device tensors is queued as one kernel, except for views, allocations and copies between host and device. A GPU may need
several kernels for one operation, such as a large sum.
"""

from typing import NamedTuple

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_leaves, tree_map, tree_unflatten

from cuda_double.machine import Machine, Region, Work
from cuda_double.memory import Allocation, Owner
from cuda_double.schema import Schema, is_allocation, schema_of, waits_for_device

aten = torch.ops.aten
DEVICE = torch.device("cuda", 0)
PRODUCTS = (aten.mm, aten.bmm, aten.addmm, aten.baddbmm, aten._addmm_activation)
ON_DEVICE = ("cuda", "meta")  # C++ takes a device tensor for one on "meta", since torch is built without CUDA


class DeviceTensor(torch.Tensor):
    """A tensor on the device."""

    __torch_function__ = torch._C._disabled_torch_function_impl
    device = property(lambda self: DEVICE)
    is_cuda = property(lambda self: True)
    is_meta = property(lambda self: False)

    @staticmethod
    def __new__(cls, inner: torch.Tensor, owner: "Owner | Shared", mode: "DeviceMode"):
        return torch.Tensor._make_wrapper_subclass(cls, inner.shape, strides=inner.stride(), dtype=inner.dtype, device="meta")

    def __init__(self, inner: torch.Tensor, owner: "Owner | Shared", mode: "DeviceMode"):
        self.inner, self.owner, self.mode = inner, owner, mode

    def __repr__(self):
        return f"DeviceTensor({self.inner})"

    def data_ptr(self):
        return self.inner.data_ptr()

    def tolist(self):
        return self.cpu().tolist()

    def to(self, *args, **kwargs):
        """Does nothing if the tensor is on the device already, as everywhere in torch."""
        given = [*args, *kwargs.values()]
        there = [torch.device(one).type in ON_DEVICE for one in given if isinstance(one, str | torch.device)]
        types = [one for one in given if isinstance(one, torch.dtype)]
        return self if there == [True] and types in ([], [self.dtype]) else super().to(*args, **kwargs)

    @property
    def region(self) -> Region:
        return Region(self.inner, self.owner.allocation)

    @classmethod
    def __torch_dispatch__(cls, operation, types, args=(), kwargs=None):
        mode = next(one.mode for one in tree_leaves((args, kwargs)) if isinstance(one, DeviceTensor))
        return mode.dispatch(operation, args, kwargs or {})


class Shared(NamedTuple):
    """In place of the owner of a tensor: its page-locked memory, which `data` keeps."""

    allocation: Allocation
    data: object


class DeviceMode(TorchDispatchMode):
    """Operations on the device's tensors go to the machine; those on the host's tensors are left alone."""

    def __init__(self, machine: Machine):
        super().__init__()
        self.machine = machine

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        return self.dispatch(operation, args, kwargs or {})

    def dispatch(self, operation, args, kwargs):
        leaves, form = tree_flatten((args, kwargs))
        mine = [leaf for leaf in leaves if isinstance(leaf, DeviceTensor)]
        target = kwargs.get("device")
        placed = None if target is None else torch.device(target).type in ON_DEVICE
        if (not mine and not placed) or operation.namespace == "profiler":
            return operation(*args, **kwargs)
        schema = schema_of(operation)
        if operation is aten._to_copy.default and placed is not None and placed != bool(mine):
            return self._to_other_side(args[0], placed, kwargs)
        if operation is aten.copy_.default and not all(isinstance(one, DeviceTensor) for one in args[:2]):
            return self._copy_between(*args[:2])
        self._check_devices(operation, leaves)
        if operation.namespace == "c10d":
            return self._join(operation, form, leaves, mine)
        if waits_for_device(operation, args):
            return self._wait_and_run(operation, form, leaves, mine)
        if schema.is_view:
            return self._view(operation, form, leaves, mine)
        if schema.mutated:
            return self._mutate(operation, schema, form, leaves, args, kwargs)
        return self._compute(operation, form, leaves, mine)

    # Kinds of operations

    def _view(self, operation, form, leaves, mine):
        """No kernel: the result shares the memory of an argument."""
        result = call(operation, form, map(inner_of, leaves))
        owner = mine[0].owner
        return tree_map(lambda one: DeviceTensor(one, owner, self) if isinstance(one, torch.Tensor) else one, result)

    def _mutate(self, operation, schema: Schema, form, leaves, args, kwargs):
        """A kernel that writes to arguments."""
        written = [one for one in tree_leaves(schema.mutated_of(args, kwargs)) if isinstance(one, DeviceTensor)]
        reads = [one.region for one in leaves if isinstance(one, DeviceTensor) and not any(one is other for other in written)]
        inner = [inner_of(leaf) for leaf in leaves]
        self.machine.queue(Work(name_of(operation), run=lambda *_: call(operation, form, inner), reads=reads,
                                writes=[one.region for one in written], facts=flops(operation, args)))
        return written[0] if operation._schema.returns else None

    def _compute(self, operation, form, leaves, mine):
        """A kernel whose results are new memory."""
        capturing = self.machine.stream.graph is not None
        inner = [inner_of(leaf) for leaf in leaves]
        if capturing or is_allocation(operation):  # only the results' forms are needed
            results = call(operation, form, [on_meta(one) for one in inner])
        else:
            results = call(operation, form, inner)
        flat, result_form = tree_flatten(results)
        made = [self.new(one, name_of(operation)) if isinstance(one, torch.Tensor) else one for one in flat]
        if not is_allocation(operation):
            tensors = [(one.inner, result) for one, result in zip(made, flat, strict=True) if isinstance(one, DeviceTensor)]

            def run(*_):
                again = tree_leaves(call(operation, form, inner)) if capturing else flat
                for (to, _), result in zip(tensors, (one for one in again if isinstance(one, torch.Tensor)), strict=True):
                    host_copy(to, result)
            self.machine.queue(Work(name_of(operation), run=run, reads=[one.region for one in mine],
                                    writes=[one.region for one in made if isinstance(one, DeviceTensor)],
                                    facts=flops(operation, tree_unflatten(inner, form)[0])))
        return tree_unflatten(made, result_form)

    def _wait_and_run(self, operation, form, leaves, mine):
        """An operation whose result the host needs to go on: a kernel and a wait."""
        name = name_of(operation)
        self.machine.refuse_in_capture(self.machine.stream, name)
        result = call(operation, form, map(inner_of, leaves))
        size = sum(one.numel() * one.element_size() for one in mine) if not isinstance(result, torch.Tensor) else 8
        self.machine.queue(Work(name, "copy", reads=[one.region for one in mine],
                                facts={"bytes": size, "direction": "to host"}))
        self.machine.synchronize_stream(self.machine.stream, name)
        return tree_map(lambda one: self._filled(one, name) if isinstance(one, torch.Tensor) else one, result)

    def _join(self, operation, form, leaves, mine):
        """A collective call of several ranks: a kernel, which the host does not wait for."""
        name = operation._schema.name
        self.machine.refuse_in_capture(self.machine.stream, name)
        result = call(operation, form, map(inner_of, leaves))
        self.machine.queue(Work(name, writes=[one.region for one in mine]))
        return tree_map(lambda one: next((own for own in mine if own.inner is one), one), result)

    # Copies between host and device

    def _to_other_side(self, source, to_device: bool, kwargs):
        if to_device:
            made = self.new(host_call(aten._to_copy.default, source, dtype=kwargs.get("dtype")), "a copy of a host's tensor")
            self._transfer("to device", made, source, made.inner)
            return made
        result = torch.empty_like(source.inner, dtype=kwargs.get("dtype") or source.dtype)
        self._transfer("to host", source, source.inner, result)
        return result

    def _copy_between(self, to, source):
        if isinstance(to, DeviceTensor):
            if source.ndim == 0:  # a number of the host: an argument of the kernel
                value = source.item()
                return self.dispatch(aten.fill_.Scalar, (to, value), {})
            self._transfer("to device", to, source, to.inner)
        else:
            self._transfer("to host", source, source.inner, to)
        return to

    def _transfer(self, direction: str, on_device: DeviceTensor, source: torch.Tensor, to: torch.Tensor):
        """A copy of pageable memory, for which torch waits."""
        machine = self.machine
        machine.refuse_in_capture(machine.stream, f"a copy {direction} of memory that is not page-locked")
        regions = {"writes" if direction == "to device" else "reads": [on_device.region]}
        machine.queue(Work(f"copy {direction}", "copy", run=lambda *_: host_copy(to, source), **regions,
                           facts={"bytes": to.numel() * to.element_size(), "direction": direction}))
        machine.synchronize_stream(machine.stream, f"copy {direction}")

    # Memory

    def new(self, like: torch.Tensor, asked: str) -> DeviceTensor:
        """A device tensor of the form of a tensor; its memory is not written."""
        machine, stream = self.machine, self.machine.stream
        with machine.lock:
            size = 1 + sum((length - 1) * step for length, step in zip(like.shape, like.stride(), strict=True))
            pool = None if stream.graph is None else stream.graph.number
            try:
                owner = machine.device.allocate(max(size, 0) * like.element_size(), stream.number, pool, asked)
            except MemoryError as error:
                raise torch.OutOfMemoryError(f"CUDA out of memory: {error}") from None
            inner = machine.device.tensor(owner.allocation.offset, like.shape, like.stride(), like.dtype)
        return DeviceTensor(inner, owner, self)

    def shared(self, data) -> DeviceTensor:
        """Page-locked memory as a device tensor, from CUDA's array interface: torch.as_tensor of such an object."""
        (size,), (address, _) = (data.__cuda_array_interface__[name] for name in ("shape", "data"))
        pinned = self.machine.pinned
        if not pinned.holds(address):
            raise RuntimeError("The specified pointer resides on host memory and is not registered with any CUDA device.")
        inner = pinned.tensor(address - pinned.address, (size,), (1,), torch.uint8)
        return DeviceTensor(inner, Shared(pinned.allocation(address), data), self)

    def _filled(self, like: torch.Tensor, asked: str) -> DeviceTensor:
        made = self.new(like, asked)
        self.machine.queue(Work(asked, run=lambda *_: host_copy(made.inner, like), writes=[made.region]))
        return made

    def _check_devices(self, operation, leaves):
        for leaf in leaves:
            of_host = isinstance(leaf, torch.Tensor) and not isinstance(leaf, DeviceTensor)
            if of_host and leaf.ndim > 0:  # a number of the host is an argument of the kernel
                raise RuntimeError(f"{name_of(operation)}: expected all tensors on one device, but one of shape "
                                   f"{tuple(leaf.shape)} is on the CPU")


def name_of(operation) -> str:
    return operation._schema.name.removeprefix("aten::")


def inner_of(leaf):
    """The host's tensor of a device tensor; the CPU for the device."""
    if isinstance(leaf, DeviceTensor):
        return leaf.inner
    return torch.device("cpu") if isinstance(leaf, torch.device) else leaf


def on_meta(leaf):
    """A tensor without memory of the same form."""
    if isinstance(leaf, torch.Tensor):
        return torch.empty_strided(leaf.shape, leaf.stride(), dtype=leaf.dtype, device="meta") if leaf.ndim else leaf
    return torch.device("meta") if isinstance(leaf, torch.device) else leaf


def call(operation, form, leaves):
    """Call an operation on tensors of the host."""
    args, kwargs = tree_unflatten(list(leaves), form)
    return host_call(operation, *args, **kwargs)


def host_call(operation, *args, **kwargs):
    with torch._C._DisableTorchDispatch():
        if operation is aten.mm.dtype and not args[0].is_meta:  # torch has it for CUDA only
            return aten.mm.default(*(one.to(args[2]) for one in args[:2]))
        return operation(*args, **kwargs)


def host_copy(to: torch.Tensor, source: torch.Tensor):
    host_call(aten.copy_.default, to, source)


def flops(operation, args) -> dict[str, int]:
    """The floating-point operations of a matrix product, as a fact for its work."""
    if operation._overloadpacket not in PRODUCTS:
        return {}
    a, b = [one.shape for one in args if isinstance(one, torch.Tensor)][-2:]
    return {"flops": 2 * a.numel() * b[-1]}
