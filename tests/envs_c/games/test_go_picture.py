"""Go's picture on boards of all sizes."""

import numpy as np
import pytest

import envs_c


@pytest.mark.parametrize("size", range(5, 20))
def test_the_grey_picture_is_the_colour_one_in_grey(size):
    env = envs_c.make("go", 2, view="pixels", size=size, seed=size)
    env.reset()
    env.action_space.seed(1)
    for _ in range(size * size // 2):
        grey = env.step(env.action_space.sample())[0]
    for picture, seen in zip(env.render(), grey, strict=True):
        small = picture[::2, ::2].astype(int)
        assert np.array_equal(np.repeat(np.repeat(small, 2, 0), 2, 1), picture)
        assert np.array_equal((small @ [299, 587, 114] + 500) // 1000, seen.squeeze())
