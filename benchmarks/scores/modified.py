"""How policies of the original games fare on changed ones: `python -m benchmarks.scores.modified [GAME or RUN ...]`.

For a game, the arcade's agent plays, which comes with the package. RUN is a run's folder or one of its checkpoints, of a game
written after a cartridge. A changed game is the game with one of its options that change a rule, which are off by default.
Actions are sampled, as in training.
"""

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
from rich.console import Console

import envs_c
from benchmarks.cartridges.agents import PLAIN, Agent, load_agent
from benchmarks.cartridges.twins import TWINS
from benchmarks.common import at_least, head, new_parser, publish, score
from trainer.errors import TrainerError
from trainer.log.text import markdown
from trainer.log.ticker import Ticker
from trainer.play import evaluate
from trainer.results.published import MORE_FEATURES, more_features

NORMAL_95 = 1.96  # standard errors on either side of a mean
NO_CHANGES = {"scatter", "random_serve", "flicker"} | MORE_FEATURES  # options with which the game is the cartridge's, too
COLUMNS = ["game", "option", "the change", "mean score", "truncated", "of the original"]
ABOUT = """
The options of games after cartridges that change one rule each. The table shows policies that were trained on the original
games, without any further training: the agents of the arcade, which come with the package, if no runs are named. Scores are
means over {episodes} episodes with their standard errors, actions sampled. The last column is a ratio of means, if both are
positive, with its 95% interval (both standard errors, by the delta method). Each policy plays in the environments of its
training: those of the package's agents have no sticky actions and no no-ops at the start. An episode has at most 27,000 steps;
"truncated" is the number of episodes that end there: where all do, the ratio measures the limit. There is one policy of each
game.

"""


def changes_of(game: str) -> dict[str, tuple[int, str]]:
    """The options that change a rule, by name: the value that does, and their help without it."""
    found = {}
    for name, option in envs_c.game(game).options.items():
        value = int(1 - option.default)
        if (option.low, option.high) == (0, 1) and option.help.startswith(f"{value}: ") and name not in NO_CHANGES:
            found[name] = value, option.help.removeprefix(f"{value}: ")
    return found


def rows_of(agent: Agent, episodes: int, seed: int) -> Iterator[list[str]]:
    """The rows of one agent: the original game, then each change of it."""
    policy, config, original = agent.policy, agent.config, None
    for option, (value, change) in {"": (0, ""), **changes_of(config.game)}.items():
        settings = replace(config.env, options=more_features(config.env.options) | ({option: float(value)} if option else {}))
        with Ticker(f"{config.game} {option}", Console(stderr=True), line_seconds=60) as tick:
            played = evaluate.play(policy, config.game, settings, episodes=episodes, seed=seed, tick=tick)
        scores = played.returns
        mean, error = scores.mean(), scores.std(ddof=1) / np.sqrt(episodes)
        original = (mean, error) if original is None else original
        yield [config.game, option or "-", change or "the original", f"{score(mean, 3)} ± {score(error, 3)}",
               f"{played.truncated.sum()}", ratio((mean, error), original) if option else "-"]


def ratio(changed: tuple[float, float], original: tuple[float, float]) -> str:
    """The ratio of two means with its 95% interval; "-" if one is not positive. changed, original: (mean, standard error)."""
    if min(changed[0], original[0]) <= 0:
        return "-"
    error = changed[0] / original[0] * np.hypot(changed[1] / changed[0], original[1] / original[0])
    return f"{changed[0] / original[0]:.0%} ± {NORMAL_95 * error:.0%}"


def main(argv: list[str] | None = None) -> list[list[str]]:
    """Print the page; returns the table's rows."""
    parser = new_parser("scores.modified", __doc__)
    parser.add_argument("runs", nargs="*", metavar="GAME or RUN", help=f"what plays (default: all of {', '.join(TWINS)})")
    parser.add_argument("--plain", action="store_true", help=PLAIN)
    parser.add_argument("--episodes", type=at_least(2), default=100, help="episodes of each row (default: 100)")
    parser.add_argument("--seed", type=at_least(0), default=1, help="of the episodes and the actions (default: 1)")
    parser.add_argument("--out", type=Path, help="file to write the page to")
    options = parser.parse_args(argv)
    rows = []
    try:
        for agent in [load_agent(name, plain=options.plain) for name in options.runs or TWINS]:
            for row in rows_of(agent, options.episodes, options.seed):
                rows.append(row)
                print(" | ".join(row), file=sys.stderr, flush=True)
    except TrainerError as error:
        sys.exit(f"error: {error}")
    publish(head("Changed games") + ABOUT.format(episodes=options.episodes) + markdown(COLUMNS, rows), options.out)
    return rows


if __name__ == "__main__":
    main()
