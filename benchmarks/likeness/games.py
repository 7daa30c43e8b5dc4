"""What is compared in each game: its objects in pixels and its counts; and the starts.

`TOGETHER`: both sides begin at the cartridge's own start and get the same random actions up to the start of a comparison.
`SET`: the cartridge plays alone up to the start; then our game is set to what its RAM tells.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from benchmarks.cartridges.twins import NO_UFO

TOGETHER, SET = "together", "set"
Values = dict[str, np.ndarray]


def column(state, *names: str, scale: float = 1) -> np.ndarray:
    """The values of these fields as numbers, flat."""
    return np.concatenate([np.ravel(state[name]).astype(float) for name in names]) / scale


@dataclass(frozen=True)
class Compared:
    """A game under comparison.

    start: TOGETHER or SET.
    reach: a start is fewer frames into the game.
    objects: of a state, name to places in pixels; nan for what is not there.
    counts: of a state, the numbers that must be equal too in a frame that is called identical.
    after: a start is at least so many frames into the game.
    """

    start: str
    reach: int
    objects: Callable[[dict], Values]
    counts: tuple[str, ...]
    after: int = 2


def shown(places: np.ndarray, there) -> np.ndarray:
    """Places, with nan for what is not there."""
    return np.where(there, places, np.nan)


def breakout(state) -> Values:
    return {"paddle": column(state, "paddle"), "ball": shown(column(state, "x", "y") // 256, state["in_play"])}


def pong(state) -> Values:
    ball = state["y"] > 0
    x = state["x"] - state["vx"] * state["free"]
    return {"paddle": column(state, "paddle"), "enemy": shown(column(state, "enemy"), ball),
            "ball": shown(np.array([x, state["y"]], float), ball)}


def freeway(state) -> Values:
    return {"chicken": column(state, "y"), "cars": column(state, "x")[:10]}


def asterix(state) -> Values:
    return {"hero": np.array([state["hero"], 16 * state["lane"]], float),
            "things": shown(column(state, "x"), np.asarray(state["kind"]) > 0)}


def seaquest(state) -> Values:
    """Waves without enemies are at no place."""
    guest = column(state, "guest")
    return {"submarine": column(state, "x_ship", "y"), "torpedo": shown(column(state, "torpedo"), state["torpedo"] > 0),
            "enemies": shown(column(state, "x"), np.asarray(state["alive"]) > 0), "divers and shots": shown(guest, guest > 0)}


def space_invaders(state) -> Values:
    """A shot or bomb that is out of sight is at its place too."""
    bombs = np.asarray(state["bomb_y"]) > 0
    there = np.asarray(state["row"])[:, None] >> np.arange(6) & 1
    return {"cannon": column(state, "cannon"),
            "invaders": shown(np.tile(state["x"] + 16.0 * np.arange(6), (6, 1)), there).ravel(),
            "formation": column(state, "x", "y"), "shot": shown(column(state, "shot_x", "shot_y"), state["shot_y"] > 0),
            "bombs": shown(np.stack([state["bomb_x"], state["bomb_y"]]).astype(float), bombs).ravel(),
            "saucer": shown(column(state, "saucer_x"), state["saucer_x"] >= 0)}


def asteroids(state) -> Values:
    """Rocks by half, line and x: the two sides may have them in other slots."""
    x, line, there = (np.asarray(state[name]).astype(float) for name in ("rock_x", "rock_y", "kind"))
    order = np.lexsort((x, line, there == 255, np.arange(16) >= 8))
    return {"ship": column(state, "x", "y", scale=256),
            "shots": shown(column(state, "shot_x", "shot_y"), np.tile(np.asarray(state["shot_life"]) > 0, 2)),
            "rocks": shown(np.stack([x, line])[:, order], there[order] < 255).ravel()}


def asteroids_ufos(state) -> Values:
    return asteroids(state) | {"UFO": shown(column(state, "ufo_x", "ufo_y"), state["ufo_y"] != NO_UFO)}


def enduro(state) -> Values:
    return {"road": column(state, "x")}


GAMES = {
    "breakout": Compared(TOGETHER, 3000, breakout, ("score", "lives", "brick", "width")),
    "pong": Compared(TOGETHER, 3000, pong, ("score",)),
    "asterix": Compared(TOGETHER, 1000, asterix, ("score", "lives", "stage", "kind", "stun")),
    "freeway": Compared(TOGETHER, 3000, freeway, ("score", "timer", "pace")),
    "seaquest": Compared(TOGETHER, 3000, seaquest, ("score", "lives", "oxygen", "crew", "alive", "sub", "diver", "patrol")),
    "space_invaders": Compared(TOGETHER, 1500, space_invaders, ("score", "lives", "count", "shield", "clock", "seed", "wave")),
    "asteroids": Compared(SET, 2000, asteroids, ("score", "lives", "way", "blast", "hidden", "numbers")),
    "asteroids_ufos": Compared(TOGETHER, 3500, asteroids_ufos, (
        "score", "lives", "way", "blast", "hidden", "numbers", "ufo_small", "ufo_timer", "ufo_burst"), after=1800),
    "enduro": Compared(TOGETHER, 3000, enduro, ("speed", "left", "day", "phase", "slot", "bend", "crash")),
}
