"""The platformer's rules a second time, in slow, plain Python."""

from platformer_search import COLUMNS, FLAG, MARGIN


class Twin:
    """The play of one level, from a state that the game laid out."""

    def __init__(self, state):
        tiles = [(c, r) for c in range(-MARGIN, COLUMNS + MARGIN) for r in range(16)]
        self.solid, self.spikes, self.coins = (
            {(c, r) for c, r in tiles if state[name][c + MARGIN] >> r & 1} for name in ("solid", "spike", "coin"))
        self.x, self.y = int(state["x"]), int(state["y"])
        self.vx = self.vy = self.since_press = self.frame = 0
        self.since_ground, self.held, self.pressed = 0, False, None
        self.enemies = [{name: int(state[field][k]) for name, field in zip(("x", "y", "dx", "dy", "left", "span", "kind"), (
            "ex", "ey", "edx", "edy", "left", "span", "kind"), strict=True)} for k in range(state["enemies"])]

    def tiles(self, left=0, right=0, top=0):
        """The tiles that the player touches, for a thing that is smaller than its tile by `left`, `right` and `top` units."""
        return {(c, r) for c in (self.x + left >> 8, self.x + 182 - right >> 8) for r in (self.y >> 8, self.y + 255 - top >> 8)}

    def free(self):
        """True if the player is in no solid tile and below the level's top."""
        return self.y >= 0 and not self.tiles() & self.solid

    def move(self, across, down):
        """Move unit by unit; True if something solid was in the way."""
        for _ in range(abs(across + down)):
            before = self.x, self.y
            self.x += (across > 0) - (across < 0)
            self.y += (down > 0) - (down < 0)
            if not self.free():
                self.x, self.y = before
                return True
        return False

    def step(self, way, jump):
        """One frame; returns the points and whether the episode has ended.

        way: -1 left, 0, 1 right.
        jump: True if JUMP is held.
        """
        if way:
            self.vx += way * (12 if way * self.vx < 0 else 6)
            self.vx = max(-72, min(72, self.vx))
        else:
            brake = 12 if self.since_ground == 0 else 2
            self.vx = max(0, abs(self.vx) - brake) * (1 if self.vx > 0 else -1)
        self.pressed = 0 if jump and not self.held else None if self.pressed is None else self.pressed + 1
        self.held = jump
        if self.pressed is not None and self.pressed <= 3 and self.since_ground <= 3:
            self.vy, self.pressed, self.since_ground = -120, None, 99
        self.vy = min(120, self.vy + (12 if self.vy >= 0 else 8 if jump else 24))
        if self.move(self.vx, 0):
            self.vx = 0
        falls = self.vy > 0
        self.since_ground += 1
        if self.move(0, self.vy):
            self.since_ground = 0 if falls else self.since_ground
            self.vy = 0
        points = len(self.tiles() & self.coins)
        self.coins -= self.tiles()
        hurt, falls = bool(self.tiles(48, 48, 112) & self.spikes), self.vy > 0
        for enemy in self.enemies:
            self.move_enemy(enemy)
            if not (enemy["kind"] and abs(2 * (self.x - enemy["x"]) + 183 - 219) < 183 + 219
                    and abs(2 * (self.y - enemy["y"]) + 256 - 183) < 256 + 183):
                continue
            if enemy["kind"] != 2 and falls and self.y + 256 - enemy["y"] <= 140:
                enemy["kind"], self.vy = 0, -90
                points += 1
            else:
                hurt = True
        self.frame += 1
        hurt |= self.y >= 12 * 256 or self.frame == 1000
        arrived = self.x >= 60 * 256 and not hurt
        return points + FLAG * arrived, hurt or arrived

    @staticmethod
    def move_enemy(enemy):
        enemy["x"] += enemy["dx"]
        enemy["y"] += enemy["dy"]
        enemy["left"] -= 1
        if enemy["left"] == 0:
            enemy["left"], enemy["dx"], enemy["dy"] = enemy["span"], -enemy["dx"], -enemy["dy"]
