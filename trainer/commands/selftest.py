"""`insertcoin selftest`: check and measure this machine's GPU, and write one file to send."""

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from trainer.config.fields import Section, matching, path_setting, within
from trainer.config.options import parse
from trainer.files import require_folder

ABOUT = """\
Check and measure this machine's GPU in less than ten minutes, and write one file to send: Markdown, with all results as JSON at
its end. It names the machine, the GPU, its driver and the versions.

checks: each kernel against plain torch; captured graphs against the same work without; several batches; memory.
figures: copies, and training on Breakout with 1 to 16 batches.
model: the prediction of benchmarks.gpu_model beside each figure; it needs the repository.

Exit code: 0 if all checks pass, 1 if one fails, 2 without a GPU."""


MEASURED = {"figures", "model"}  # parts without checks


@dataclass(frozen=True)
class SelftestOptions(Section):
    """Options of the self-test."""

    out: str = path_setting("insertcoin_selftest.md")
    """The file to write."""
    num_envs: str = matching("8192", r"[1-9]\d{0,6}(,[1-9]\d{0,6})*", "numbers of environments with commas, such as 8192,32768")
    """Numbers of environments to measure with."""
    iterations: int = within(5, 1)
    """Measured iterations for each number of environments and batches."""
    full: bool = False
    """Run `pytest -m gpu` too, which needs the repository, and set no limit of time."""
    visit: bool = False
    """Run all that a GPU should show at a first visit, about 30 minutes, in the repository; --out has each result at once."""
    part: Literal["all", "kernels", "capture", "overlap", "memory", "figures", "probe", "games", "cartridges",
                  "simulations", "training"] = "all"
    """Run only this part, in this process, and print each result as a line of JSON."""

    def check(self) -> None:
        super().check()
        require_folder("out", self.out)

    @property
    def sizes(self) -> tuple[int, ...]:
        """The numbers in `num_envs`."""
        return tuple(map(int, self.num_envs.split(",")))


def main(argv: list[str]) -> int:
    """Run the self-test. Returns the exit code; raises DeviceError without a GPU."""
    options = parse(SelftestOptions, argv, "selftest", ABOUT)
    from bridge import DeviceError, why_no_gpu
    if problem := why_no_gpu():
        raise DeviceError(f"the self-test needs a GPU: {problem}")
    if options.visit:
        return _visit(Path(options.out))
    if options.part == "all":
        return _all(options)
    for one in _part(options):
        print(json.dumps(one), flush=True)
    return 0


def _part(options: SelftestOptions) -> Iterator[dict[str, Any]]:
    """The results of one part."""
    from trainer.selftest import cartridges, checks, figures, simulations
    measured: dict[str, Callable[[], Iterator[dict[str, Any]]]] = {
        "figures": lambda: figures.results(options.sizes, options.iterations),
        "probe": lambda: simulations.probing(options.sizes[-1]), "games": simulations.games, "cartridges": cartridges.results,
        "simulations": lambda: simulations.simulations(options.sizes, options.iterations), "training": simulations.training}
    return measured[options.part]() if options.part in measured else checks.results(options.part)


def _visit(out: Path) -> int:
    """Run the parts of a first visit. Returns the exit code."""
    from trainer.selftest.first_visit import visit
    failed = visit(out)
    print(f"{failed} parts failed or were left out; please send {out} with an issue")
    return 1 if failed else 0


def _all(options: SelftestOptions) -> int:
    """Run all parts, and print what failed. Returns the exit code."""
    from trainer.selftest.visit import visit
    results = visit(Path(options.out), options.sizes, options.iterations, full=options.full)
    failed = [one for one in results["checks"] if one["passed"] is False]
    for one in failed:
        print(f"failed: {one['part']}, {one['check']}: {one['detail']}", file=sys.stderr)
    print(f"{sum(one['passed'] is True for one in results['checks'])} checks passed, {len(failed)} failed; please send "
          f"{options.out} with an issue")
    return 1 if failed or results["problems"].keys() - MEASURED else 0
