"""The ghosts of Pac-Man's plain twin: their targets, and how they begin a life."""

from pacman_machine import CORNER, HOUSE_X, WAY


def target(name, player, facing, blinky, own, scatter):
    """The tile that a ghost in the maze wants to reach.

    name, own: the ghost and its tile.
    player, facing: the player's tile and direction.
    blinky: Blinky's tile.
    scatter: True in a scatter wave.
    """
    (x, y), (across, down) = player, WAY[facing]
    left = 1 if facing == "up" else 0
    if scatter or (name == "clyde" and (x - own[0]) ** 2 + (y - own[1]) ** 2 < 64):
        return CORNER[name]
    if name == "pinky":
        return x + 4 * across - 4 * left, y + 4 * down
    if name == "inky":
        pivot = x + 2 * across - 2 * left, y + 2 * down
        return 2 * pivot[0] - blinky[0], 2 * pivot[1] - blinky[1]
    return x, y


class Ghost:
    """A ghost at the start of a life."""

    def __init__(self, name):
        self.name = name
        self.x, self.y = HOUSE_X[name], 1472 if name == "blinky" else 1856
        self.way = "down" if name == "pinky" else "up"
        self.next = None
        self.phase = "home"
        self.blue = self.reverse = False
        self.waits = name != "blinky"
