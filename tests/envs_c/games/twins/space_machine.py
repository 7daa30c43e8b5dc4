"""Our Space Invaders with its state open to read and to change."""

import numpy as np

from benchmarks.cartridges.twins import SpaceInvaders

NOOP, FIRE, RIGHT, LEFT, RIGHT_FIRE, LEFT_FIRE = range(6)
REST = 128  # frames of the first rest


class Space(SpaceInvaders):
    def leave(self, rows):
        """Keep only these invaders. rows: six bytes from the top, a bit an invader."""
        self.change(row=rows, count=sum(map(int.bit_count, rows)))

    def remove_shields(self):
        self.change(shield=np.zeros((3, 9)), gone=[4, 8, 8, 8, 8, 8, 8, 4] * 3)

    def calm(self):
        """Remove the bombs, and put off bombs and saucer."""
        self.change(bomb_y=[0, 0], bomb_age=0, bomb_rest=0, saucer_wait=832)


def begun(seed=0):
    """A game after its first rest."""
    space = Space(seed)
    space.play(*[NOOP] * REST)
    return space


def without_bombs(space, action, frames):
    """Hold an action for some frames without bombs or saucer; returns the points."""
    total = 0
    for _ in range(frames):
        space.calm()
        total += space.step(action)[0]
    return total
