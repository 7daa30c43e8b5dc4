"""No maker's name or logo is drawn: where a cartridge shows one, our picture is black, in colour and in grey."""

import numpy as np
import pytest

import envs_c

STRIPS = {"seaquest": 188, "enduro": 191, "freeway": 196}  # first row of the strip, which goes to the screen's end


@pytest.mark.parametrize("game", STRIPS)
def test_the_strip_of_the_makers_name_is_black(game):
    env = envs_c.make(game, 4, view="pixels", seed=3, frame_skip=4)
    env.reset()
    random = np.random.default_rng(0)
    for step in range(120):
        grey = env.step(random.integers(0, len(env.core.actions), 4))[0]
        if step % 10 == 0:
            assert not np.stack(env.render())[:, STRIPS[game]:].any(), f"step {step}"
            assert not grey[:, -(-STRIPS[game] * 84 // 210):].any(), f"step {step}"


@pytest.mark.parametrize("game", STRIPS)
def test_the_cartridge_shows_something_there(game):
    pytest.importorskip("ale_py")
    from benchmarks.cartridges.console import Cartridge
    theirs = Cartridge(game)
    for _ in range(160):
        theirs.step(0)
    assert theirs.screen()[STRIPS[game]:].any()
