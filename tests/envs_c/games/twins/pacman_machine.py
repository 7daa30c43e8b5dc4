"""Our Pac-Man with its state open to read and to change, and a second copy of the arcade machine's tables.

The tables are in other units than those of maze.pxd (percent, points, column 0 at the maze's left).
"""

from benchmarks.cartridges.open_state import Machine as Opened
from benchmarks.cartridges.open_state import struct

NOOP, UP, LEFT, DOWN, RIGHT = range(5)
OUT, EYES, SINKS, HOME = range(4)
MAZE = """
############################
#............##............#
#.####.#####.##.#####.####.#
#o####.#####.##.#####.####o#
#.####.#####.##.#####.####.#
#..........................#
#.####.##.########.##.####.#
#.####.##.########.##.####.#
#......##....##....##......#
######.##### ## #####.######
######.##### ## #####.######
######.##          ##.######
######.## ######## ##.######
######.## ######## ##.######
      .   ########   .
######.## ######## ##.######
######.## ######## ##.######
######.##          ##.######
######.## ######## ##.######
######.## ######## ##.######
#............##............#
#.####.#####.##.#####.####.#
#.####.#####.##.#####.####.#
#o..##.......  .......##..o#
###.##.##.########.##.##.###
###.##.##.########.##.##.###
#......##....##....##......#
#.##########.##.##########.#
#.##########.##.##########.#
#..........................#
############################""".strip("\n").split("\n")
WAY = {"up": (0, -1), "left": (-1, 0), "down": (0, 1), "right": (1, 0)}
BACK = {"up": "down", "down": "up", "left": "right", "right": "left"}
NAMES = ("blinky", "pinky", "inky", "clyde")
PHASES = ("out", "eyes", "sinks", "home")
HOUSE_X = {"blinky": 2048, "pinky": 2048, "inky": 1792, "clyde": 2304}  # 1/16 pixel; column 0 of the maze begins at 256
CORNER = {"blinky": (25, -3), "pinky": (2, -3), "inky": (27, 31), "clyde": (0, 31)}
PERCENT = {  # by the last level that has them: player, with power, ghosts, in the tunnel, blue
    1: (80, 90, 75, 40, 50), 4: (90, 95, 85, 45, 55), 20: (100, 100, 95, 50, 60), 21: (90, 90, 95, 50, 60)}
ELROY = {1: (80, 85), 4: (90, 95), 21: (100, 105)}
ELROY_DOTS = [20, 30, 40, 40, 40, 50, 50, 50, 60, 60, 60, 80, 80, 80, 100, 100, 100, 100, 120, 120, 120]
SECONDS = [6, 5, 4, 3, 2, 5, 2, 2, 1, 5, 2, 1, 1, 3, 1, 1, 0, 1, 0, 0, 0]
FRUIT = [100, 300, 500, 500, 700, 700, 1000, 1000, 2000, 2000, 3000, 3000] + [5000] * 9
WAVES = {1: [420, 1200, 420, 1200, 300, 1200, 300], 4: [420, 1200, 420, 1200, 300, 61980, 1],
         21: [300, 1200, 300, 1200, 300, 62220, 1]}
ALL_DOTS = [1] * 244 + [0] * 12
NOT_UP = {(12, 11), (15, 11), (12, 23), (15, 23)}


def by_level(table, level):
    """The value of a level in a table by the last level that has it."""
    return next(value for last, value in table.items() if level <= last)


def tile_of(x, y):
    """Column and row of a place in 1/16 pixel; columns -2, -1, 28 and 29 are the ends of the tunnel."""
    return (x >> 7) - 2, y >> 7


def is_open(column, row):
    """True unless a wall is there."""
    column = (column + 2) % 32 - 2
    return MAZE[row].ljust(28)[column] != "#" if 0 <= column < 28 else row == 14


class Machine(Opened):
    GAME = "pacman"
    STATE = struct(("to_x to_y left speed dx dy x y", "i2", 4), ("way next phase blue reverse count", "u1", 4),
                   ("score wave_left", "i4"), ("px py power fruit idle", "i2"),
                   ("facing pause ready wave chain waiting shared total elroy rests lives level dots", "u1"),
                   ("dot", "u1", 256), ("rules", "u1"), ("row", "u4", 31), ("column", "u4", 32))

    def view(self):
        """The values compared with `Twin.view`."""
        s, ways = self.read(), list(WAY)
        named = ("power", "fruit", "pause", "ready", "wave", "wave_left", "chain", "score", "lives", "level", "dots", "elroy")
        ghosts = [(s["x"][k], s["y"][k], ways[s["way"][k]], PHASES[s["phase"][k]], s["blue"][k], s["waiting"] >> k & 1,
                   s["phase"][k] == 0 and ways[s["next"][k]]) for k in range(4)]
        return [s["px"], s["py"], ways[s["facing"]], *(s[name] for name in named), *ghosts]


def middle(column, row):
    """(x, y) of the middle of a tile, 1/16 pixel."""
    return (column + 2) * 128 + 64, row * 128 + 64


def arena(tile=(1, 14), facing=LEFT, **settings):
    """A machine that plays, its player in the middle of `tile`; its ghosts are eyes that stand still, so they do no harm."""
    machine = Machine(**settings)
    x, y = middle(*tile)
    machine.change(ready=0, px=x, py=y, facing=facing - 1, waiting=0)
    for k in range(4):
        put_ghost(machine, k, (9, 5), phase=EYES, speed=0)
    return machine


def change_ghost(machine, k, **fields):
    """Set fields of ghost k, and its place on its leg."""
    state = machine.read()
    values = {name: int(state[name][k]) for name in ("to_x", "to_y", "way", "left")} | fields
    values["dx"], values["dy"] = list(WAY.values())[values["way"]]
    values["x"], values["y"] = (values[f"to_{axis}"] - values[f"d{axis}"] * values["left"] for axis in "xy")
    machine.change(**{name: [value if i == k else state[name][i] for i in range(4)] for name, value in values.items()})


def fill_house(machine, waiting):
    """Put the ghosts whose bits are set into the house, where they wait and stand still."""
    for k in range(4):
        if waiting >> k & 1:
            change_ghost(machine, k, to_x=HOUSE_X[NAMES[k]], to_y=1792, way=0, left=64, phase=HOME, speed=0)
    machine.change(waiting=waiting)


def put_ghost(machine, k, tile, phase=OUT, blue=0, **fields):
    """Put ghost k 4 pixels left of the middle of `tile`, moving right.

    fields: other fields of the ghost.
    """
    (column, row), (x, y) = tile, middle(*tile)
    exits = [way for way, (across, down) in enumerate(WAY.values()) if is_open(column + across, row + down)]
    change_ghost(machine, k, **{"to_x": x, "to_y": y, "left": 64, "way": 3, "next": exits[-1], "phase": phase, "blue": blue,
                                **fields})
