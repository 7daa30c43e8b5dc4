"""A summary of random play: what a game that keeps all rules may still have wrong, such as a `step` that returns no reward."""

import numpy as np

from envs_c.testing.actions import outcomes
from envs_c.testing.play import Play
from envs_c.testing.watchdog import note

NUM_ENVS, STEPS = 16, 2000
MOST_FEATURES = 24  # of a game with more, only those that never change are listed
MOST_ACTIONS = 18


def summary(game) -> tuple[list[str], list[str]]:
    """Lines about random play under the default options, and warnings about suspicious numbers."""
    rewards, lengths, ends, low, high = played(game)
    lines = [f"rewards   mean {rewards.mean():.4g}, from {rewards.min():g} to {rewards.max():g}"]
    warnings = []
    if not rewards.any():
        warnings.append("every reward is 0: let `step` return it, as in `return reward`")
    if lengths:
        lines.append(f"episodes  {len(lengths)}, of {min(lengths)} to {max(lengths)} steps, mean {np.mean(lengths):.0f}; "
                     f"ended by the game: {ends[0]}, by its time limit: {ends[1]}")
    else:
        lines.append(f"episodes  none ended in {STEPS:,} steps of {NUM_ENVS} environments")
    about, without = effects(game)
    lines += about
    if without:
        warnings.append(f"no effect of {', '.join(without)} was seen: each did the same as {game.actions[0]} in every state "
                        "that was tried")
    lines += ranges(game, low, high)
    if not np.isfinite(rewards.sum()):
        warnings.append("rewards are not finite, or too large to be added: 1e38 and more")
    if beyond := np.flatnonzero((low < game.feature_low) | (high > game.feature_high))[:MOST_FEATURES].tolist():
        bounds = [np.broadcast_to(bound, low.shape) for bound in (game.feature_low, game.feature_high)]
        shown = ", ".join(f"[{i}] {low.flat[i]:g} to {high.flat[i]:g}, not {bounds[0].flat[i]:g} to {bounds[1].flat[i]:g}"
                          for i in beyond)
        warnings.append(f"features leave the range that feature_low and feature_high declare: {shown}")
    if (low == high).all():
        warnings.append("no feature ever changes: let `observe` read the state")
    return lines, warnings


def played(game) -> tuple[np.ndarray, list[int], np.ndarray, np.ndarray, np.ndarray]:
    """All rewards, the lengths of the ended episodes, how many the game and its limit ended, and the features' bounds."""
    play = Play(game, NUM_ENVS)
    play.reset()
    random, arrays, lengths, ends = np.random.RandomState(0), play.arrays, [], np.zeros(2, int)
    low, high = arrays["observation"].min(0), arrays["observation"].max(0)
    rewards = np.empty((STEPS, NUM_ENVS), np.float32)
    for step in range(STEPS):
        arrays["actions"][...] = random.randint(0, len(play.core.actions), NUM_ENVS)
        note("step", play)
        play.batch.step()
        rewards[step] = arrays["reward"]
        over = play.core.ended != 0
        lengths += play.core.ended_length[over].tolist()
        ends += (arrays["terminated"][over] != 0).sum(), (arrays["terminated"][over] == 0).sum()
        low, high = np.minimum(low, arrays["observation"].min(0)), np.maximum(high, arrays["observation"].max(0))
    return rewards, lengths, ends, low, high


def effects(game) -> tuple[list[str], list[str]]:
    """A line about the actions, and the names of those without an effect of their own."""
    first, *others = outcomes(game, list(range(len(game.actions))))
    differs = {name: sum(one != other for one, other in zip(first, row, strict=True))
               for name, row in zip(game.actions[1:], others, strict=True)}
    shown = [f"{name} {count}" for name, count in differs.items()][:MOST_ACTIONS]
    more = ", ..." if len(differs) > MOST_ACTIONS else ""
    line = f"actions   of {len(first)} states, each did something else than {game.actions[0]} in: {', '.join(shown)}{more}"
    return [line] if differs else [], [name for name, count in differs.items() if not count]


def ranges(game, low: np.ndarray, high: np.ndarray) -> list[str]:
    """Lines about the features: the range of each, or of many only how many change, and which do not."""
    low, high = low.reshape(-1), high.reshape(-1)
    if low.size <= MOST_FEATURES:
        return ["features  " + ", ".join(f"[{i}] {one:g}" if one == other else f"[{i}] {one:g} to {other:g}"
                                         for i, (one, other) in enumerate(zip(low, high, strict=True)))]
    still = np.flatnonzero(low == high)
    listed = ", ".join(map(str, still[:MOST_FEATURES])) + (", ..." if still.size > MOST_FEATURES else "")
    return [f"features  {low.size}, from {low.min():g} to {high.max():g}; {still.size} never change{': ' if still.size else ''}"
            f"{listed}"]
