"""A model of a training's time on a GPU: `python -m benchmarks.gpu_model --device h100`. It measures no GPU.

It records the operations of an iteration from the device without a GPU (tests/device), and simulates them in time: published
bandwidths and rates, assumed latencies (devices.py), and this CPU's measured time for a step of the game. It prints steps a
second, what limits them, and how they change with environments, minibatch, batches and cores. All figures are modelled.
"""

import json
import sys
from pathlib import Path

import envs_c
from benchmarks.common import at_least, check_games, head, new_parser, publish
from benchmarks.gpu_model import games, published, report
from benchmarks.gpu_model.devices import DEVICES, Costs
from benchmarks.gpu_model.record import record
from benchmarks.gpu_model.simulate import Setting, simulate
from envs_c.__main__ import speed
from trainer.log.text import markdown


def options_of(argv: list[str]):
    """The parsed command line."""
    parser = new_parser("gpu_model", __doc__)
    parser.add_argument("--device", nargs="+", choices=DEVICES, default=["h100"], help="GPUs (default: h100)")
    parser.add_argument("--game", default="breakout", help="a game of envs_c (default: breakout)")
    parser.add_argument("--num-envs", type=at_least(1), default=1024, help="environments (default: 1024)")
    parser.add_argument("--minibatch", type=at_least(1), default=8192, help="steps of a minibatch (default: 8192)")
    parser.add_argument("--batches", type=at_least(1), default=2, help="batches of environments (default: 2)")
    parser.add_argument("--horizon", type=at_least(1), default=64, help="steps of a rollout (default: 64)")
    parser.add_argument("--width", type=at_least(1), default=128, help="width of encoder and memory (default: 128)")
    parser.add_argument("--memory", default="lstm", choices=["lstm", "mingru", "none"], help="(default: lstm)")
    parser.add_argument("--cores", type=at_least(1), default=16, help="cores that step games (default: 16)")
    parser.add_argument("--game-ns", type=float, help="ns of a step of one environment on one core (default: measured here)")
    parser.add_argument("--games", nargs="+", metavar="GAME", help="the games on the cores beside the games on the GPU")
    parser.add_argument("--check", action="store_true", help="compare with published speeds of other systems, and with ours")
    parser.add_argument("--trace", type=Path, help="file for the timeline of the first device, for ui.perfetto.dev")
    parser.add_argument("--json", action="store_true", help="print the answers as JSON, without the tables of changes")
    parser.add_argument("--out", type=Path, help="file to write the tables to")
    options = parser.parse_args(argv)
    check_games(parser, [options.game, *(options.games or ())])
    rollout = options.num_envs * options.horizon
    if options.minibatch % options.horizon or rollout % options.minibatch:
        parser.error(f"--minibatch must be a multiple of --horizon ({options.horizon}) that divides the rollout of {rollout} "
                     f"steps, not {options.minibatch}")
    if options.num_envs % options.batches:
        parser.error(f"--batches must divide --num-envs ({options.num_envs}), not be {options.batches}")
    return options


def main(argv: list[str]) -> None:
    """Print the answers."""
    options, costs = options_of(argv), Costs()
    game_seconds = options.game_ns * 1e-9 if options.game_ns else 1 / speed(envs_c.game(options.game), "features")
    setting = Setting(options.num_envs, options.minibatch, options.batches, options.cores, game_seconds)
    sizes = {"horizon": options.horizon, "width": options.width}
    devices = [DEVICES[name] for name in options.device]
    recorded = {one: record(options.game, precision=one, memory=options.memory, **sizes)
                for one in {device.precision for device in devices}}
    answers, texts = [], []
    for device in devices:
        iteration = recorded[device.precision]
        answers.append(report.facts(iteration, setting, device, costs))
        if options.trace and device is devices[0]:
            report.write_trace(simulate(iteration, setting, device, costs), options.trace)
        if not options.json:
            rows = [report.row(answer) for answer in report.sweep(iteration, setting, device, costs)]
            kernels = markdown(report.KERNEL_COLUMNS, report.kernel_rows(device))
            texts += [f"\n## {device.title}, modelled\n", markdown(report.COLUMNS, rows), "", kernels]
    if options.json:
        print(json.dumps(answers))
        return
    if options.check:
        texts += ["\n## Measured systems beside the model\n", checks(costs, game_seconds)]
    if options.games:
        speeds = {name: 1 / speed(envs_c.game(name), "features") for name in options.games}
        table = games.rows(options.games, speeds, setting, devices, costs, memory=options.memory, **sizes)
        columns = games.columns(devices, options.cores)
        texts += ["\n## Games on the cores and on the GPU, modelled\n", markdown(columns, list(table))]
    introduction = ("What is called modelled was not measured on a GPU. A step of "
                    f"{options.game} takes {game_seconds * 1e9:.0f} ns on one core"
                    f"{', as given' if options.game_ns else ' of this machine'}.\n")
    publish("\n".join([head("A model of training on GPUs"), introduction, *texts]), options.out)


def checks(costs: Costs, game_seconds: float) -> str:
    """The table of published systems, and of our trainings on an H100 (with the time of a step of the game here)."""
    rows = []
    mingru = [*published.MINGRU, *published.ours("mingru", game_seconds)]
    for precision, memory, systems in (("float32", "lstm", published.LSTM), ("bfloat16", "mingru", mingru),
                                       ("bfloat16", "lstm", published.ours("lstm", game_seconds))):
        recorded = record("breakout", precision=precision, memory=memory, **published.SHAPE)
        rows += report.against(recorded, systems, costs)
    return markdown(["system", "batches", "cores", "measured, steps/s", "modelled", "modelled / measured"], rows)


if __name__ == "__main__":
    main(sys.argv[1:])
