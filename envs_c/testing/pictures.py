"""The rule about pictures: the grey one shows what the coloured one shows."""

import numpy as np

from envs_c.testing.play import Play
from envs_c.testing.rules import STEPS, actions_of_core, need, option_sets, rule

SMALL = 84       # rows and columns of the grey picture
ROUNDING = 1e-9  # of the averages


@rule
def paints_one_picture(game):
    """The grey picture is the area average of the coloured one, to within one level of grey."""
    for options in option_sets(game):
        play = Play(game, 8, view="pixels", options=options)
        play.reset()
        for step, actions in enumerate(actions_of_core(play, STEPS if options else 2 * STEPS)):
            play.step(actions)
            for i in range(8) if step % 6 == 0 else ():
                compare(play, i, f"in step {step}{f' with {options}' if options else ''}")


def compare(play: Play, i: int, where: str):
    """Raise Broken if the grey picture of environment `i` is not the average of its coloured one."""
    error = np.abs(area_average(play.render(i)) - play.arrays["observation"][i])
    row, column = np.unravel_index(error.argmax(), error.shape)
    need(error.max() <= 1 + ROUNDING,
         f"grey pixel ({row}, {column}) is {error.max():.1f} away from the average of the colours, {where}: shapes meet within "
         "it; put their edges where grey pixels meet, or use canvas_swap")


def area_average(picture: np.ndarray) -> np.ndarray:
    """The mean grey (BT.601 luma) under each pixel of the grey picture, as OpenCV's INTER_AREA computes it.

    picture: (height, width, 3) uint8. Returns (84, 84) float64.
    """
    grey = (picture.astype(np.int64) * (299, 587, 114)).sum(2)
    return cell_means(cell_means((grey + 500) // 1000).T).T


def cell_means(rows: np.ndarray) -> np.ndarray:
    """The means of `rows`, (length, ...), over 84 cells of equal length: differences of its integral at their edges."""
    edges = np.arange(SMALL + 1) * len(rows) / SMALL
    before = edges.astype(int)  # complete rows before an edge
    integral = np.concatenate([np.zeros_like(rows[:1]), rows.cumsum(0)])
    slope = np.concatenate([rows, np.zeros_like(rows[:1])])
    return np.diff(integral[before] + slope[before] * (edges - before)[:, None], axis=0) * (SMALL / len(rows))
