"""The example with Atari's wrappers runs, and all three ways give stacked or single grey pictures of 84x84."""

import pytest


def test_atari_preprocessing_gives_pictures_in_three_ways():
    for library in ("cv2", "stable_baselines3"):
        pytest.importorskip(library)
    from examples.stepping import atari_preprocessing
    shapes = atari_preprocessing.main(300)
    assert shapes == {"gymnasium": (4, 84, 84), "sb3": (4, 84, 84, 1), "envs_c": (64, 4, 84, 84)}
