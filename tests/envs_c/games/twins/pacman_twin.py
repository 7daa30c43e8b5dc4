"""Pac-Man's plain twin: the rules once more in slow Python, and the game's state by its names to read and to change."""

from open_state import Machine as Opened
from open_state import struct
from pcg32 import Pcg32

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
HOUSE_X = {"blinky": 2048, "pinky": 2048, "inky": 1792, "clyde": 2304}  # 1/16 pixel; the maze begins at 256
CORNER = {"blinky": (25, -3), "pinky": (2, -3), "inky": (27, 31), "clyde": (0, 31)}
PERCENT = {  # by the last level that has them: player, under power, ghosts, in the tunnel, blue
    1: (80, 90, 75, 40, 50), 4: (90, 95, 85, 45, 55), 20: (100, 100, 95, 50, 60), 21: (90, 90, 95, 50, 60)}
ELROY = {1: (80, 85), 4: (90, 95), 21: (100, 105)}
ELROY_DOTS = [20, 30, 40, 40, 40, 50, 50, 50, 60, 60, 60, 80, 80, 80, 100, 100, 100, 100, 120, 120, 120]
SECONDS = [6, 5, 4, 3, 2, 5, 2, 2, 1, 5, 2, 1, 1, 3, 1, 1, 0, 1, 0, 0, 0]
FRUIT = [100, 300, 500, 500, 700, 700, 1000, 1000, 2000, 2000, 3000, 3000] + [5000] * 9
WAVES = {1: [420, 1200, 420, 1200, 300, 1200, 300], 4: [420, 1200, 420, 1200, 300, 61980, 1],
         21: [300, 1200, 300, 1200, 300, 62220, 1]}
NOT_UP = {(12, 11), (15, 11), (12, 23), (15, 23)}


class Machine(Opened):
    GAME = "pacman"
    STATE = struct(("to_x to_y left speed dx dy x y", "i2", 4), ("way next phase blue reverse count", "u1", 4),
                   ("score wave_left", "i4"), ("px py power fruit idle", "i2"),
                   ("facing pause ready wave chain waiting shared total elroy rests lives level dots", "u1"),
                   ("dot", "u1", 256), ("row", "u4", 31), ("column", "u4", 32))

    def view(self):
        """What is compared with the twin."""
        s, ways = self.read(), list(WAY)
        named = ("power", "fruit", "pause", "ready", "wave", "wave_left", "chain", "score", "lives", "level", "dots", "elroy")
        ghosts = [(s["x"][k], s["y"][k], ways[s["way"][k]], PHASES[s["phase"][k]], s["blue"][k], s["waiting"] >> k & 1,
                   s["phase"][k] == 0 and ways[s["next"][k]]) for k in range(4)]
        return [s["px"], s["py"], ways[s["facing"]], *(s[name] for name in named), *ghosts]


def by_level(table, level):
    return next(value for last, value in table.items() if level <= last)


def tile_of(x, y):
    """Column and row in the maze; columns -2, -1, 28 and 29 are the tunnel's ends."""
    return (x >> 7) - 2, y >> 7


def is_open(column, row):
    column = (column + 2) % 32 - 2
    return MAZE[row].ljust(28)[column] != "#" if 0 <= column < 28 else row == 14


def target(name, player, facing, blinky, own, scatter):
    """The tile that a ghost in the maze wants to reach."""
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
    def __init__(self, name):
        self.name = name
        self.x, self.y = HOUSE_X[name], 1472 if name == "blinky" else 1856
        self.way = "down" if name == "pinky" else "up"
        self.next = None
        self.phase = "home"
        self.blue = self.reverse = False
        self.waits = name != "blinky"


class Twin:
    """One environment of the game, its numbers in the same units; made and reset as the game is under `seed`."""

    def __init__(self, seed=0, lives=3, first_level=1):
        self.random = Pcg32(seed)
        self.start = lives, first_level
        self.reset()

    def view(self):
        """What `Machine.view` says of the game, from the twin."""
        named = ("x", "y", "facing", "power", "fruit", "pause", "ready", "wave", "wave_left", "chain", "score", "lives",
                 "level")
        ghosts = [(g.x, g.y, g.way, g.phase, g.blue, g.waits, g.phase == "out" and g.next) for g in self.ghosts]
        return [*(getattr(self, name) for name in named), len(self.food), self.elroy(), *ghosts]

    def reset(self):
        self.lives, self.level = self.start
        self.score = 0
        self.new_level()

    def new_level(self):
        self.food = {(c, r): mark for r, line in enumerate(MAZE) for c, mark in enumerate(line) if mark in ".o"}
        self.counts = dict.fromkeys(NAMES, 0)
        self.shared = self.rests = False
        self.new_life()

    def new_life(self):
        self.x, self.y, self.facing = 2048, 3008, "left"
        self.power = self.fruit = self.idle = self.pause = self.wave = self.chain = self.total = 0
        self.wave_left = by_level(WAVES, self.level)[0]
        self.ready = 1 + self.random.below(60)
        self.ghosts = [Ghost(name) for name in NAMES]
        self.arrive(self.ghosts[0], [(0, 0)] * 4)

    # --- ghosts

    def elroy(self):
        limit = ELROY_DOTS[self.level - 1]
        return 0 if self.rests or len(self.food) > limit else 1 if 2 * len(self.food) > limit else 2

    def speed(self, ghost):
        _, _, normal, tunnel, blue = by_level(PERCENT, self.level)
        across, down = WAY[ghost.way]
        ahead = tile_of(ghost.x + 64 * across, ghost.y + 64 * down)  # of the middle that it is going to
        if (ghost.x % 128, ghost.y % 128) == (64, 64):
            ahead = tile_of(ghost.x + 128 * across, ghost.y + 128 * down)
        if ghost.phase in ("eyes", "sinks"):
            percent = 160
        elif ghost.phase == "home" or (ahead[1] == 14 and not 6 <= ahead[0] < 22):
            percent = tunnel
        elif ghost.blue:
            percent = blue
        elif ghost.name == "blinky" and self.elroy():
            percent = by_level(ELROY, self.level)[self.elroy() - 1]
        else:
            percent = normal
        return percent // 5

    def turn_back(self, blue):
        for ghost in self.ghosts:
            if ghost.phase in ("out", "home"):
                ghost.reverse = True
                ghost.blue |= blue

    def choose(self, ghost, tile, places):
        """The way out of `tile`, which `ghost` enters by its way."""
        ways = [way for way, (across, down) in WAY.items()
                if is_open(tile[0] + across, tile[1] + down) and way != BACK[ghost.way]]
        if tile in NOT_UP and ghost.phase == "out" and not ghost.blue:
            ways = [way for way in ways if way != "up"]
        if len(ways) == 1:
            return ways[0]
        if ghost.blue:
            wanted = list(WAY)[self.random.below(4)]
            return wanted if wanted in ways else ways[0]
        if ghost.phase == "eyes":
            aim = (13, 11)
        else:
            scatter = self.wave % 2 == 0 and not (ghost.name == "blinky" and self.elroy())
            aim = target(ghost.name, tile_of(self.x, self.y), self.facing, tile_of(*places[0]),
                         tile_of(*places[NAMES.index(ghost.name)]), scatter)
        return min(ways, key=lambda way: (tile[0] + WAY[way][0] - aim[0]) ** 2 + (tile[1] + WAY[way][1] - aim[1]) ** 2)

    def arrive(self, ghost, places):
        """At the middle of a tile, or at a corner of its way through the house."""
        if ghost.phase == "eyes" and ghost.y == 1472 and abs(ghost.x - 2048) == 64:
            ghost.phase, ghost.way = "sinks", "left" if ghost.x > 2048 else "right"
            return
        if ghost.phase == "sinks":
            if ghost.y < 1856:
                ghost.way = "down"
                return
            if ghost.x != HOUSE_X[ghost.name]:
                ghost.way = "left" if HOUSE_X[ghost.name] < ghost.x else "right"
                return
            ghost.phase = "home"
        if ghost.phase == "home":
            if ghost.waits:
                ghost.way = BACK[ghost.way]
            elif ghost.x != 2048:
                ghost.way = "left" if ghost.x > 2048 else "right"
            elif ghost.y != 1472:
                ghost.way = "up"
            else:
                ghost.phase, ghost.way = "out", "right" if ghost.reverse else "left"
                ghost.reverse = False
                ghost.next = self.choose(ghost, (14 if ghost.way == "right" else 13, 11), places)
            return
        ghost.way = BACK[ghost.way] if ghost.reverse else ghost.next
        ghost.reverse = False
        column, row = tile_of(ghost.x, ghost.y)
        ahead = (column + WAY[ghost.way][0] + 2) % 32 - 2, row + WAY[ghost.way][1]
        ghost.next = self.choose(ghost, ahead, places)

    def at_a_point(self, ghost):
        """Whether the ghost stands where it decides."""
        if ghost.phase in ("out", "eyes"):
            return (ghost.x % 128, ghost.y % 128) == (64, 64)
        if ghost.phase == "home":
            return ghost.x == 2048 if ghost.way in ("left", "right") else ghost.y in (1856 - 64, 1856 + 64, 1472)
        if ghost.way == "down":
            return ghost.y == 1856
        return ghost.x == (2048 if ghost.y == 1472 else HOUSE_X[ghost.name])

    def move_ghosts(self):
        places = [(ghost.x, ghost.y) for ghost in self.ghosts]
        for ghost in self.ghosts:
            for _ in range(self.speed(ghost)):
                ghost.x = (ghost.x + WAY[ghost.way][0]) % 4096
                ghost.y += WAY[ghost.way][1]
                if self.at_a_point(ghost):
                    self.arrive(ghost, places)

    # --- the player

    def move_player(self, wanted):
        column, row = tile_of(self.x, self.y)
        speed = by_level(PERCENT, self.level)[1 if self.power else 0] // 5
        if wanted and (wanted == BACK[self.facing] or is_open(column + WAY[wanted][0], row + WAY[wanted][1])):
            self.facing = wanted
        across, down = WAY[self.facing]
        free = is_open(column + across, row + down)
        for _ in range(speed):
            off_x, off_y = 64 - (self.x & 127), 64 - (self.y & 127)
            on = free or off_x * across + off_y * down > 0
            self.x = (self.x + across * on + ((off_x > 0) - (off_x < 0)) * abs(down)) % 4096
            self.y += down * on + ((off_y > 0) - (off_y < 0)) * abs(across)

    def score_points(self, points):
        if self.score < 10_000 <= self.score + points:
            self.lives += 1
        self.score += points

    def first_waiting(self):
        return next((ghost for ghost in self.ghosts if ghost.waits), None)

    def release(self, ghost):
        ghost.waits = False
        if ghost.name == "clyde":
            self.rests = False

    def eat(self):
        mark = self.food.pop(tile_of(self.x, self.y), None)
        if mark is None:
            return
        self.idle, self.pause = 0, 3 if mark == "o" else 1
        self.score_points(50 if mark == "o" else 10)
        first = self.first_waiting()
        if first and self.shared:
            self.total += 1
            due = {7: 1, 17: 2, 32: 3}.get(self.total)
            if due == 3 and self.ghosts[3].waits:
                self.shared = False
            elif due and due != 3 and self.ghosts[due].waits:
                self.release(self.ghosts[due])
        elif first:
            self.counts[first.name] += 1
        if 244 - len(self.food) in (70, 170):
            self.fruit = 540 + self.random.below(61)
        if mark == "o":
            self.chain, self.power = 0, 60 * SECONDS[self.level - 1]
            self.turn_back(self.power > 0)

    # --- a frame

    def keep_house(self):
        first = self.first_waiting()
        if first is None:
            return
        self.idle += 1
        limit = {"pinky": 0, "inky": 30 if self.level == 1 else 0, "clyde": {1: 60, 2: 50}.get(self.level, 0)}[first.name]
        if not self.shared and self.counts[first.name] >= limit:
            self.release(first)
        elif self.idle == (240 if self.level < 5 else 180):
            self.idle = 0
            self.release(first)

    def run_clocks(self):
        self.fruit = max(self.fruit - 1, 0)
        if self.power:
            self.power -= 1
            if not self.power:
                for ghost in self.ghosts:
                    ghost.blue = False
        elif self.wave < 7:
            self.wave_left -= 1
            if self.wave_left == 0:
                self.wave += 1
                self.wave_left = [*by_level(WAVES, self.level), 0][self.wave]
                self.turn_back(False)

    def step(self, action):
        """Reward and whether the episode has ended."""
        before = self.score
        if self.ready:
            self.ready -= 1
            return 0, False
        if self.pause:
            self.pause -= 1
        else:
            self.move_player([None, *WAY][action])
            self.eat()
        if self.fruit and self.y >> 7 == 17 and 2048 - 64 <= self.x < 2048 + 64:
            self.score_points(FRUIT[self.level - 1])
            self.fruit = 0
        self.keep_house()
        self.run_clocks()
        self.move_ghosts()
        self.judge()
        return self.score - before, self.lives == 0 or self.level > 21

    def judge(self):
        if not self.food:
            self.level += 1
            if self.level <= 21:
                self.new_level()
            return
        for ghost in self.ghosts:
            if ghost.phase == "out" and tile_of(ghost.x, ghost.y) == tile_of(self.x, self.y):
                if not ghost.blue:
                    self.lives -= 1
                    self.shared = self.rests = True
                    self.new_life()
                    return
                ghost.phase, ghost.blue, ghost.reverse = "eyes", False, False
                self.score_points(200 << self.chain)
                self.chain += 1


def hunt(twin):
    """The action of a fair player, who goes the shortest safe way to a blue ghost near by, else to a dot."""
    start = tile_of(twin.x, twin.y)
    ghosts = [(tile_of(ghost.x, ghost.y), ghost.blue) for ghost in twin.ghosts if ghost.phase == "out"]
    danger = {(x + dx, y + dy) for (x, y), blue in ghosts if not blue
              for dx in range(-4, 5) for dy in range(-4, 5) if abs(dx) + abs(dy) < 5}
    prey = {tile for tile, blue in ghosts if blue} if twin.power > 60 else set()
    reached, queue, flight = {start: 0}, [start], (0, 0)
    for tile in queue:
        if tile != start and (tile in prey or tile in twin.food):
            return reached[tile]
        for action, (dx, dy) in enumerate(WAY.values(), 1):
            ahead = (tile[0] + dx + 2) % 32 - 2, tile[1] + dy
            if ahead in reached or not is_open(*ahead):
                continue
            reached[ahead] = reached[tile] or action
            distance = min((abs(x - ahead[0]) + abs(y - ahead[1]) for (x, y), blue in ghosts if not blue), default=99)
            if tile == start:
                flight = max(flight, (distance, action))
            if ahead not in danger:
                queue.append(ahead)
    return flight[1]
