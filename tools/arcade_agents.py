"""Trains the agents of the arcade and writes them to envs_c/arcade/agents: `python -m tools.arcade_agents [GAME ...]`.

Each is the preset's agent with a smaller LSTM and fewer steps, its weights rounded to 8 bits. A finished run in RUNS/GAME is
not trained again. All sixteen take about two hours on two cores.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from envs_c.arcade import agents

LSTM = 64
STEPS = {  # of all environments together
    "asterix": 20_000_000, "asteroids": 8_000_000, "breakout": 20_000_000, "cartpole": 3_000_000, "enduro": 16_000_000,
    "freeway": 8_000_000, "g2048": 12_000_000, "go": 5_000_000, "pacman": 9_000_000, "platformer": 8_000_000,
    "pong": 20_000_000, "seaquest": 8_000_000, "snake": 15_000_000, "space_invaders": 16_000_000, "tetris": 15_000_000,
    "tmaze": 1_500_000,
}


def trainer(*words) -> None:
    """Run a command of the trainer."""
    subprocess.run([sys.executable, "-m", "trainer", *map(str, words)], check=True)


def make(game: str, run: Path) -> Path:
    """Train an agent, unless `run` is finished, and write it. Returns the agent's path."""
    if not (run / "evaluation.json").exists():
        trainer(game, "--lstm-size", LSTM, "--total-steps", STEPS[game], "--seed", 1, "--no-dashboard", "--run-dir", run)
    with tempfile.TemporaryDirectory() as scratch:
        exported = Path(scratch, "policy.safetensors")
        trainer("export", run, "--format", "safetensors", "--out", exported)
        target = agents.FOLDER / f"{game}.safetensors"
        target.parent.mkdir(exist_ok=True)
        target.write_bytes(agents.compact(exported.read_bytes()))
    return target


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("games", nargs="*", choices=[[], *STEPS], metavar="GAME", help="all sixteen if none is named")
    parser.add_argument("--runs", type=Path, default=Path("build/arcade_agents"), help="the folder of the runs")
    arguments = parser.parse_args()
    for name in arguments.games or STEPS:
        made = make(name, arguments.runs / name)
        print(f"{made}: {made.stat().st_size:,} bytes")
