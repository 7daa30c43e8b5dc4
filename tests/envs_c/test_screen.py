"""Pictures: the colour picture as the game paints it, and the grey one as its area average."""

import tracemalloc

import numpy as np
import pytest
from support import vector

import envs_c
from envs_c.engine.painter import average, axis
from envs_c.testing.pictures import area_average
from envs_c.testing.play import actions_of

WIDTH, HEIGHT, GROUND_Y = 100, 90, 75  # of the toy game
SKY, GROUND, PAINT = np.array([[0x20, 0x40, 0x60], [0xC0, 0xA0, 0x20], [0xF0, 0x64, 0x18]], np.uint8)


def picture_of(x, y, w, h):
    """The toy's colour picture with one rectangle, made with NumPy's slices."""
    picture = np.empty((HEIGHT, WIDTH, 3), np.uint8)
    picture[:GROUND_Y], picture[GROUND_Y:] = SKY, GROUND
    picture[max(y, 0) : max(y + h, 0), max(x, 0) : max(x + w, 0)] = PAINT
    return picture


def pictures(toy, **options):
    """The toy's colour and grey pictures under these options."""
    env = vector(toy, view="pixels", seed=1, options=options)
    observation, _ = env.reset()
    return env.render()[0], observation[0]


@pytest.mark.parametrize("name", envs_c.games())
def test_pictures_change_as_the_game_goes_on(name):
    game = envs_c.game(name)
    env = vector(game, 4, view="pixels", seed=1)
    colours, greys = [], []
    env.reset()
    for actions in actions_of(game, 80, 4):
        greys.append(env.step(actions)[0].tobytes())
        colours.append(b"".join(picture.tobytes() for picture in env.render()))
    assert len(set(colours)) > 20 and len(set(greys)) > 20


def test_render_gives_a_colour_screen_of_each_environment(game, view):
    width, height = game.screen
    env = vector(game, 3, view=view, seed=1)
    env.reset()
    screens = env.render()
    assert isinstance(screens, tuple) and len(screens) == 3
    assert all(screen.shape == (height, width, 3) and screen.dtype == np.uint8 for screen in screens)
    before = env.get_state()
    assert all(np.array_equal(a, b) for a, b in zip(screens, env.render(), strict=True))
    assert env.get_state() == before


@pytest.mark.parametrize("size", [(1, 1), (84, 84), (160, 210), (97, 101), (168, 85), (640, 480)])
def test_the_canvas_of_a_backdrop_is_the_exact_average_without_a_copy_of_all_units(size):
    picture = np.random.default_rng(1).integers(0, 256, (*size[::-1], 3)).astype(np.uint8)
    ways = [axis(length, 84) for length in size]
    tracemalloc.start()
    sums, grey = average(picture, *ways)
    assert tracemalloc.get_traced_memory()[1] < 100 * picture.size + 2**20
    tracemalloc.stop()
    area = ways[0].cell * ways[1].cell
    assert np.abs(sums / area - area_average(picture)).max() < 0.02  # sums are float32
    assert (grey == np.floor(sums.astype(float) / area + 0.5)).mean() > 0.99


@pytest.mark.parametrize("name", ["asterix", "enduro", "freeway", "go", "seaquest"])
def test_grey_pictures_made_with_stamps_are_exact_except_for_rounding(name):
    env = vector(envs_c.game(name), 8, view="pixels", seed=3)
    env.reset()
    for actions in actions_of(envs_c.game(name), 120, 8):
        greys = env.step(actions)[0]
        for picture, grey in zip(env.render(), greys, strict=True):
            assert np.abs(area_average(picture) - grey).max() <= 0.5 + 1e-9


RECTANGLES = [  # x, y, w, h
    (0, 0, 100, 90), (10, 20, 30, 40), (-5, 10, 20, 20), (95, 10, 20, 20), (10, -7, 20, 20), (10, 85, 20, 20),
    (-5, -5, 200, 200), (-3, -3, 4, 4), (99, 89, 1, 1), (0, 0, 1, 1), (100, 10, 5, 5), (-5, 10, 5, 5), (10, 90, 5, 5),
    (10, -5, 5, 5), (-400, -400, 1, 1), (400, 400, 800, 800), (-400, -400, 800, 800), (25, 15, 25, 15), (24, 14, 2, 2),
]
RANDOM = np.random.default_rng(0)
RECTANGLES += [(*RANDOM.integers(-60, 110, 2).tolist(), *RANDOM.integers(1, 90, 2).tolist()) for _ in range(100)]


@pytest.mark.parametrize("figure", [1, 3], ids=["canvas_rect", "canvas_swap"])
def test_rectangles_are_cut_off_at_the_screens_edges_in_both_pictures(toy, figure):
    for x, y, w, h in RECTANGLES:
        if figure == 3:
            h = min(h, GROUND_Y - y)  # canvas_swap replaces the colour of the sky only
            if h < 1:
                continue
        colour, grey = pictures(toy, figure=figure, x=x, y=y, w=w, h=h)
        expected = picture_of(x, y, w, h)
        assert np.array_equal(colour, expected), (x, y, w, h)
        assert np.abs(area_average(expected) - grey).max() <= 0.5 + 1e-9, (x, y, w, h)


@pytest.mark.parametrize(("x", "y", "w", "h"), [
    (0, 0, 1, 1), (10, 10, 3, 2), (-9, -2, 3, 2), (90, 80, 3, 5), (97, 0, 1, 1), (0, 88, 1, 1), (-400, 0, 50, 50),
    (0, -40, 10, 10),
])
def test_bitmaps_are_painted_bit_by_bit_and_cut_off_at_the_edges(toy, x, y, w, h):
    bits = np.array([[int(bit) for bit in f"{row:08b}"] for row in (0b00011000, 0b10111101, 0b10000001, 0b11111111, 0)])
    expected = picture_of(0, 0, 0, 0)
    rows, columns = np.nonzero(np.repeat(np.repeat(bits, h, 0), w, 1))
    inside = (rows + y >= 0) & (rows + y < HEIGHT) & (columns + x >= 0) & (columns + x < WIDTH)
    expected[rows[inside] + y, columns[inside] + x] = PAINT
    assert np.array_equal(pictures(toy, figure=2, x=x, y=y, w=w, h=h)[0], expected)


def test_without_figures_both_pictures_are_the_backdrop(toy):
    colour, grey = pictures(toy, figure=0)
    assert np.array_equal(colour, picture_of(0, 0, 0, 0))
    assert np.abs(area_average(colour) - grey).max() <= 0.5
    assert len(np.unique(grey)) == 2
