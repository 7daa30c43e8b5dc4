"""Matches of self-play against the anchors, the game's own opponents: when a policy joins the pool, and at the end of a run."""

from dataclasses import replace
from pathlib import Path

from trainer.config import RunConfig
from trainer.play import film
from trainer.play.evaluate import Evaluation, best, describe, play, together, write_summary
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
    episodes = league.settings.anchor_games
    for name in league.anchors if episodes else ():
        returns = ranks.broadcast(lambda name=name: _match(league, policy, name, episodes, league.seed + number).returns)
        league.note_anchor(name, returns, number)
    league.rate(number)


def finish(policy: Policy, league: League, run: RunConfig, folder: Path, log):
    """Evaluate the learner at the end of a training: against each anchor, then all ratings.

    Sampled actions count for the ratings; greedy ones are only stated. evaluation.json holds the result against the last
    anchor, the strongest, and the others under "opponents". The film shows the best game against the last anchor.
    """
    played: dict[str, Evaluation] = {}
    both: dict[str, list[Evaluation]] = {}  # with sampled, and with greedy actions
    for name in league.anchors:
        played[name] = _match(league, policy, name, run.eval_episodes, run.seed, film.SECONDS if run.gif else 0.0)
        league.note_anchor(name, played[name].returns, league.pool.size)
        likeliest = [_match(league, policy, name, run.eval_episodes, run.seed, greedy=True)] if run.eval_greedy else []
        both[name] = [played[name], *likeliest]
        for result in both[name]:
            log.note(f"against {name}: won {(result.returns > 0).mean():.0%}; {describe(result.summary())}")
    league.write(folder)
    log.note(league.describe())
    if played:
        opponents = {name: together(results) for name, results in both.items()}
        write_summary(folder, opponents[name] | {"opponents": opponents})
        if run.gif:
            log.note(film.write(played[name], best(played[name]), folder / "episode.gif"))


def _match(league: League, policy: Policy, name: str, episodes: int, seed: int, filmed: float = 0.0, *,
           greedy: bool = False) -> Evaluation:
    """Games of a policy against the anchor `name`; filmed, greedy: as in `play`."""
    env = replace(league.env, options=league.env.options | league.anchors[name])
    return play(policy, league.game, env, episodes=episodes, seed=seed, greedy=greedy, filmed=filmed)
