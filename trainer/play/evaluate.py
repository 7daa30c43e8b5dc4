"""Evaluation of a policy: one whole episode in each environment. Short episodes must not count more than long ones."""

import contextlib
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from bridge import Pipeline, open_device
from bridge.gymnasium_source import GymnasiumSource
from bridge.source import GameSource
from envs_c.files import write_atomically
from envs_c.machine import cores
from trainer.config import EnvConfig, RunConfig
from trainer.config.games import GameName
from trainer.config.no_ops import with_no_ops
from trainer.environments import episode_seed, make_env, make_source, rate_of, single
from trainer.errors import ConfigError, FilmError, SettingError
from trainer.files import writing
from trainer.play import film, scores
from trainer.play.described import describe
from trainer.play.replay import draws, make_drawn, require_drawn
from trainer.policy.load import load_run
from trainer.policy.policy import Policy
from trainer.process import program_name
from trainer.rollout.actor import Actor, collect
from trainer.rollout.storage import Storage
from trainer.runs import checkpoint
from trainer.runs.evaluation import EVALUATION, protocol
from trainer.runs.metrics import ADVICE

LONGEST = 100_000  # steps: an evaluation truncates episodes here if neither game nor settings do it earlier
NO_GREEDY = "there is no evaluation with greedy actions: {}"
WITH_AN_END = "give them an end with gymnasium.wrappers.TimeLimit and the setting wrap (docs/gymnasium.md)"

Ticks = Callable[[int, int, str], None]  # called with episodes that have ended, all episodes, and a note


class Evaluation(NamedTuple):
    """The results of E episodes, and the data to replay any of them."""

    returns: np.ndarray              # (E,) float64, raw
    lengths: np.ndarray              # (E,) int32, steps
    truncated: np.ndarray            # (E,) bool: True if a limit of steps ended the episode
    source: GameSource | GymnasiumSource
    states: dict[str, torch.Tensor]  # of all environments at the start; empty if the source cannot save them
    actions: np.ndarray              # (T, E, ...) as in the slab, of the first T steps: those that a film may show
    pictures: list[np.ndarray]       # observations of episode 0 in these steps, if it cannot be replayed and they are pictures
    protocol: dict[str, Any]         # see trainer/runs/evaluation.py
    fingerprints: np.ndarray         # (E,) uint64: equal for equal episodes, see trainer/play/scores.py
    redraw: Callable[[int], GymnasiumSource] | None = None  # makes an environment with a seed, to replay an episode and draw it

    @property
    def replays(self) -> bool:
        """True if any episode can be replayed and drawn, not only episode 0."""
        return bool(self.states) or self.redraw is not None

    def summary(self) -> dict:
        """The protocol; of the returns mean, median, lowest, highest, standard error, 95% interval of the mean; mean length;
        the number of episodes that were truncated.

        Equal episodes, in all observations, actions and rewards, count as one score in standard error and interval.
        """
        returns = self.returns
        first, count = scores.groups(self.fingerprints)
        return {"protocol": self.protocol, "episodes": len(returns), "different_episodes": len(first),
                "mean": float(returns.mean()), "standard_error": scores.error(returns[first], count),
                "mean_interval": scores.interval(returns[first], count),
                "median": float(np.median(returns)), "min": float(returns.min()), "max": float(returns.max()),
                "mean_length": float(self.lengths.mean()), "truncated": int(self.truncated.sum())}


def play(policy: Policy, game: GameName, env: EnvConfig, *, episodes: int, seed: int, greedy: bool = False,
         filmed: float = 0.0, longest: int | None = None, tick: Ticks | None = None) -> Evaluation:
    """Play whole episodes side by side, one in each environment.

    policy: plays on the device of its parameters.
    game: name of the game.
    env: settings of the environments; num_envs and num_batches are not used.
    episodes: number of episodes.
    seed: the same seed gives the same episodes.
    greedy: take the most likely action instead of sampling.
    filmed: seconds of an episode that a film may show; actions and pictures are kept for no longer.
    longest: steps after which an episode of our own games is truncated, if neither game nor settings do it earlier; None:
        LONGEST.
    tick: called after each step, to show the progress.

    An environment whose episode has ended is not stepped any more, if the source can hold it.
    Raises ConfigError if an environment does not end its episode, or its score is not finite.
    """
    device = open_device(str(next(policy.parameters()).device))
    env = single(game, env)
    if not game.is_gym:
        limit = make_env(game, env, 1, 0).time_limit or LONGEST
        env = replace(env, time_limit=min(limit, longest or LONGEST))
    source = make_source(game, env, episodes, episode_seed(game, seed))
    threads = torch.get_num_threads()
    torch.set_num_threads(env.num_threads or cores())
    pipeline = Pipeline(source, 1, device)
    try:
        played = _play(policy, pipeline, seed, greedy, int(min(filmed * rate_of(source), LONGEST)), tick)
        return played._replace(redraw=partial(make_drawn, game, env)) if draws(source) else played
    finally:
        pipeline.close()
        torch.set_num_threads(threads)


def _play(policy: Policy, pipeline: Pipeline, seed: int, greedy: bool, kept: int, tick: Ticks | None) -> Evaluation:
    """Play until the first episode of every environment has ended.

    kept: steps whose actions and pictures are kept.
    """
    storage = Storage.empty(1, pipeline, policy)
    actor = Actor(policy, pipeline, storage, seed, greedy=greedy)
    pipeline.reset()
    states = pipeline.source.state()
    count, slab = pipeline.num_envs, pipeline.slabs[0]
    returns, lengths = np.zeros(count), np.zeros(count, np.int32)
    truncated, running = np.zeros(count, bool), np.ones(count, bool)
    actions, pictures, step, fingerprints = [], [], 0, scores.Fingerprints(count)
    fingerprints.add(slab.host["observation"], running)
    filmable = not (states or draws(pipeline.source)) and len(pipeline.source.observation_shape) == 2
    while running.any():
        if step == LONGEST:
            raise ConfigError(f"{running.sum()} of {count} episodes did not end within {LONGEST:,} steps, and an evaluation "
                              f"plays whole ones: {WITH_AN_END}")
        if filmable and running[0] and step < kept:
            pictures.append(slab.host["observation"][0].copy())
        collect(actor, bootstrap=False)
        pipeline.settle()
        fingerprints.add(slab.host_actions, running)
        if step < kept:
            actions.append(slab.host_actions.copy())
        step += 1
        ended = pipeline.take_episodes()
        first = running[ended.environments]
        returns[ended.environments[first]] = ended.returns[first]
        lengths[ended.environments[first]] = ended.lengths[first]
        truncated[ended.environments[first]] = slab.host["truncated"][ended.environments[first]]
        running[ended.environments] = False
        for name in ("reward", "observation"):  # of those that go on: behind an end another episode is observed
            fingerprints.add(slab.host[name], running)
        pipeline.hold(ended.environments)
        if tick:
            tick(count - int(running.sum()), count, f"have ended, at step {step:,}")
    if not np.isfinite(returns).all():
        found = int((~np.isfinite(returns)).argmax())
        raise ConfigError(f"environment {found} returned rewards whose sum over its episode is {returns[found]}, so there is "
                          f"no score: correct the game (`{program_name()} check` tests a game)")
    fingerprints.add(returns, ~running)
    played = pipeline.source.env if pipeline.source.saves else None  # a Gymnasium environment has its own protocol
    settings = {name: getattr(played, name, None) for name in ("sticky", "noop_max", "frame_skip", "time_limit")}
    return Evaluation(returns, lengths, truncated, pipeline.source, states, _stacked(actions, slab.host_actions), pictures,
                      protocol(greedy=greedy, **settings), fingerprints.numbers)


def play_protocols(policy: Policy, game: GameName, env: EnvConfig, *, greedy: bool | None, sticky: Sequence[float] = (),
                   noop_max: int | None = None, filmed: float = 0.0, ticker: Callable[[str], Any] | None = None,
                   note: Callable[[str], Any] | None = None, episodes: int, seed: int) -> list[Evaluation]:
    """Evaluations side by side, each as by `play`: sampled and then greedy actions, for each probability of sticky actions.

    greedy: only greedy (True) or only sampled actions (False); None: both.
    sticky: probabilities of sticky actions; none: the one in `env`.
    noop_max: of evaluations without sticky actions, while others have none, see `with_no_ops`; None: the one in `env`.
    filmed: of the first evaluation.
    ticker: makes a context manager that shows progress; called with a text, see trainer/log/ticker.py.
    note: called with a line if greedy actions after sampled ones fail; without it they raise ConfigError as by `play`.
    Raises SettingError if a Gymnasium environment is to get sticky actions or no-ops.
    """
    for name, given in (("sticky", bool(sticky)), ("noop_max", noop_max is not None)):
        if given and game.is_gym:
            raise SettingError(name, f"must be left out for {game}: only our own games have this setting, and the environment "
                                     "may have an option of its own")
    played = []
    for probability in sticky or (env.sticky,):
        for likeliest in (False, True) if greedy is None else (greedy,):
            chosen = with_no_ops(game, replace(env, sticky=probability), noop_max)
            task = f"evaluating {episodes:,} episodes, {'greedy' if likeliest else 'sampled'} actions"
            try:
                with ticker(task) if ticker else contextlib.nullcontext() as tick:
                    played.append(play(policy, game, chosen, episodes=episodes, seed=seed, greedy=likeliest, tick=tick,
                                       filmed=0.0 if played else filmed))
            except ConfigError as error:
                if not (note and likeliest and greedy is None):
                    raise
                note(NO_GREEDY.format(error))
    return played


def together(played: Sequence[Evaluation]) -> dict[str, Any]:
    """The summary of the first evaluation; those of the others are in "others"."""
    return played[0].summary() | {"others": [one.summary() for one in played[1:]]}


def _stacked(actions: list[np.ndarray], like: np.ndarray) -> np.ndarray:
    """Actions of T steps in one array, with the shape and dtype of `like` in each; T may be 0."""
    return np.array(actions, like.dtype).reshape(-1, *like.shape)


def evaluate_run(run: str | Path, *, episodes: int, seed: int, device: str, greedy: bool | None, out: str | None,
                 sticky: Sequence[float] = (), noop_max: int | None = None, ticker: Callable[[str], Any] | None = None,
                 trust_code: bool = False) -> dict:
    """Evaluate a run's newest checkpoint, or the given checkpoint.

    out: a .gif or .mp4 for a film of the best episode of the first evaluation, or None.
    episodes, seed: see `play`. greedy, sticky, noop_max, ticker: see `play_protocols`. trust_code: as for `load_policy`.

    Returns the summaries of `together` with "path", the checkpoint, "missing", a line for each evaluation with greedy actions
    that failed, and "film", a line about the film, or why there is none.
    """
    if out is not None:
        film.check_name(out)
    path, policy, config = load_run(run, device, trust_code=trust_code)
    missing: list[str] = []
    played = play_protocols(policy, config.game, config.env, episodes=episodes, seed=seed, greedy=greedy, sticky=sticky,
                            noop_max=noop_max, filmed=film.SECONDS if out else 0.0, ticker=ticker, note=missing.append)
    summary = {**together(played), "path": str(path), "missing": missing}
    if out is not None:
        summary["film"] = film.write_or_say(played[0], best(played[0]), Path(out))
    return summary


def record_run(run: str | Path, *, episodes: int, seed: int, device: str, greedy: bool, out: str | None,
               trust_code: bool = False) -> list[str]:
    """Film the best, the median and the worst episode of a run, each into its own file.

    out: FILE.gif or FILE.mp4 for FILE-best.gif and so on; None for episode.gif in the run's folder.
    episodes, seed, greedy: see `play`. trust_code: as for `load_policy`.

    Returns a line about each film. Raises ConfigError if a film cannot be written, and RunError if the episodes cannot be
    replayed.
    """
    path = checkpoint.latest(run)
    out = path.parent / "episode.gif" if out is None else Path(out)
    films = {which: out.with_name(f"{out.stem}-{which}{out.suffix}") for which in ("best", "median", "worst")}
    for file in films.values():
        film.check_name(file)
    path, policy, config = load_run(path, device, trust_code=trust_code)
    if config.game.is_gym:
        try:
            require_drawn(config.game, single(config.game, config.env))
        except FilmError as error:
            raise FilmError(f"record must be able to draw any episode, but {error}; `eval RUN --out FILE` films the first "
                            "episode if its observations are pictures") from error
    result = play(policy, config.game, config.env, episodes=episodes, seed=seed, greedy=greedy, filmed=film.SECONDS)
    order = result.returns.argsort(kind="stable")
    chosen = {"best": best(result), "median": order[(len(order) - 1) // 2], "worst": order[0]}
    return [film.write(result, int(index), films[which]) for which, index in chosen.items()]


def finish(policy: Policy, game: GameName, env: EnvConfig, run: RunConfig, folder: Path, log, *, step: int):
    """Evaluate the policy at the end of a training: log each summary, write evaluation.json, film the best episode.

    step: of the training, as in its last checkpoint.

    Sampled actions come first and are written, so an interrupt or a greedy policy that ends no episode loses only the rest.
    Scores are printed before they are written: a full disk does not lose them. Raises FileError then.
    """
    common = {"episodes": run.eval_episodes, "seed": run.seed, "ticker": log.ticker}
    played = play_protocols(policy, game, env, greedy=False, filmed=film.SECONDS if run.gif else 0.0, **common)
    shown = filmed(played[0], run)
    note(log, played[0])
    write_summary(folder, together(played) | shown, step)
    if run.gif:
        log.note(film.write_or_say(played[0], best(played[0]), folder / "episode.gif"))
    if not run.eval_greedy:
        return
    try:
        played += play_protocols(policy, game, env, greedy=True, **common)
    except ConfigError as error:
        log.note(NO_GREEDY.format(error))
        return
    note(log, played[1])
    write_summary(folder, together(played) | shown, step)


def note(log, played: Evaluation):
    """Print an evaluation. log: the `RunLog` of a training."""
    for line in describe(played.summary()).splitlines():
        log.note(line)


def write_summary(folder: Path, summary: dict, step: int):
    """Write a run's evaluation.json. step: of the checkpoint that was evaluated. Raises FileError."""
    with writing(folder / EVALUATION, ADVICE):
        write_atomically(folder / EVALUATION, [json.dumps(summary | {"step": step}, indent=2).encode(), b"\n"])


def filmed(played: Evaluation, run: RunConfig) -> dict[str, float]:
    """The score of the episode in episode.gif, for the run's evaluation.json; empty without a film."""
    return {"film_score": float(played.returns[best(played)])} if run.gif else {}


def best(result: Evaluation) -> int:
    """The number of the best episode, or 0 if episodes cannot be replayed: only episode 0 has pictures then."""
    return int(result.returns.argmax()) if result.replays else 0
