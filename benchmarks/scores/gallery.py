"""Train every game with its preset and record a film: `python -m benchmarks.scores.gallery [GAME ...]`.

Runs `python -m trainer GAME` for one game after the other, then plays 100 episodes and records the best one. Without sticky
actions they start with up to 30 no-ops, if the game has a no-op. Writes docs/gallery/GAME.gif, and a table of the scores and of
random play to benchmarks/results/presets.md. Games not named keep their rows in the table. Unknown options are passed to the
trainer. --no-training only plays at random again, and writes the table of presets.json below the head that the page has.
"""

import json
import subprocess
import sys
import tempfile
from dataclasses import replace
from datetime import date
from pathlib import Path

import numpy as np

import envs_c
from benchmarks.common import above_zero, check_games, head, head_of, new_parser, publish, score
from trainer.config import EnvConfig
from trainer.config.games import GameName
from trainer.config.no_ops import NO_OPS, with_no_ops
from trainer.config.preset import preset
from trainer.environments import make_env
from trainer.log.text import markdown
from trainer.play import evaluate, film
from trainer.policy.load import load_policy
from trainer.runs import checkpoint

EPISODES = 100
RANDOM_EPISODES = 1000  # of random play
STICKY = 0.25  # the probability of sticky actions in the second column of random play, as in seeds.md
COLUMNS = ["game", "seed", "steps", "minutes", "time limit", "no-ops", "random play", f"random play, sticky {STICKY:g}",
           f"mean of {EPISODES} episodes", "different", "standard error", "min", "max", "made"]
NOTES = f"""\
A row is one training, of the seed that it names, with the preset as it was on the day "made". Its {EPISODES} episodes have
sampled actions and no sticky actions; "no-ops" is the most frames of NOOP at their start. The standard error is that of the
episodes: it does not say how much another seed would differ. It counts equal episodes once, where the number of "different"
ones was recorded. [Ten seeds of each game](seeds.md), with and without sticky actions, are the numbers to compare with. "time
limit" is the most frames of an episode, the frame skip times the steps. "-": not recorded. Random play has the settings of
today's preset, with the row's no-ops and without sticky actions, and in its second column with sticky actions of probability
{STICKY:g} and no no-ops; each is a mean of {RANDOM_EPISODES:,} episodes. `python -m benchmarks.scores.gallery --no-training`
writes this page again from its file.
"""


def random_score(game: GameName, settings: EnvConfig) -> float:
    """Return the mean raw return of RANDOM_EPISODES episodes of random play."""
    env = make_env(game, settings, RANDOM_EPISODES, 7)
    actions, outputs = np.zeros(RANDOM_EPISODES, np.int32), np.zeros((3, RANDOM_EPISODES), np.float32)
    observation = np.zeros((RANDOM_EPISODES, *env.observation_shape), env.observation_dtype)
    action_mask = np.ones((RANDOM_EPISODES, len(env.actions)), np.uint8)
    batch = env.bind(0, RANDOM_EPISODES, actions=actions, observation=observation, reward=outputs[0], terminated=outputs[1],
                     truncated=outputs[2], action_mask=action_mask)
    batch.reset()
    random, returns = np.random.default_rng(0), np.full(RANDOM_EPISODES, np.nan)
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
    return {"made": date.today().isoformat(), "seed": config.run.seed, "steps": last["step"], "minutes": last["seconds"] / 60,
            **at_random(game, env.noop_max), **result.summary()}


def at_random(game: GameName, noop_max: int) -> dict[str, float]:
    """The scores of random play in presets.json. noop_max: of the episodes without sticky actions."""
    env = preset(game).env
    return {"random": random_score(game, replace(env, sticky=0.0, noop_max=noop_max)),
            "random_sticky": random_score(game, replace(env, sticky=STICKY, noop_max=0))}


def no_ops_of(row: dict) -> int:
    """The most no-ops at the start of the episodes of an entry of presets.json; earlier entries have none, and no number."""
    return row.get("protocol", {}).get("noop_max") or 0


def save(scores: dict[str, dict], file: Path):
    """Write presets.json."""
    file.write_text(json.dumps(scores, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def rows_of(scores: dict[str, dict]) -> list[list[str]]:
    """Format presets.json as rows of the table."""
    rows = []
    for game, row in sorted(scores.items()):
        protocol = row.get("protocol", {})
        limit = f"{protocol['time_limit'] * protocol['frame_skip']:,}" if protocol else "-"
        rows.append([game, str(row["seed"]), f"{row['steps'] / 1e6:.1f}M", f"{row['minutes']:.1f}", limit,
                     str(no_ops_of(row)),
                     *(score(row[name]) for name in ("random", "random_sticky", "mean")),
                     str(row.get("different_episodes", "-")),
                     *(score(row[name]) for name in ("standard_error", "min", "max")), row["made"]])
    return rows


def below_head(scores: dict[str, dict]) -> str:
    """The page of presets.json without its head."""
    return f"\n{NOTES}\n{markdown(COLUMNS, rows_of(scores))}"


def main(argv: list[str] | None = None):
    parser = new_parser("scores.gallery", __doc__)
    parser.add_argument("games", nargs="*", metavar="GAME", help="games to train (default: all)")
    parser.add_argument("--seconds", type=above_zero, default=15, help="longest film, in seconds (default: 15)")
    parser.add_argument("--gifs", type=Path, default=Path("docs/gallery"), help="folder for the films (default: docs/gallery)")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results"),
                        help="folder for the results (default: benchmarks/results)")
    parser.add_argument("--runs", type=Path, metavar="FOLDER",
                        help="take the runs of a bench in this folder, seed 1 without sticky actions, in place of training")
    parser.add_argument("--no-training", action="store_true",
                        help="play at random again and write the page of presets.json in --out, and no film")
    options, more = parser.parse_known_args(argv)
    if more and (options.runs or options.no_training):
        parser.error(f"no training is made with {'--runs' if options.runs else '--no-training'}, so {more[0]} has no meaning")
    check_games(parser, options.games)
    kept, page = options.out / "presets.json", options.out / "presets.md"
    scores = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else {}
    if options.no_training:
        if options.games or options.runs or not (scores and page.is_file()):
            parser.error("--no-training writes the page again that --out has, of all games: name no game and no --runs, and "
                         f"{options.out} must have presets.json and presets.md")
        for name, row in scores.items():
            row |= at_random(GameName(name), no_ops_of(row))
        save(scores, kept)
        publish(head_of(page) + below_head(scores), page)
        return
    games = [GameName(game) for game in options.games or envs_c.games()]
    runs = {game: options.runs / f"{game}-sticky0-s1" for game in games} if options.runs else {}
    for run in runs.values():
        if not (run / "metrics.jsonl").is_file():
            parser.error(f"--runs must be the folder of a bench, with the run {run.name}, not {options.runs}: name the games "
                         "that it has, or another folder")
    options.out.mkdir(parents=True, exist_ok=True)
    for game in games:
        with tempfile.TemporaryDirectory() as root:
            folder = runs[game] if runs else train(game, Path(root), more)
            scores[game] = show(game, folder, options.gifs / f"{game}.gif", options.seconds)
        save(scores, kept)
        publish(head("Scores of the presets") + below_head(scores), page)


if __name__ == "__main__":
    main()
