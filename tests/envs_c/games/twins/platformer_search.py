"""The platformer's state by its names, to read and to change, its rules in plain Python, and a search for ways to the flag.

The search is a beam search over states of the game itself: of each level it keeps `width` states, tries every action on
each of them for a few frames, by snapshot and restore, and keeps those that got farthest, but for some luck, without which
it would often run ahead into what cannot be escaped any more.
"""

import numpy as np
import open_state

import envs_c
from envs_c.testing.play import buffers

COLUMNS, MARGIN, ENEMIES, FLAG = 64, 8, 8, 10
STATE = open_state.struct(
    ("solid spike coin", "u2", COLUMNS + 2 * MARGIN), ("ex ey edx edy left span", "i2", ENEMIES), ("kind", "u1", ENEMIES),
    ("score", "i4"), ("level levels level_seed", "u4"), ("x y vx vy time", "i2"),
    ("difficulty stages enemies grace buffer held facing stage", "u1"))


class Levels:
    """Environments of one batch, one thread, whose states can be read and changed as a record array of STATE."""

    def __init__(self, num_envs=1, seed=0, **options):
        self.core = envs_c.VecEnv(envs_c.game("platformer"), num_envs, seed=seed, num_threads=1, options=options)
        self.arrays = buffers(self.core)
        self.batch = self.core.bind(0, num_envs, **self.arrays)
        self.batch.reset()

    def read(self):
        """The states, (num_envs,) STATE."""
        return open_state.read(self.core, STATE)

    def write(self, states):
        """Put states, (num_envs,) STATE, into the environments."""
        open_state.write(self.core, states)

    def change(self, **fields):
        states = self.read()
        for name, value in fields.items():
            states[name] = value
        self.write(states)

    def step(self, actions):
        """Rewards and whether episodes have ended."""
        self.arrays["actions"][:] = actions
        self.batch.step()
        return self.arrays["reward"].copy(), self.arrays["terminated"] > 0


def first_states(count, **options):
    """The beginnings of levels 0 .. count - 1, (count,) STATE."""
    env, found = Levels(max(count, 256), levels=count, **options), {}
    while len(found) < count:
        found |= {int(state["level"]): state for state in env.read()}
        env.batch.reset()
    return np.array([found[k] for k in range(count)])


def search(starts, width, luck, steps=240, frames=4, seed=0, **options):
    """The way to the flag of each of the levels that begin as `starts`: its actions frame by frame, or None.

    width: states kept of each level; luck: units of place; steps: of `frames` frames each, after which it gives up.
    """
    count, actions, random = len(starts), 6, np.random.default_rng(seed)
    env = Levels(count * width * actions, **options)
    tried, level = np.tile(np.arange(actions), count * width), np.repeat(np.arange(count), width * actions)
    ways, lost, kept = [None] * count, np.zeros(count, bool), np.repeat(starts, width)
    paths = np.zeros((count * width, steps), np.uint8)
    for step in range(steps):
        env.write(np.repeat(kept, actions))
        over = np.zeros(len(tried), bool)
        for _ in range(frames):
            reward, ended = env.step(tried)
            for child in np.flatnonzero(ended & ~over & (reward >= FLAG) & ~lost[level]):
                ways[level[child]] = np.repeat([*paths[child // actions, :step], tried[child]], frames)
            over |= ended
        # A level that is solved, or all of whose states are dead, is played no further.
        lost |= over.reshape(count, -1).all(1) | np.array([way is not None for way in ways])
        if lost.all():
            break
        states = env.read()
        rank = np.where(over, -1, states["x"] + luck * random.random(len(states)))
        best = np.argsort(-rank.reshape(count, -1), axis=1)[:, :width] + np.arange(count)[:, None] * width * actions
        chosen = np.where(over[best], best[:, :1], best).ravel()  # where too few live, the best counts again
        paths = paths[chosen // actions]
        paths[:, step] = tried[chosen]
        kept = states[chosen]
    return ways


def arrives(start, way, **options):
    """Whether these actions, played from `start` on, end at the flag."""
    env = Levels(1, **options)
    env.write(start[None])
    for action in way:
        reward, over = env.step(action)
        if over[0]:
            return reward[0] >= FLAG
    return False


class Twin:
    """One level's play by the rules, in plain Python, from a state that the game laid out."""

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
        """The tiles that the player touches; of a thing that is so much smaller than its tile at its sides and above."""
        return {(c, r) for c in (self.x + left >> 8, self.x + 182 - right >> 8) for r in (self.y >> 8, self.y + 255 - top >> 8)}

    def free(self):
        return self.y >= 0 and not self.tiles() & self.solid

    def move(self, across, down):
        """Go unit by unit until something solid is in the way; whether it was."""
        for _ in range(abs(across + down)):
            before = self.x, self.y
            self.x += (across > 0) - (across < 0)
            self.y += (down > 0) - (down < 0)
            if not self.free():
                self.x, self.y = before
                return True
        return False

    def step(self, way, jump):
        """way: -1, 0 or 1; the points, and whether the episode has ended."""
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
            self.lead(enemy)
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
    def lead(enemy):
        enemy["x"] += enemy["dx"]
        enemy["y"] += enemy["dy"]
        enemy["left"] -= 1
        if enemy["left"] == 0:
            enemy["left"], enemy["dx"], enemy["dy"] = enemy["span"], -enemy["dx"], -enemy["dy"]
