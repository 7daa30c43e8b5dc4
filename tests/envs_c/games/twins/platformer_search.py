"""The platformer's state by name, to read and to change, and a search for solutions of its levels.

The search is a beam search over states of the game itself. Of each level it keeps `width` states, tries every action on each
of them for a few frames (by writing states back), and keeps the states that got farthest. Some luck is added to the distance:
without it the search often runs ahead into places without escape.
"""

import numpy as np

import envs_c
from benchmarks.cartridges import open_state
from envs_c.testing.play import buffers

COLUMNS, MARGIN, ENEMIES, FLAG = 64, 8, 8, 10
STATE = open_state.struct(
    ("solid spike coin", "u2", COLUMNS + 2 * MARGIN), ("ex ey edx edy left span", "i2", ENEMIES), ("kind", "u1", ENEMIES),
    ("score", "i4"), ("level levels level_seed", "u4"), ("x y vx vy time", "i2"),
    ("difficulty stages enemies grace buffer held facing stage", "u1"))


class Levels:
    """Environments in one batch and one thread, whose states can be read and changed as a record array of STATE."""

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
        """Set fields of all states."""
        states = self.read()
        for name, value in fields.items():
            states[name] = value
        self.write(states)

    def step(self, actions):
        """One frame; returns rewards (num_envs,) float32 and ends (num_envs,) bool."""
        self.arrays["actions"][:] = actions
        self.batch.step()
        return self.arrays["reward"].copy(), self.arrays["terminated"] > 0


def first_states(count, **options):
    """The first states of levels 0 .. count - 1, (count,) STATE."""
    env, found = Levels(max(count, 256), levels=count, **options), {}
    while len(found) < count:
        found |= {int(state["level"]): state for state in env.read()}
        env.batch.reset()
    states = np.array([found[k] for k in range(count)])
    states["levels"] = 0  # for environments with the default of this option
    return states


def search(starts, width, luck, steps=240, frames=4, seed=0, **options):
    """A solution of each level that begins as `starts`: its actions frame by frame, or None.

    starts: (count,) STATE.
    width: states kept of each level.
    luck: upper bound of the random units that are added to a state's x.
    steps: number of steps after which the search gives up.
    frames: frames a step; an action is held for one step.
    seed: of the luck.
    options: the game's.
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
        # A level is finished if it is solved or if all of its states are dead.
        lost |= over.reshape(count, -1).all(1) | np.array([way is not None for way in ways])
        if lost.all():
            break
        states = env.read()
        rank = np.where(over, -1, states["x"] + luck * random.random(len(states)))
        best = np.argsort(-rank.reshape(count, -1), axis=1)[:, :width] + np.arange(count)[:, None] * width * actions
        chosen = np.where(over[best], best[:, :1], best).ravel()  # if too few live, the best one counts again
        paths = paths[chosen // actions]
        paths[:, step] = tried[chosen]
        kept = states[chosen]
    return ways


def arrives(start, way, **options):
    """True if these actions, played from `start` on, end at the flag."""
    env = Levels(1, **options)
    env.write(start[None])
    for action in way:
        reward, over = env.step(action)
        if over[0]:
            return reward[0] >= FLAG
    return False
