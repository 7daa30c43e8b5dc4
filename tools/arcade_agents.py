"""Trains the agents of the arcade and writes them to envs_c/arcade/agents: `python -m tools.arcade_agents [GAME ...]`.

Each is the preset's agent with its own number of steps and an LSTM of 64 units, its weights rounded to 8 bits. A finished run
in RUNS/GAME is not trained again. All sixteen take about two hours on two cores. The rounded agent then plays EPISODES games
as on the page, under the settings of its training. The file's description and the table of docs/arcade.md get its score.
`--score` only plays the agents that are there, which takes half a minute.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.cartridges.agents import LONGEST, rebuilt
from benchmarks.common import score
from benchmarks.likeness.table import write
from envs_c.arcade import agents
from trainer.config import EnvConfig
from trainer.config.games import GameName
from trainer.log.numbers import count
from trainer.play import evaluate

LSTM = 64
SEED = 1  # of the training, and of the evaluation
EPISODES = 100
STEPS = {  # of all environments together
    "asterix": 20_000_000, "asteroids": 8_000_000, "breakout": 20_000_000, "cartpole": 3_000_000, "enduro": 16_000_000,
    "freeway": 8_000_000, "g2048": 12_000_000, "go": 5_000_000, "pacman": 9_000_000, "platformer": 8_000_000,
    "pong": 20_000_000, "seaquest": 8_000_000, "snake": 15_000_000, "space_invaders": 16_000_000, "tetris": 15_000_000,
    "tmaze": 1_500_000,
}
PAGE = Path(__file__).resolve().parent.parent / "docs" / "arcade.md"
BEGIN = "<!-- written by python -m tools.arcade_agents -->"
COLUMNS = ["game", "steps", "seed", "mean score", "games", "options"]


def trainer(*words) -> None:
    """Run a command of the trainer."""
    subprocess.run([sys.executable, "-m", "trainer", *map(str, words)], check=True)


def make(game: str, run: Path) -> bytes:
    """Train an agent, unless `run` is finished. Returns its file, without a record of its score."""
    if not (run / "evaluation.json").exists():
        trainer(game, "--lstm-size", LSTM, "--total-steps", STEPS[game], "--seed", SEED, "--no-dashboard", "--run-dir", run)
    with tempfile.TemporaryDirectory() as scratch:
        exported = Path(scratch, "policy.safetensors")
        trainer("export", run, "--format", "safetensors", "--out", exported)
        return agents.compact(exported.read_bytes())


def record(data: bytes) -> dict[str, Any]:
    """Play an agent of SEED natively as the page does, with sampled actions; returns the record for its file's description."""
    policy, about = rebuilt(data)
    env = EnvConfig(**about["env"], options=about["options"])
    played = evaluate.play(policy, GameName(about["game"]), env, episodes=EPISODES, seed=SEED, longest=LONGEST)
    return {"training_seed": SEED, "evaluation": played.summary()}


def row(data: bytes) -> list[str]:
    """An agent's row in the table of docs/arcade.md."""
    about = agents.described(data)
    played = about["evaluation"]
    error = float(f"{played['standard_error']:.2g}")
    return [about["game"], count(about["step"]), str(about["training_seed"]), f"{score(played['mean'])} ± {score(error)}",
            str(played["episodes"]),
            ", ".join(f"{name} {value:g}" for name, value in about["options"].items()) or "none"]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("games", nargs="*", choices=[[], *STEPS], metavar="GAME", help="all sixteen if none is named")
    parser.add_argument("--runs", type=Path, default=Path("build/arcade_agents"), help="the folder of the runs")
    parser.add_argument("--score", action="store_true", help="train nothing: play the agents that are there")
    arguments = parser.parse_args()
    agents.FOLDER.mkdir(exist_ok=True)
    for name in arguments.games or STEPS:
        target = agents.FOLDER / f"{name}.safetensors"
        made = target.read_bytes() if arguments.score else make(name, arguments.runs / name)
        made = agents.with_record(made, record(made))
        target.write_bytes(made)
        write(PAGE, COLUMNS, [row(made)], [*STEPS], begin=BEGIN)
        print(f"{target}: {len(made):,} bytes, {row(made)[3]}")
