"""Choose the dtype of the matrix products.

"auto" decides by a table of what the CPU or the GPU is able to do, so a seed takes the same precision on a busy machine. The
table names the hardware on which bfloat16 products are much faster than float32 products (docs/trainer.md has the figures).
"measure" compares the two on this machine.
"""

import statistics
import time
from collections.abc import Callable

import torch

from bridge.gymnasium_source import GymnasiumSource
from envs_c.machine import cpu_features

GAIN = 1.5                   # "measure" takes bfloat16 if it is at least this many times as fast
GPU_CAPABILITY = (8, 0)      # from this compute capability on, GPUs multiply bfloat16 matrices in hardware
CPU_FEATURES = [             # an instruction set, and the vendor of the CPUs on which bfloat16 is faster with it; "": any
    ("amx_bf16", ""),                 # Intel from Sapphire Rapids on
    ("avx512_bf16", "AuthenticAMD"),  # from Zen 4 on; on Intel's CPUs without AMX, float32 is faster
]
BFLOAT16_INTEGERS = 256      # integers up to this are exact
DTYPES = (torch.float32, torch.bfloat16)
ROWS = {"cpu": 2048, "cuda": 65_536}  # of a measured product; on a GPU its time must exceed that of the launch
ROUND_SECONDS = 0.001        # of a dtype's products in a round, at least one product
ROUNDS = (9, 201)            # at least, and at most
MEASURE_SECONDS = 2.0        # of all rounds, if the least number of rounds permits


def choose(precision: str, device: str | torch.device) -> tuple[torch.dtype, str]:
    """The dtype for "auto", "measure", "float32" or "bfloat16" on a device, and the reason as a short text."""
    device = torch.device(device)
    if precision == "measure":
        speeds = _measure_with_one_thread(device)
        best = torch.bfloat16 if speeds[torch.bfloat16] >= GAIN * speeds[torch.float32] else torch.float32
        names = {dtype: str(dtype).removeprefix("torch.") for dtype in speeds}
        return best, ", ".join(f"{names[dtype]} {speed / 1e9:.0f} GFLOP/s" for dtype, speed in speeds.items())
    if precision != "auto":
        return getattr(torch, precision), "as asked"
    return _by_capability(device) if device.type == "cuda" else _by_features()


def why_float32(source, normalizes: bool) -> str:
    """Why a policy must read a source's observations in float32, or "": bfloat16 has 8 bits for the digits of a number.

    normalizes: the observations are normalized.
    """
    if not isinstance(source, GymnasiumSource) or source.observation_dtype != "float32":
        return ""
    if source.layout is not None and source.layout.most_kinds() > BFLOAT16_INTEGERS:
        return f"the observations name one of more than {BFLOAT16_INTEGERS} kinds"
    return "" if normalizes else "the observations are floats that are not normalized (--normalize-observations)"


def _by_capability(device: torch.device) -> tuple[torch.dtype, str]:
    capability = torch.cuda.get_device_capability(device)
    best = torch.bfloat16 if capability >= GPU_CAPABILITY else torch.float32
    return best, f"compute capability {capability[0]}.{capability[1]}"


def _by_features() -> tuple[torch.dtype, str]:
    present = cpu_features()
    for feature, vendor in CPU_FEATURES:
        if feature in present and (not vendor or vendor in present):
            return torch.bfloat16, f"the CPU has {feature}"
    return torch.float32, "the CPU has neither amx_bf16 nor AMD's avx512_bf16"


def _measure_with_one_thread(device: torch.device) -> dict[torch.dtype, float]:
    """`measure` on one core: on a busy machine the threads of a product wait for each other, whatever its dtype."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        return measure(device)
    finally:
        torch.set_num_threads(threads)


def measure(device: torch.device, dtypes: tuple[torch.dtype, ...] = DTYPES, rows: int = 0) -> dict[torch.dtype, float]:
    """FLOP/s of a (rows, 256) x (256, 512) product, a size of the policy's products, by dtype.

    rows: 0 for ROWS of the device.

    The medians of many short rounds. The dtypes take turns, so another program that runs for a while slows down all of them.
    """
    rows = rows or ROWS[device.type]
    products = {dtype: _product(rows, dtype, device) for dtype in dtypes}
    for product in products.values():
        _seconds(product, device, 3)  # the first calls include initialization
    once = {dtype: _seconds(product, device, 3) for dtype, product in products.items()}
    calls = {dtype: max(1, round(ROUND_SECONDS / seconds)) for dtype, seconds in once.items()}
    count = round(MEASURE_SECONDS / sum(calls[dtype] * once[dtype] for dtype in dtypes))
    rounds = [{dtype: _seconds(product, device, calls[dtype]) for dtype, product in products.items()}
              for _ in range(min(max(count, ROUNDS[0]), ROUNDS[1]))]
    return {dtype: 2.0 * rows * 256 * 512 / statistics.median(one[dtype] for one in rounds) for dtype in dtypes}


def _product(rows: int, dtype: torch.dtype, device: torch.device) -> Callable[[], torch.Tensor]:
    a, b = torch.randn(rows, 256, device=device).to(dtype), torch.randn(256, 512, device=device).to(dtype)
    return lambda: torch.mm(a, b)


def _seconds(product: Callable[[], object], device: torch.device, calls: int) -> float:
    """Seconds for each of several calls. On a GPU it waits for the work before and after them."""
    _wait(device)
    begin = time.perf_counter()
    for _ in range(calls):
        product()
    _wait(device)
    return (time.perf_counter() - begin) / calls


def _wait(device: torch.device):
    if device.type == "cuda":
        torch.cuda.synchronize(device)
