"""Many processes that train one policy together: what they add up, agree on and hand to each other.

torchrun starts the processes, the ranks 0 .. K - 1 of a job, on one machine or several. Each plays a contiguous part of the
environments and learns from it; trainer/training/shares.py says which. Only this module uses torch.distributed: NCCL sums
tensors on GPUs, Gloo the rest. All ranks make the same calls in the same order. `Ranks` is a single
process, for which each call does nothing; `Joined` is one rank of a job.
"""

import contextlib
import hashlib
import os
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist
import torch.distributed.nn.functional  # before a group is made: see Joined.leave

import envs_c
from bridge import BridgeError, why_not
from trainer.errors import RanksError, TrainerError
from trainer.process import in_torchrun, torchrun_number

TIMEOUT = timedelta(minutes=10)       # that a rank waits for the others
TELL_TIMEOUT = timedelta(seconds=5)   # that one which failed waits for the store
TOLD = (TrainerError, BridgeError, envs_c.EnvsError)  # errors of one sentence


class Ranks:
    """One process alone. As a context, it is left at the end."""

    rank, size, local_size = 0, 1, 1
    joined = False  # whether there is anybody to talk to

    def device(self, name: str) -> str:
        """The device for the setting `name`."""
        return name

    def sum_(self, tensor: torch.Tensor) -> torch.Tensor:
        """`tensor`, in place, summed over the ranks; every rank gets the same bits."""
        return tensor

    def rows(self, tensor: torch.Tensor) -> torch.Tensor:
        """(K, *shape): the `tensor` (*shape) of each rank."""
        return tensor[None]

    def everyone(self, value: Any) -> list:
        """The `value` of each rank, on each."""
        return [value]

    def gather(self, value: Any) -> list | None:
        """The `value` of each rank, on rank 0; None elsewhere."""
        return [value]

    def first(self, call: Callable[[], Any]) -> Any:
        """What `call` gives (or raises, of TOLD) on rank 0, on each rank."""
        return call()

    def any(self, *flags: bool) -> tuple[bool, ...]:
        """Which of the flags are true on any rank."""
        return flags

    def leave(self):
        """Nothing more is said to the others; again, nothing."""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.leave()


ALONE = Ranks()


class Joined(Ranks):
    """One rank of a job of K; made by `join`. Each call raises RanksError where another rank has ended or does not answer."""

    joined = True

    def __init__(self, timeout: timedelta = TIMEOUT):
        self.rank, self.size = torchrun_number("RANK"), torchrun_number("WORLD_SIZE")
        self.local_rank, self.local_size = torchrun_number("LOCAL_RANK"), torchrun_number("LOCAL_WORLD_SIZE", self.size)
        self._timeout = timeout
        self._gpus: dist.ProcessGroup | None = None
        try:
            dist.init_process_group("gloo", rank=self.rank, world_size=self.size, timeout=timeout)
        except (ValueError, RuntimeError) as error:
            raise RanksError(f"rank {self.rank} cannot reach the other {self.size - 1} of its job: {error}") from error

    def device(self, name: str) -> str:
        """This rank's own: cuda:LOCAL_RANK for "cuda", and for "auto" where all ranks have a GPU that works.

        Raises RanksError, the same on all ranks, where one has none for itself.
        """
        try:
            chosen, problem = own_device(name, self.local_rank, self.local_size), None
        except RanksError as error:
            chosen, problem = "", str(error)
        every = self.everyone((chosen, problem))
        problems = [one for _, one in every if one]
        if problems:
            raise RanksError(problems[0])
        kinds = [device.partition(":")[0] for device, _ in every]
        if len(set(kinds)) > 1:
            without = ", ".join(str(rank) for rank, kind in enumerate(kinds) if kind == "cpu")
            raise RanksError(f"device is {name!r}, but of {self.size} ranks those numbered {without} have no GPU; use the CPU "
                             "on all (--device cpu), or start ranks on machines with GPUs alone")
        if kinds[0] == "cuda":
            torch.cuda.set_device(chosen)
            self._gpus = dist.new_group(backend="nccl", timeout=self._timeout)
        return chosen

    def sum_(self, tensor):
        with self._in_touch():
            dist.all_reduce(tensor, group=self._group(tensor))
        return tensor

    def rows(self, tensor):
        flat = tensor.contiguous().reshape(-1)
        parts = [torch.empty_like(flat) for _ in range(self.size)]
        with self._in_touch():
            dist.all_gather(parts, flat, group=self._group(tensor))
        return torch.stack(parts).view(self.size, *tensor.shape)

    def everyone(self, value):
        values = [None] * self.size
        with self._in_touch():
            dist.all_gather_object(values, value)
        return values

    def gather(self, value):
        values = [None] * self.size if self.rank == 0 else None
        with self._in_touch():
            dist.gather_object(value, values)
        return values

    def first(self, call):
        said: list[Any] = [None, None]  # what came of it, what it raised
        if self.rank == 0:
            try:
                said[0] = call()
            except TOLD as error:
                said[1] = error
        with self._in_touch():
            dist.broadcast_object_list(said)
        if said[1] is not None:
            raise said[1]
        return said[0]

    def any(self, *flags):
        together = torch.tensor(flags, dtype=torch.uint8)
        with self._in_touch():
            dist.all_reduce(together, op=dist.ReduceOp.MAX)
        return tuple(map(bool, together.tolist()))

    def leave(self):
        # Gloo's threads must end while Python runs: one that lets go of a tensor later aborts the process. They end with the
        # last reference to their group. torch.distributed.nn.functional takes the group that is there when it is loaded for
        # the default of its arguments and keeps it for good, and torch loads it with its optimizers: so it is loaded above.
        if dist.is_initialized():
            dist.destroy_process_group()

    def _group(self, tensor: torch.Tensor) -> "dist.ProcessGroup | None":
        return self._gpus if tensor.is_cuda else None  # None: the job's own group, Gloo's

    @contextlib.contextmanager
    def _in_touch(self) -> Iterator[None]:
        try:
            yield
        except RuntimeError as error:
            raise RanksError("another rank has ended, for the reason that it tells, or did not answer in time; this ends the "
                             "job: go on from its last checkpoint with --resume, with any number of ranks") from error


def join(timeout: timedelta = TIMEOUT) -> Ranks:
    """The job that torchrun started this process for; ALONE where it did not."""
    return Joined(timeout) if in_torchrun() else ALONE


def own_device(name: str, local_rank: int, local_size: int) -> str:
    """The device that the setting `name` means for the process `local_rank` of `local_size` on this machine."""
    if name == "cpu" or (name == "auto" and why_not()):
        return "cpu"
    if name.startswith("cuda:"):
        if local_size > 1:
            raise RanksError(f"device is {name!r}, but each of the {local_size} ranks of a machine takes a GPU of its own; "
                             "write cuda or auto, and choose the GPUs by CUDA_VISIBLE_DEVICES")
        return name
    if why_not():
        raise RanksError(f"device is {name!r}, but {why_not()}; or use the CPU (--device cpu)")
    count = torch.cuda.device_count()
    if local_rank >= count:
        raise RanksError(f"{local_size} ranks were started on a machine with {count} GPU{'s' if count > 1 else ''}, and each "
                         f"takes one of its own; start {count} there (--nproc-per-node {count}), or use the CPU (--device cpu)")
    return f"cuda:{local_rank}"


def first_to_tell(text: str) -> bool:
    """Whether no rank of the job told this error yet; then this one is to. Where that cannot be known, it is, too."""
    try:
        store = dist.TCPStore(os.environ.get("MASTER_ADDR", "localhost"), torchrun_number("MASTER_PORT"), is_master=False,
                              wait_for_workers=False, timeout=TELL_TIMEOUT)
        start = os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")  # torchrun may start the ranks again, with the same store
        return store.add(f"insertcoin/told/{start}/{hashlib.sha256(text.encode()).hexdigest()}", 1) == 1
    except (RuntimeError, RanksError):
        return True
