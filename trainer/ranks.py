"""Ranks: several processes training one policy together. Only this module uses torch.distributed.

torchrun starts the processes, ranks 0 .. K - 1 of a job, on one machine or several. Each steps a contiguous part of the
environments and learns from it (trainer/training/shares.py). NCCL sums tensors on GPUs; Gloo does everything else. All ranks
make the same calls in the same order. `Ranks` is a single process, in which no call communicates; `Joined` is one rank of a
job.
"""

import contextlib
import hashlib
import os
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist
import torch.distributed.nn.functional  # before a group is made: see Joined.leave

import envs_c
from bridge import BridgeError, why_no_gpu
from trainer.errors import RanksError, TrainerError
from trainer.process import in_torchrun, torchrun_number

TIMEOUT = timedelta(minutes=10)        # for a rank waiting for the others
SIGNS = 10                             # of life by rank 0 within the time-out, during a call of `broadcast_slow`
PRINT_TIMEOUT = timedelta(seconds=5)   # for a failed rank waiting for torchrun's store
EXPECTED = (TrainerError, BridgeError, envs_c.EnvsError)  # errors passed on by `broadcast`


class Ranks:
    """A single process. A context manager, which leaves the job at its end."""

    rank, size, local_size = 0, 1, 1
    joined = False  # True if there are other ranks

    def device(self, name: str) -> str:
        """The device of this rank for the setting `device`."""
        return name

    def sum_(self, tensor: torch.Tensor) -> torch.Tensor:
        """Sum `tensor` over the ranks, in place; every rank gets the same bits."""
        return tensor

    def rows(self, tensor: torch.Tensor) -> torch.Tensor:
        """(K, *shape): the `tensor` (*shape) of each rank."""
        return tensor[None]

    def everyone(self, value: Any) -> list:
        """The `value` of each rank, on every rank."""
        return [value]

    def gather(self, value: Any) -> list | None:
        """The `value` of each rank, on rank 0; None on the others."""
        return [value]

    def broadcast(self, call: Callable[[], Any]) -> Any:
        """Call on rank 0; every rank gets the result. If it raises one of EXPECTED, every rank raises it."""
        return call()

    def broadcast_slow(self, call: Callable[[Callable[[], None]], Any]) -> Any:
        """`broadcast` for a call that may take longer than the time-out: the others wait on while it shows that it goes on.

        call: gets a function, and calls it each few seconds or more often.
        """
        return call(lambda: None)

    def any(self, *flags: bool) -> tuple[bool, ...]:
        """For each flag, True if it is True on any rank."""
        return flags

    def leave(self):
        """End the communication with the other ranks; a second call does nothing."""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.leave()


ALONE = Ranks()


class Joined(Ranks):
    """One rank of a job of K; `join` makes it. Calls raise RanksError if another rank has ended or does not answer."""

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
        """This rank's own device: cuda:LOCAL_RANK for "cuda", and for "auto" if all ranks have a working GPU.

        Raises RanksError on all ranks if one of them has no device of its own.
        """
        seen = self.everyone(gpu_name())
        own_gpus = all(seen) and len(set(seen)) == self.size
        try:
            chosen, problem = own_device(name, self.local_rank, self.local_size, own_gpus=own_gpus), None
        except RanksError as error:
            chosen, problem = "", str(error)
        every = self.everyone((chosen, problem))
        problems = [one for _, one in every if one]
        if problems:
            raise RanksError(problems[0])
        kinds = [device.partition(":")[0] for device, _ in every]
        if len(set(kinds)) > 1:
            without = ", ".join(str(rank) for rank, kind in enumerate(kinds) if kind == "cpu")
            raise RanksError(f"--device {name} needs a GPU on all {self.size} ranks, and these have none: {without}; use the "
                             "CPU on all (--device cpu), or start ranks only on machines with GPUs")
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

    def broadcast(self, call):
        result: list[Any] = [None, None]  # the value, the error
        if self.rank == 0:
            try:
                result[0] = call()
            except EXPECTED as error:
                result[1] = error
        with self._in_touch():
            dist.broadcast_object_list(result)
        if result[1] is not None:
            raise result[1]
        return result[0]

    def broadcast_slow(self, call):
        while self.rank and self.any(False)[0]:
            pass  # rank 0 goes on
        return self.broadcast(lambda: self._with_signs(call))

    def any(self, *flags):
        together = torch.tensor(flags, dtype=torch.uint8)
        with self._in_touch():
            dist.all_reduce(together, op=dist.ReduceOp.MAX)
        return tuple(map(bool, together.tolist()))

    def leave(self):
        # Gloo's threads must end while Python runs: a thread freeing a tensor later aborts the process. They end with the
        # last reference to their group. When torch.distributed.nn.functional is loaded, it stores the current group as the
        # default of its arguments and keeps it forever. torch loads it with its optimizers, so this module loads it first.
        if dist.is_initialized():
            dist.destroy_process_group()

    def _with_signs(self, call: Callable[[Callable[[], None]], Any]) -> Any:
        """Call on rank 0, with a function that gives the other ranks a sign of life if the last one is long ago."""
        pause, last = self._timeout.total_seconds() / SIGNS, time.monotonic()

        def go_on():
            nonlocal last
            if time.monotonic() - last >= pause:
                self.any(True)
                last = time.monotonic()
        try:
            result = call(go_on)
        except EXPECTED:
            self.any(False)
            raise
        self.any(False)
        return result

    def _group(self, tensor: torch.Tensor) -> "dist.ProcessGroup | None":
        return self._gpus if tensor.is_cuda else None  # None: the default group, which uses Gloo

    @contextlib.contextmanager
    def _in_touch(self) -> Iterator[None]:
        """Turn errors of torch.distributed into RanksError."""
        try:
            yield
        except RuntimeError as error:
            raise RanksError("another rank has ended, for the reason that it prints, or did not answer in time; this ends the "
                             "job: go on from its last checkpoint with --resume, with any number of ranks") from error


def join(timeout: timedelta = TIMEOUT) -> Ranks:
    """The job for which torchrun started this process; ALONE if torchrun did not start it."""
    return Joined(timeout) if in_torchrun() else ALONE


def gpu_name() -> str:
    """The identity of the GPU that this process sees, or "" if it sees another number than one, or torch does not know it."""
    if why_no_gpu() or torch.cuda.device_count() != 1:
        return ""
    return str(getattr(torch.cuda.get_device_properties(0), "uuid", ""))


def own_device(name: str, local_rank: int, local_size: int, *, own_gpus: bool = False) -> str:
    """The device of one process.

    name: the setting `device`.
    local_rank: number of the process on this machine.
    local_size: processes of the job on this machine.
    own_gpus: each process sees one GPU, which no other sees (Slurm's --gpus-per-task=1).
    Raises RanksError if there is no device for it.
    """
    if name == "cpu" or (name == "auto" and why_no_gpu()):
        return "cpu"
    if name.startswith("cuda:"):
        if local_size > 1:
            raise RanksError(f"--device must be auto, cpu or cuda for {local_size} ranks on one machine, not {name}: each "
                             "takes a GPU of its own; choose the GPUs by CUDA_VISIBLE_DEVICES")
        return name
    if why_no_gpu():
        raise RanksError(f"--device {name} is not possible: {why_no_gpu()}; or use the CPU (--device cpu)")
    count = torch.cuda.device_count()
    if count == 1 and own_gpus:
        return "cuda:0"
    if local_rank >= count:
        raise RanksError(f"{local_size} ranks were started on a machine with {count} GPU{'s' if count > 1 else ''}, and each "
                         f"needs one; start {count} there (--nproc-per-node {count}), or use the CPU (--device cpu)")
    return f"cuda:{local_rank}"


def prints_first(text: str) -> bool:
    """True for the first rank of the job to ask for this text: one rank prints an error common to all.

    Also True if the other ranks cannot be asked.
    """
    try:
        store = dist.TCPStore(os.environ.get("MASTER_ADDR", "localhost"), torchrun_number("MASTER_PORT"), is_master=False,
                              wait_for_workers=False, timeout=PRINT_TIMEOUT)
        start = os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")  # torchrun may start the ranks again, with the same store
        return store.add(f"insertcoin/printed/{start}/{hashlib.sha256(text.encode()).hexdigest()}", 1) == 1
    except (RuntimeError, RanksError):
        return True
