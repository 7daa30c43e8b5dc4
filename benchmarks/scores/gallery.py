"""Train every game with its preset and record a film: `python -m benchmarks.scores.gallery [GAME ...]`.

Runs `python -m trainer GAME` for one game after the other, then plays 100 episodes and records the best one. Without sticky
actions they start with up to 30 no-ops, if the game has a no-op. Writes docs/gallery/GAME.gif, and a table of the scores and of
random play to benchmarks/results/presets.md. Games not named keep their rows in the table; "no-ops" says how they were played.
Unknown options are passed to the trainer.
"""

import json
import subprocess
import sys
import tempfile
from datetime import date
from pathlib import Path

import numpy as np

import envs_c
from benchmarks.common import check_games, head, new_parser, publish, score
from trainer.config.games import GameName
from trainer.config.no_ops import NO_OPS, with_no_ops
from trainer.config.preset import preset
from trainer.environments import make_env
from trainer.log.text import markdown
from trainer.play import evaluate, film
from trainer.policy.load import load_policy
from trainer.runs import checkpoint

EPISODES = 100


def random_score(game: GameName) -> float:
    """Return the mean raw return of EPISODES episodes of random play with the preset's settings."""
    settings = preset(game).env
    env = make_env(game, settings, EPISODES, 7)
    actions, outputs = np.zeros(EPISODES, np.int32), np.zeros((3, EPISODES), np.float32)
    observation = np.zeros((EPISODES, *env.observation_shape), env.observation_dtype)
    action_mask = np.ones((EPISODES, len(env.actions)), np.uint8)
    batch = env.bind(0, EPISODES, actions=actions, observation=observation, reward=outputs[0], terminated=outputs[1],
                     truncated=outputs[2], action_mask=action_mask)
    batch.reset()
    random, returns = np.random.default_rng(0), np.full(EPISODES, np.nan)
    while np.isnan(returns).any():
        actions[:] = (random.random(action_mask.shape) * action_mask).argmax(1)
        batch.step()
        ended = (env.ended != 0) & np.isnan(returns)
        returns[ended] = env.ended_return[ended]
    return float(returns.mean())


def train(game: str, root: Path, more: list[str]) -> Path:
    """Train one game; returns the run's folder."""
    folder = root / game
    subprocess.run([sys.executable, "-m", "trainer", game, "--run-dir", str(folder), "--eval-episodes", "0", *more], check=True)
    return folder


def show(game: str, folder: Path, gif: Path, seconds: float) -> dict:
    """Evaluate and film one game's run. Returns its entry in presets.json."""
    last = json.loads((folder / "metrics.jsonl").read_text(encoding="utf-8").splitlines()[-1])
    policy, config = load_policy(checkpoint.latest(str(folder)), "cpu")
    env = with_no_ops(config.game, config.env, NO_OPS)
    result = evaluate.play(policy, config.game, env, episodes=EPISODES, seed=config.run.seed, filmed=seconds)
    gif.parent.mkdir(parents=True, exist_ok=True)
    best = int(result.returns.argmax())
    print(film.write(result, best, gif, seconds, then=[i for i in range(EPISODES) if i != best]), flush=True)
    made = date.today().isoformat()
    return {"made": made, "steps": last["step"], "minutes": last["seconds"] / 60, "random": random_score(game),
            **result.summary()}


def rows_of(scores: dict[str, dict]) -> list[list[str]]:
    """Format presets.json as rows of the table."""
    return [[game, f"{row['steps'] / 1e6:.1f}M", f"{row['minutes']:.1f}",
             *(score(row[name]) for name in ("random", "mean", "standard_error", "min", "max")),
             str(row.get("protocol", {}).get("noop_max") or 0), row["made"]]
            for game, row in sorted(scores.items())]


def main():
    parser = new_parser("scores.gallery", __doc__)
    parser.add_argument("games", nargs="*", metavar="GAME", help="games to train (default: all)")
    parser.add_argument("--seconds", type=float, default=15, help="longest film, in seconds (default: 15)")
    parser.add_argument("--gifs", type=Path, default=Path("docs/gallery"), help="folder for the films (default: docs/gallery)")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results"),
                        help="folder for the results (default: benchmarks/results)")
    parser.add_argument("--runs", type=Path, metavar="FOLDER",
                        help="take the runs of a bench in this folder, seed 1 without sticky actions, in place of training")
    options, more = parser.parse_known_args()
    if more and options.runs:
        parser.error(f"no training is made with --runs, so {more[0]} has no meaning")
    check_games(parser, options.games)
    kept = options.out / "presets.json"
    scores = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else {}
    for game in map(GameName, options.games or envs_c.games()):
        with tempfile.TemporaryDirectory() as root:
            folder = options.runs / f"{game}-sticky0-s1" if options.runs else train(game, Path(root), more)
            scores[game] = show(game, folder, options.gifs / f"{game}.gif", options.seconds)
        options.out.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps(scores, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        columns = ["game", "steps", "minutes", "random play", f"mean of {EPISODES} episodes", "standard error", "min", "max",
                   "no-ops", "made"]
        publish(head("Scores of the presets") + "\n" + markdown(columns, rows_of(scores)), options.out / "presets.md")


if __name__ == "__main__":
    main()
