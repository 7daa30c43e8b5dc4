"""Matches of self-play against the anchors, the game's own opponents: when a policy joins the pool, and at the end of a run."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from trainer.config import EnvConfig, RunConfig
from trainer.play import film
from trainer.play.evaluate import Evaluation, best, filmed, note, play, play_protocols, together, write_summary
from trainer.policy.policy import Policy
from trainer.ranks import Ranks
from trainer.self_play.league import League


def after_iteration(league: League, iteration: int, ranks: Ranks) -> dict[str, float | None]:
    """Record the iteration's games and rate the new members; returns the metrics of self-play."""
    league.end(iteration, ranks)
    for number in range(league.rated, league.pool.size):  # at first the untrained policy, later the newest
        rate(league, number, ranks)
    return league.metrics()


def rate(league: League, number: int, ranks: Ranks):
    """Play member `number` against the anchors, on rank 0, and compute all ratings again."""
    policy, _ = league.pool.player(number)
    episodes, seed = league.settings.anchor_games, league.seed + number
    for name in league.anchors if episodes else ():
        returns = ranks.broadcast_slow(lambda go_on, name=name: _match(league, policy, name, episodes, seed, go_on).returns)
        league.note_anchor(name, returns, number)
    league.rate(number)


def finish(policy: Policy, league: League, run: RunConfig, folder: Path, log, *, step: int):
    """Evaluate the learner at the end of a training: against each anchor, then all ratings.

    step: of the training, as in its last checkpoint.

    Sampled actions count for the ratings; greedy ones are only stated. evaluation.json holds the result against the last
    anchor, the strongest, and all results under "opponents". The film shows the best game against the strongest. These games
    come first, and evaluation.json is written after each anchor, so an interrupt loses only the rest.
    """
    played: dict[str, list[Evaluation]] = {}  # with sampled, and with greedy actions
    for name in reversed(league.anchors):
        played[name] = play_protocols(policy, league.game, _against(league, name), greedy=None if run.eval_greedy else False,
                                      episodes=run.eval_episodes, seed=run.seed, ticker=log.ticker,
                                      filmed=film.SECONDS if run.gif and not played else 0.0)
        strongest, *_ = played.values()
        for result in played[name]:
            log.note(f"against {name}: won {(result.returns > 0).mean():.0%}")
            note(log, result)
        opponents = {each: together(played[each]) for each in league.anchors if each in played}
        write_summary(folder, together(strongest) | {"opponents": opponents} | filmed(strongest[0], run), step)
        league.note_anchor(name, played[name][0].returns, league.pool.size)
        if run.gif and len(played) == 1:
            log.note(film.write_or_say(strongest[0], best(strongest[0]), folder / "episode.gif"))
    league.write(folder)
    for line in league.describe().splitlines():
        log.note(line)


def _match(league: League, policy: Policy, name: str, episodes: int, seed: int, go_on: Callable[[], None]) -> Evaluation:
    """Games of a policy against the anchor `name`. go_on: called after each step."""
    return play(policy, league.game, _against(league, name), episodes=episodes, seed=seed, tick=lambda *_: go_on())


def _against(league: League, name: str) -> EnvConfig:
    """The environments for games against the anchor `name`."""
    return replace(league.env, options=league.env.options | league.anchors[name])
