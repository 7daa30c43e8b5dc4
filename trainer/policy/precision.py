"""Choose the dtype of the matrix products.

On a CPU with hardware for bfloat16 products (AVX512-BF16, AMX) it is several times as fast as float32; on others it is much
slower. So both are measured at the start.
"""

import time

import torch

GAIN = 1.5  # bfloat16 is chosen if it is at least this many times as fast


def choose(precision: str, device: str | torch.device) -> tuple[torch.dtype, str]:
    """The dtype for "auto", "float32" or "bfloat16" on a device, and the reason as a short text."""
    if precision != "auto":
        return getattr(torch, precision), "as asked"
    speed = {dtype: product_speed(dtype, torch.device(device)) for dtype in (torch.float32, torch.bfloat16)}
    best = torch.bfloat16 if speed[torch.bfloat16] >= GAIN * speed[torch.float32] else torch.float32
    return best, ", ".join(f"{str(dtype).removeprefix('torch.')} {rate / 1e9:.0f} GFLOP/s" for dtype, rate in speed.items())


def product_speed(dtype: torch.dtype, device: torch.device, rows: int = 2048, seconds: float = 0.05) -> float:
    """FLOP/s of a (rows, 256) x (256, 512) product, a size of the policy's products; the best of several rounds."""
    a = torch.randn(rows, 256, device=device).to(dtype)
    b = torch.randn(256, 512, device=device).to(dtype)
    best, stop = float("inf"), time.perf_counter() + seconds
    for repeat in range(1000):
        begin = time.perf_counter()
        torch.mm(a, b)
        if device.type == "cuda":
            torch.cuda.synchronize(device)
        best = min(best, time.perf_counter() - begin) if repeat else best  # the first call includes initialization
        if repeat > 1 and time.perf_counter() > stop:
            break
    return 2.0 * rows * 256 * 512 / best
