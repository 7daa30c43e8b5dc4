"""CartPole on the device and on the CPU: `python -m benchmarks.speed.scaling`.

Random play of CartPole in every simulation that this machine can run (simulations.py). Measures the runtime of a step of all
environments against their number, 1 to 1,000,000, and against the work per step, 1 to 1,000 times its arithmetic.

A step of x environments (or of x times the work) takes about flat + slope * x seconds. The flat part is launches, calls and
messages, which do not depend on the number of environments. Both parts are fitted to the measured times by least squares of the
relative error, and neither is negative. The curve turns from flat to linear at x = flat / slope, at which both parts take the
same time. Below this point more environments are almost free; above it, twice as many take twice as long.
"""

import math
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from matplotlib.figure import Figure

from benchmarks.common import above_zero, at_least, head, median_seconds, new_parser, publish
from benchmarks.speed.simulations import Simulation, Way, ways
from bridge.errors import DeviceError
from trainer.log.numbers import count
from trainer.log.text import markdown

LONGEST = 2.0      # most seconds for one point, unless a step takes longer
SHORTEST = 0.05    # least seconds for one point
BURST = 0.005      # seconds of steps between two waits for the device
MOST_BURST = 64    # most steps between two waits
WARM_UP = 32       # most steps before the measurement; after them, episodes are at different points


class Point(NamedTuple):
    """Measured seconds of one step of `num_envs` environments with `work` times the arithmetic."""

    way: str
    num_envs: int
    work: int
    seconds: float


class Fit(NamedTuple):
    """seconds = flat + slope * x, for x from `first` to `last`."""

    flat: float
    slope: float
    first: float
    last: float

    @property
    def turn(self) -> float:
        """The x at which flat turns to linear; 0 without a flat part, infinity without a slope."""
        return self.flat / self.slope if self.slope > 0 else math.inf

    def __str__(self):
        if self.turn <= self.first:
            return "linear throughout"
        if self.turn >= self.last:
            return "flat throughout"
        return f"{float(f'{self.turn:.2g}'):,.0f}"


def fit(xs: Sequence[float], seconds: Sequence[float]) -> Fit | None:
    """Fit the flat and the linear part of a curve. Returns None for fewer than three points."""
    if len(xs) < 3:
        return None
    x, t = np.asarray(xs, float), np.asarray(seconds, float)
    flat, slope = np.linalg.lstsq(np.stack([1 / t, x / t], 1), np.ones(len(t)), rcond=None)[0]
    if flat < 0:
        flat, slope = 0.0, (x / t).sum() / (x / t * x / t).sum()
    elif slope < 0:
        flat, slope = (1 / t).sum() / (1 / t / t).sum(), 0.0
    return Fit(float(flat), float(slope), float(x.min()), float(x.max()))


def grid(most: int) -> list[int]:
    """Return 1, 3, 10, 30, ... below `most`, and `most`."""
    steps = [size for k in range(8) for size in (10**k, 3 * 10**k) if size < most]
    return [*steps, most]


def seconds_a_step(simulation: Simulation, seconds: float) -> float:
    """Measure for about `seconds`. Returns the median seconds of a step."""
    def steps(calls: int):
        for _ in range(calls):
            simulation.step()
        simulation.finish()

    begin, calls = time.perf_counter(), 0
    while calls < WARM_UP and time.perf_counter() - begin < seconds / 4:
        last = time.perf_counter()
        steps(1)
        calls += 1
    burst = min(max(int(BURST / (time.perf_counter() - last)), 1), MOST_BURST)
    return median_seconds(lambda: steps(burst), rounds=5, seconds=seconds / 8) / burst / simulation.steps


def measure(found: Sequence[Way], most_envs: int, most_work: int, work_envs: int, seconds: float) -> tuple[list[Point], int]:
    """Measure for about `seconds`, the smallest points first.

    found: simulations to measure.
    most_envs, most_work: largest number of environments, and largest work per step.
    work_envs: number of environments for the points with more work.
    Returns the points, and the number of points for which no time was left.
    """
    jobs = [(way, size, 1) for way in found for size in grid(min(most_envs, way.most))]
    jobs += [(way, min(work_envs, way.most), work) for way in found for work in grid(most_work)]
    jobs = sorted(dict.fromkeys(jobs), key=lambda job: max(math.log(job[1], max(most_envs, 2)) * (job[2] == 1),
                                                           math.log(job[2], max(most_work, 2))))
    end, points = time.perf_counter() + seconds, []
    for number, (way, num_envs, work) in enumerate(jobs):
        if time.perf_counter() > end:
            break
        simulation = way.make(num_envs, work)
        share = min(max((end - time.perf_counter()) / (len(jobs) - number), SHORTEST), LONGEST)
        points.append(Point(way.name, num_envs, work, seconds_a_step(simulation, share)))
        simulation.close()
        del simulation
        print(f"{number + 1} of {len(jobs)}: {way.name}, {num_envs:,} environments, work {work:,}: "
              f"{micro(points[-1].seconds)} us a step", file=sys.stderr, flush=True)
    return points, len(jobs) - len(points)


def curves(points: Sequence[Point], work_envs: int) -> tuple[dict, dict]:
    """Split the points into curves. Returns two dicts from simulation to a sorted list of (x, seconds).

    The first has x = number of environments, at work 1. The second has x = work, with `work_envs` environments, or fewer if the
    simulation has a lower limit.
    """
    against_envs, against_work = {}, {}
    for way in dict.fromkeys(point.way for point in points):
        mine = [point for point in points if point.way == way]
        against_envs[way] = sorted((p.num_envs, p.seconds) for p in mine if p.work == 1)
        most = max((p.num_envs for p in mine if p.work > 1), default=work_envs)
        against_work[way] = sorted((p.work, p.seconds) for p in mine if p.num_envs == most)
    return tuple({way: curve for way, curve in by_way.items() if curve} for by_way in (against_envs, against_work))


def draw(panels: Sequence[tuple[str, dict]], path: Path):
    """Draw a panel for each (label of x, curves) with logarithmic axes. A star marks the turn of a curve."""
    figure = Figure(figsize=(13, 5.5), dpi=110, layout="constrained")
    for axes, (label, by_way) in zip(figure.subplots(1, len(panels), sharey=True), panels, strict=True):
        for number, (way, curve) in enumerate(by_way.items()):
            xs, seconds = zip(*curve, strict=True)
            axes.plot(xs, seconds, marker="o", markersize=3.5, linewidth=1.3, color=f"C{number}", label=way)
            fitted = fit(xs, seconds)
            if fitted and fitted.first < fitted.turn < fitted.last:
                height = math.exp(np.interp(math.log(fitted.turn), np.log(xs), np.log(seconds)))
                axes.plot(fitted.turn, height, marker="*", markersize=15, color=f"C{number}", markeredgecolor="black")
        axes.set(xscale="log", yscale="log", xlabel=label)
        axes.grid(alpha=0.3)
    figure.axes[0].set_ylabel("seconds per step of all environments")
    figure.axes[0].plot([], [], "*", markersize=12, color="white", markeredgecolor="black", label="turns from flat to linear")
    figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=5, frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)


def times(label: str, by_way: dict) -> str:
    """Return a table of microseconds, with a row for each x."""
    xs = sorted({x for curve in by_way.values() for x, _ in curve})
    rows = [[f"{x:,}", *(micro(dict(curve).get(x)) for curve in by_way.values())] for x in xs]
    return markdown([label, *by_way], rows)


def micro(seconds: float | None) -> str:
    """Format seconds as microseconds; - for None."""
    return "-" if seconds is None else f"{1e6 * seconds:,.1f}"


def turns(unit: str, rate: str, by_way: dict) -> str:
    """Return a table of the fits, with a row for each simulation.

    unit: of x.
    rate: unit of x per second.
    """
    rows = []
    for way, curve in by_way.items():
        fitted = fit(*zip(*curve, strict=True))
        parts = ["-"] * 3 if fitted is None else [micro(fitted.flat), f"{1e9 * fitted.slope:,.2f}", fitted]
        rows.append([way, *parts, count(max(x / seconds for x, seconds in curve))])
    return markdown(["simulation", "flat, us", f"slope, ns per {unit}", f"turns linear at, {unit}s", f"most {rate}"], rows)


def blocks(found: Sequence[Way], most_envs: int) -> str:
    """Return a table of the kernel's searched block sizes; "" without a GPU."""
    kernel = next((way for way in found if way.name == "kernel, GPU"), None)
    if kernel is None:
        return ""
    rows = []
    for num_envs in sorted({min(1000, most_envs), most_envs}):
        simulation = kernel.make(num_envs, 1).simulation
        rows.append([f"{num_envs:,}", *(micro(seconds) for seconds in simulation.block_seconds.values()), simulation.block])
    columns = ["environments", *(f"{block} threads, us" for block in simulation.block_seconds), "chosen"]
    return "Block sizes of the kernel, searched when it is made:\n\n" + markdown(columns, rows)


def envs_text(points: Sequence[Point], work_envs: int) -> str:
    """Return the number of environments for the points with more work, as text."""
    fewer = {point.way: point.num_envs for point in points if point.work > 1 and point.num_envs < work_envs}
    return f"{work_envs:,} environments" + "".join(f" ({way}: {count})" for way, count in fewer.items())


def report(points: Sequence[Point], work_envs: int, notes: Sequence[str], more: str, picture: str) -> str:
    """Return the page as Markdown.

    notes: sentences for the end.
    more: text after the tables.
    picture: file name of the picture.
    """
    against_envs, against_work = curves(points, work_envs)
    gpu = f"GPU: {torch.cuda.get_device_name()}.\n" if torch.cuda.is_available() else "No GPU.\n"
    micros = "Microseconds per step of all environments:\n"
    return "\n".join([
        head("CartPole on the device and on the CPU") + gpu,
        f"![runtime of a step against environments and against work]({picture})\n",
        "A step takes about flat + slope x (a fit by relative least squares). It turns from flat to linear at the x with both "
        "parts equal (the stars).\n",
        turns("environment", "steps/s", against_envs), micros, times("environments", against_envs),
        f"Runtime against work, with {envs_text(points, work_envs)}. Work x is x times the arithmetic of a step. On a device "
        "and in our games it is a loop within the step. Gymnasium's step, NumPy calls on all environments, is called x "
        "times. In stable-baselines3's processes each environment steps x times before it answers.\n",
        turns("unit", "units/s", against_work), micros, times("work", against_work),
        *([more] if more else []), *(f"- {note}" for note in notes)]).rstrip() + "\n"


def main():
    parser = new_parser("speed.scaling", __doc__)
    parser.add_argument("--seconds", type=above_zero, default=180, help="about how long to measure (default: 180)")
    parser.add_argument("--device", choices=["auto", "cpu", "cuda"], default="auto",
                        help="cpu to leave out the GPU, cuda to require it (default: auto)")
    parser.add_argument("--max-envs", type=at_least(1), default=1_000_000, help="most environments (default: 1,000,000)")
    parser.add_argument("--max-work", type=at_least(1), default=1000, help="most work per step (default: 1,000)")
    parser.add_argument("--work-envs", type=at_least(1), default=1000,
                        help="environments in the measurements of work (default: 1,000)")
    parser.add_argument("--processes", type=at_least(1), default=8, help="most processes of stable-baselines3 (default: 8)")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results"),
                        help="folder for scaling.md and scaling.png (default: benchmarks/results)")
    options = parser.parse_args()
    try:
        found, missing = ways(options.device, options.processes)
    except DeviceError as error:
        parser.error(str(error))
    points, late = measure(found, options.max_envs, options.max_work, options.work_envs, options.seconds)
    if late:
        missing.append(f"No time was left for the {late} largest points (--seconds {options.seconds:g}).")
    against = curves(points, options.work_envs)
    draw([("environments", against[0]), (f"work per step, with {envs_text(points, options.work_envs)}", against[1])],
         options.out / "scaling.png")
    publish(report(points, options.work_envs, missing, blocks(found, options.max_envs), "scaling.png"),
            options.out / "scaling.md")


if __name__ == "__main__":
    main()
