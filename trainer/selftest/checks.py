"""Checks of the trainer on this machine's GPU, the first part of `insertcoin selftest`.

    kernels   each kernel with 1 to 4,097 rows, against plain torch on the CPU
    capture   captured graphs against the same work without graphs, and against the CPU's first rollout
    overlap   several batches against one: the same learning, no observation overwritten during its copy, and the time
    memory    none is allocated on the device after the first iterations; the host's buffers are page-locked
"""

import contextlib
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Iterator

import torch

from bridge import open_device
from trainer.config import Config, EnvConfig, PolicyConfig, PPOConfig, RunConfig
from trainer.kernels.checks import cases
from trainer.rollout.actor import collect
from trainer.training import build
from trainer.training.build import make_session
from trainer.training.session import TrainingSession
from trainer.training.train import iterate

ROWS = (1, 3, 31, 33, 129, 1023, 4097)
SETTINGS: dict[str, dict] = {
    "features, LSTM": {}, "two batches": {"num_batches": 2}, "serial": {"num_batches": 2, "serial": True},
    "masks, no memory": {"game": "go", "memory": "none"}, "minGRU": {"memory": "mingru"},
    "stacked frames": {"game": "pong", "view": "pixels", "frame_stack": 3, "num_envs": 16},
    "bfloat16": {"precision": "bfloat16"}, "accumulation": {"accumulate": 4},
}
WEIGHTS = {"float32": 2e-3, "bfloat16": 2e-2}  # largest difference of weights after some iterations
VALUES = {"float32": 1e-3, "bfloat16": 5e-2}   # of values in the first rollout
GAMES = ("frames", "starts", "reward", "terminated", "truncated")
AGREEING = {"float32": 0.95, "bfloat16": 0.75}  # least part of equal actions: one near a boundary changes all after it


def config(device: str = "cuda", *, game: str = "breakout", num_envs: int = 96, horizon: int = 16, num_batches: int = 1,
           view: str = "features", serial: bool = False, memory: str = "lstm", precision: str = "float32", frame_stack: int = 1,
           accumulate: int = 1) -> Config:
    """A small training."""
    return Config(game, EnvConfig(num_envs=num_envs, num_batches=num_batches, view=view),
                  PolicyConfig(encoder_size=32, lstm_size=24, memory=memory, precision=precision, frame_stack=frame_stack),
                  PPOConfig(horizon=horizon, minibatch=num_envs * horizon // max(2, accumulate), total_steps=10**12, epochs=2,
                            accumulate=accumulate),
                  RunConfig(seed=5, device=device, serial=serial, dashboard=False))


def kernels(rows: tuple[int, ...] = ROWS) -> Iterator[dict]:
    """One check for each kernel."""
    device = open_device("cuda").torch_device
    for group in (cases.KERNELS, cases.CARTPOLE):
        found: dict[str, list[cases.Outcome]] = {}
        for one in cases.compare(group, device, rows):
            found.setdefault(one.kernel, []).append(one)
        for kernel, outcomes in found.items():
            wrong = [f"{one.case}, {one.rows} rows: {one.error:.2g}" for one in outcomes if not one.equal]
            yield check("kernels", kernel, not wrong, "; ".join(wrong) or
                        f"{len(outcomes)} cases, largest difference {max(one.error for one in outcomes):.1g}")


def capture(settings: dict[str, dict] | None = None, iterations: int = 5) -> Iterator[dict]:
    """Checks of captured graphs."""
    for name, changes in (SETTINGS if settings is None else settings).items():
        precision = changes.get("precision", "float32")
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", RuntimeWarning)
            captured = trained(config(**changes), iterations)
        failed = [str(one.message) for one in caught if issubclass(one.category, RuntimeWarning)]
        with without_graphs():
            eager = trained(config(**changes), iterations)
        difference, agreeing = weight_difference(captured, eager), same_actions(captured, eager)
        yield check("capture", f"{name}: all work is captured", not failed, "; ".join(failed))
        yield check("capture", f"{name}: as without graphs",
                    difference <= WEIGHTS[precision] and agreeing >= AGREEING[precision],
                    f"weights differ by {difference:.2g}, {agreeing:.1%} of the actions are equal")
        yield first_rollout(name, changes)
        for one in (captured, eager):
            one.close()


def first_rollout(name: str, changes: dict, part: str = "capture") -> dict:
    """The check of the first rollout against the CPU's, in the environments whose actions were equal so far. Observations and
    rewards are equal to the bit, so none was overwritten while it was copied."""
    precision = changes.get("precision", "float32")
    sessions = [make_session(config(device, **changes)) for device in ("cuda", "cpu")]
    with exact_convolutions():
        for one in sessions:
            collect(one.actor)
            one.pipeline.settle()
        torch.cuda.synchronize()
    ours, wanted = (one.storage for one in sessions)
    agreeing = ours.action.cpu() == wanted.action
    before = torch.cat([torch.ones_like(agreeing[:1]), agreeing[:-1]]).int().cummin(0)[0].bool()  # steps after equal actions

    def rows(tensor: torch.Tensor) -> torch.Tensor:
        return tensor[-len(before) - 1:-1].cpu()[before]
    values = (rows(ours.value) - rows(wanted.value)).abs().max().item()
    games = all(torch.equal(rows(getattr(ours, field)), rows(getattr(wanted, field))) for field in GAMES)
    share = agreeing.float().mean().item()
    for one in sessions:
        one.close()
    return check(part, f"{name}: the first rollout is the CPU's",
                 games and values <= VALUES[precision] and share >= AGREEING[precision],
                 f"values differ by {values:.2g}, {share:.1%} of the actions are equal, observations and rewards "
                 f"{'are' if games else 'are not'}")


def overlap(num_envs: int = 2048, counts: tuple[int, ...] = (1, 2, 4, 8), rounds: int = 5) -> Iterator[dict]:
    """Checks of several batches, and the times of a rollout."""
    one, several = trained(config(num_envs=64), 3), trained(config(num_envs=64, num_batches=8), 3)
    difference = weight_difference(one, several)
    yield check("overlap", "8 batches learn as one does", difference <= WEIGHTS["float32"],
                f"weights differ by {difference:.2g}")
    yield first_rollout("8 batches", {"num_envs": 512, "num_batches": 8}, part="overlap")
    for made in (one, several):
        made.close()
    times = {}
    for batches, serial in ((1, True), *((number, False) for number in counts)):
        with contextlib.closing(trained(config(num_envs=num_envs, num_batches=batches, serial=serial), 4)) as made:
            times["serial" if serial else f"{batches} batches"] = statistics.median(seconds(made) for _ in range(rounds))
    yield check("overlap", "the time of a rollout", None,
                ", ".join(f"{name}: {1e3 * taken:.2f} ms" for name, taken in times.items()))


def memory(iterations: int = 6) -> Iterator[dict]:
    """Checks of memory."""
    made = trained(config(num_batches=4), iterations)
    torch.cuda.synchronize()
    before = torch.cuda.memory_reserved()
    for _ in range(iterations):
        iterate(made)
    made.pipeline.settle()
    torch.cuda.synchronize()
    grown = torch.cuda.memory_reserved() - before
    yield check("memory", "later iterations take no memory of the device", grown <= 0,
                f"{before:,} bytes after {iterations} iterations, {grown:,} more later")
    from bridge.cuda import is_page_locked
    locked = [is_page_locked(array) for slab in made.pipeline.slabs for array in (slab.host["observation"], slab.host_actions)]
    yield check("memory", "the host's buffers are page-locked", all(locked), f"{len(locked)} buffers")
    made.close()


CHECKS: dict[str, Callable[[], Iterator[dict]]] = {
    "kernels": kernels, "capture": capture, "overlap": overlap, "memory": memory}


def check(part: str, name: str, passed: bool | None, detail: str) -> dict:
    """A result. passed: None for a measurement."""
    return {"part": part, "check": name, "passed": passed, "detail": detail}


def trained(settings: Config, iterations: int) -> TrainingSession:
    """A session after some iterations."""
    made = make_session(settings)
    for _ in range(iterations):
        iterate(made)
    made.pipeline.settle()
    torch.cuda.synchronize()
    return made


@contextlib.contextmanager
def without_graphs() -> Iterator[None]:
    """Sessions that are made in this context capture nothing."""
    before, build.GRAPHS = build.GRAPHS, False
    try:
        yield
    finally:
        build.GRAPHS = before


@contextlib.contextmanager
def exact_convolutions() -> Iterator[None]:
    """In this context cuDNN multiplies in float32. By default it takes TF32, which has 10 bits: too few for VALUES."""
    before, torch.backends.cudnn.allow_tf32 = torch.backends.cudnn.allow_tf32, False
    try:
        yield
    finally:
        torch.backends.cudnn.allow_tf32 = before


def weight_difference(one: TrainingSession, other: TrainingSession) -> float:
    """The largest difference of two policies' weights."""
    mine, others = one.policy.state_dict(), other.policy.state_dict()
    return max((tensor.double() - others[name].double()).abs().max().item() for name, tensor in mine.items())


def same_actions(one: TrainingSession, other: TrainingSession) -> float:
    """The part of equal actions in the last rollouts."""
    return (one.storage.action == other.storage.action).float().mean().item()


def seconds(made: TrainingSession) -> float:
    """The time of a rollout."""
    torch.cuda.synchronize()
    begin = time.perf_counter()
    collect(made.actor)
    torch.cuda.synchronize()
    return time.perf_counter() - begin


def results(part: str) -> Iterator[dict]:
    """The checks of a part. An error, of any kind, is a failed check at its end."""
    print(f"{part} ...", file=sys.stderr, flush=True)
    try:
        yield from CHECKS[part]()
    except Exception as error:  # CuPy, too, raises AssertionError
        yield check(part, "runs to its end", False, f"{type(error).__name__}: {error}")

