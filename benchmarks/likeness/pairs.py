"""Our game and its cartridge play on from the same start with the same random actions."""

from dataclasses import dataclass, field

import numpy as np

import envs_c
from benchmarks.cartridges.features import open_cartridge
from benchmarks.cartridges.lockstep import twin_of
from benchmarks.likeness.games import GAMES, SET, Compared, Values

OFTEN = 0.2      # probability of a new action in a frame
TRIES = 200    # starts that are drawn until one can be compared
PICTURES = 10  # frames from one comparison of pictures to the next


@dataclass
class Pair:
    """Our game and the cartridge at the start of a comparison, and their random actions."""

    game: str
    ours: object
    theirs: object
    random: np.random.Generator
    frame: int = 0
    action: int = 0

    def step(self) -> bool:
        """Play a frame on both sides; returns whether one of them has ended."""
        if self.random.random() < OFTEN:
            self.action = int(self.random.integers(len(self.theirs.actions)))
        over = self.ours.step(self.action)[1], self.theirs.step(self.action)[1]
        self.frame += 1
        return any(over)

    def states(self) -> tuple[dict, dict]:
        """The states of both, of those fields that RAM tells."""
        theirs = self.theirs.state()
        ours = self.ours.read()
        mine = {name: ours[name] for name in (*theirs, *(("free",) if self.game == "pong" else ()))}
        return mine, theirs


@dataclass
class Comparison:
    """The frames of one start.

    start: the frame of the game at which it began.
    identical: for each frame, whether all objects and counts were equal.
    away: by object the distances of all frames in which both sides show it, in pixels.
    pictures: rows of (grey difference, colour difference, share of equal pixels).
    """

    start: int
    identical: list[bool] = field(default_factory=list)
    away: dict[str, list[float]] = field(default_factory=dict)
    pictures: list[tuple[float, float, float]] = field(default_factory=list)

    @property
    def first(self) -> int | None:
        """The first frame that differs, from 1; None if there is none."""
        return None if all(self.identical) else 1 + self.identical.index(False)


def begin(game: str, random: np.random.Generator, theirs) -> Pair:
    """Both sides at a random start, `after` to `reach` frames into the game.

    theirs: the cartridge, which is put back to its reset.
    """
    compared = GAMES[game]
    for _ in range(TRIES):
        pair = Pair(game, twin_of(game), theirs.restart(), random)
        if compared.start == SET:
            if set_start(pair, compared):  # else another start is drawn
                return pair
        elif not any(pair.step() for _ in range(int(random.integers(compared.after, compared.reach)))):
            return pair
    raise RuntimeError(f"{game}: {TRIES} starts ended too early or were refused by our game: {game}.py reads RAM wrongly")


def set_start(pair: Pair, compared: Compared) -> bool:
    """Let the cartridge play alone, then set our game to it; returns False if it has ended or our game has no such state."""
    for _ in range(int(pair.random.integers(compared.after, compared.reach))):
        if pair.random.random() < OFTEN:
            pair.action = int(pair.random.integers(len(pair.theirs.actions)))
        if pair.theirs.step(pair.action)[1]:
            return False
    try:
        pair.ours.change(**pair.theirs.state())
    except envs_c.InvalidState:
        return False
    pair.frame = pair.theirs.frames
    return True


def compare(pair: Pair, frames: int) -> Comparison:
    """Play `frames` frames on both sides, or until one has ended."""
    compared, result = GAMES[pair.game], Comparison(pair.frame)
    for frame in range(frames):
        if pair.step():
            break
        ours, theirs = pair.states()
        mine, other = compared.objects(ours), compared.objects(theirs)
        same = all(np.array_equal(mine[name], other[name], equal_nan=True) for name in mine)
        result.identical.append(same and all(np.array_equal(ours[name], theirs[name]) for name in compared.counts))
        for name, away in distances(mine, other).items():
            result.away.setdefault(name, []).extend(away)
        if frame % PICTURES == PICTURES - 1:
            result.pictures.append(difference(pair.ours.picture(), pair.theirs))
    return result


def distances(ours: Values, theirs: Values) -> dict[str, list[float]]:
    """By object the distances in pixels, along each axis, of what both sides show."""
    away = {name: np.abs(ours[name] - theirs[name]) for name in ours}
    return {name: values[~np.isnan(values)].tolist() for name, values in away.items()}


def difference(ours: np.ndarray, theirs) -> tuple[float, float, float]:
    """Mean differences of grey and of colours, 0 to 255, and the share of equal pixels. The maker's strip is masked."""
    mine, other = ours[:theirs.MAKER].astype(int), theirs.screen()[:theirs.MAKER].astype(int)
    grey = np.abs((mine - other) @ [0.299, 0.587, 0.114]).mean()
    return float(grey), float(np.abs(mine - other).mean()), float((mine == other).all(-1).mean())


def compare_all(game: str, starts: int, frames: int, seed: int) -> list[Comparison]:
    """Comparisons from `starts` random starts."""
    random, theirs = np.random.default_rng(seed), open_cartridge(game)
    return [compare(begin(game, random, theirs), frames) for _ in range(starts)]
