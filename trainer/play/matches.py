"""Games of a run of self-play against the game's own opponents, which measure it: when a policy joins, and at the end."""

from dataclasses import replace
from pathlib import Path

import torch

from trainer.config import Config
from trainer.play import film
from trainer.play.evaluate import Evaluation, best, describe, play, write_summary


def against(config: Config, options: dict) -> Config:
    """The same settings with one of the game's own opponents on the other side."""
    return replace(config, env=replace(config.env, options=config.env.options | options))


def after_iteration(session) -> dict[str, float | None]:
    """What belongs to self-play at an iteration's end; returns its metrics."""
    league = session.league
    league.end(session.iteration, session.ranks)
    for number in range(league.rated, league.pool.size):  # the untrained one, and then whoever joined just now
        measure(session, number)
    return league.metrics()


def measure(session, number: int):
    """A member's games against the built-in opponents, which rank 0 plays, and the ratings by them."""
    league, config = session.league, session.config
    network, _ = league.pool.player(number)
    for name, options in league.anchors.items() if config.self_play.anchor_games else ():
        settings = against(config, options)
        league.note_anchor(name, session.ranks.first(
            lambda settings=settings: play(network, settings, episodes=config.self_play.anchor_games,
                                           seed=config.run.seed + number).returns), number)
    torch.set_num_threads(session.threads)  # `play` took as many as the settings of all ranks say
    league.rate(number)


def finish(session, folder: Path, log):
    """The evaluation at the end: against each of the game's own opponents, then everybody's ratings.

    evaluation.json is that against the last, the strongest, with the others' under "opponents"; the film is of its best game.
    """
    run, league = session.config.run, session.league
    played: dict[str, Evaluation] = {}
    for name, options in league.anchors.items():
        played[name] = play(session.policy, against(session.config, options), episodes=run.eval_episodes, seed=run.seed)
        league.note_anchor(name, played[name].returns, league.pool.size)
        summary = played[name].summary()
        log.note(f"against {name}: won {(played[name].returns > 0).mean():.0%}; {describe(summary)}")
    league.write(folder)
    log.note(league.describe())
    if played:
        opponents = {name: result.summary() for name, result in played.items()}
        write_summary(folder, summary | {"opponents": opponents})
        if run.gif:
            log.note(film.write(played[name], best(played[name]), folder / "episode.gif"))
