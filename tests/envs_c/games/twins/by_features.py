"""One environment of a game, seen through its features like an agent sees it."""

import envs_c


class Featured:
    """One environment at frame skip 1. A subclass names its GAME and turns features into attributes in `read`."""

    GAME = ""

    def __init__(self, **settings):
        self.env = envs_c.make(self.GAME, 1, frame_skip=1, **settings)
        self.read(self.env.reset()[0][0])

    def step(self, action: int):
        """Play one frame; returns the reward and whether the episode has ended."""
        seen, (reward,), (terminated,), _, _ = self.env.step([action])
        self.read(seen[0])
        return reward, terminated

    def read(self, seen):
        """Set the attributes from the features."""
        raise NotImplementedError
