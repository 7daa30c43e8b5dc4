"""Our Space Invaders with its state open to read and to change."""

import numpy as np
from space_twin import Twin

from benchmarks.cartridges.twins import SpaceInvaders

NOOP, FIRE, RIGHT, LEFT, RIGHT_FIRE, LEFT_FIRE = range(6)
REST = 129  # frames to the first march


class Space(SpaceInvaders):
    def leave(self, rows):
        """Keep only these invaders. rows: six bytes from the top, a bit an invader."""
        self.change(row=rows, count=sum(map(int.bit_count, rows)))

    def remove_shields(self):
        self.change(shield=np.zeros((3, 9)), gone=[4, 8, 8, 8, 8, 8, 8, 4] * 3)

    def twin(self) -> Twin:
        """The game in plain Python, in the same state."""
        state = self.read()
        return Twin({name: state[name] for name in state.dtype.names})


def begun(seed=0, **settings):
    """A game after its first rest and march; the clock stands at 64."""
    space = Space(seed, **settings)
    space.play(*[NOOP] * REST)
    return space
