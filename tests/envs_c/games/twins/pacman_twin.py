"""Pac-Man's rules a second time, in slow, plain Python."""

from pacman_ghosts import Ghost, target
from pacman_machine import (
    BACK,
    ELROY,
    ELROY_DOTS,
    FRUIT,
    HOUSE_X,
    MAZE,
    NAMES,
    NOT_UP,
    PERCENT,
    SECONDS,
    WAVES,
    WAY,
    by_level,
    is_open,
    tile_of,
)
from pcg32 import Pcg32


class Twin:
    """One environment of the game in the same units, with the game's random numbers under `seed`."""

    def __init__(self, seed=0, lives=3, first_level=1):
        self.random = Pcg32(seed)
        self.start = lives, first_level
        self.reset()

    def view(self):
        """The values compared with `Machine.view`."""
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
        ahead = tile_of(ghost.x + 64 * across, ghost.y + 64 * down)  # the tile that it is going to
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
        """The direction in which `ghost` will leave `tile`, its next tile.

        places: (x, y) of all ghosts in the previous frame.
        """
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
        """Set a ghost's direction at the middle of a tile, or at a corner of its way through the house."""
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
        """True if the ghost is at a place where it decides."""
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

    # --- one frame

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
        """One frame; returns the reward and whether the episode has ended."""
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
