"""A new view is one row: rows that these tests add work from the engine to a training."""

import contextlib
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import envs_c
from envs_c import catalog
from envs_c.views import COLOUR, FEATURES, GREY, VIEWS, View

SCREEN = View("screen", (replace(GREY, name="screen", whole=True),), obs_type="screen", trained=True)
WITH_COLOUR = View("with_colour", (FEATURES, COLOUR))
TRAINING = """
from dataclasses import replace
from envs_c.views import GREY, VIEWS, View
VIEWS["screen"] = View("screen", (replace(GREY, name="screen", whole=True),), trained=True)
from trainer import Session
sizes = {"num_envs": 4, "horizon": 4, "minibatch": 16, "total_steps": 16}
with Session("pong", view="screen", encoder="conv", device="cpu", **sizes) as session:
    for metrics in session:
        print(session.config.env.view, tuple(session.storage.observation.shape), metrics["loss_policy"] is not None)
"""


@pytest.fixture(autouse=True)
def rows(monkeypatch):
    for view in (SCREEN, WITH_COLOUR):
        monkeypatch.setitem(VIEWS, view.name, view)


def played(**settings):
    """The observations of 60 steps."""
    seen = []
    with contextlib.closing(envs_c.make("breakout", 3, seed=5, **settings)) as env:
        seen.append(env.reset()[0])
        for step in range(60):
            seen.append(env.step(np.full(3, step % 4))[0])
            assert env.observation_space.contains(seen[-1])
    return seen


def test_a_row_of_pictures_has_the_size_the_space_and_ales_name_that_it_says():
    wanted = played(view="pixels", picture_size=(210, 160))
    assert wanted[0].shape == (3, 210, 160)
    for settings in ({"view": "screen"}, {"obs_type": "screen"}):
        assert np.array_equal(played(**settings), wanted)
    assert played(view="screen", picture_size=84, frame_stack=2)[0].shape == (3, 2, 84, 84)


def test_a_row_of_features_with_a_picture_beside_them_gives_both_by_their_names():
    both, features, colours = played(view="with_colour"), played(view="features"), played(view="rgb")
    assert [list(one) for one in both] == [["features", "rgb"]] * 61
    assert np.array_equal([one["features"] for one in both], features)
    assert np.array_equal([one["rgb"] for one in both], colours)


def test_messages_list_the_new_rows():
    with pytest.raises(envs_c.InvalidArgument, match=r"view must be one of .*'screen', 'with_colour', not 'nowhere'"):
        envs_c.make("pong", view="nowhere")
    with pytest.raises(envs_c.InvalidArgument, match=r"view must be .* or 'screen' with make_async, not 'with_colour'"):
        envs_c.make_async("pong", 2, view="with_colour")
    with pytest.raises(envs_c.InvalidArgument, match="frame_stack must be 1 under view 'with_colour', not 2"):
        envs_c.make("pong", view="with_colour", frame_stack=2)


def test_sb3_sees_a_new_row_of_grey_pictures_as_pictures():
    pytest.importorskip("stable_baselines3")
    from envs_c import sb3
    env = sb3.make("pong", 2, view="screen", channels_last=True)
    assert env.reset().shape == (2, 210, 160, 1)
    env.close()


def test_a_training_takes_a_new_row():
    pytest.importorskip("torch")
    done = subprocess.run([sys.executable, "-c", TRAINING], capture_output=True, text=True, check=False)
    assert done.stdout.splitlines()[-1:] == ["screen (5, 4, 210, 160) True"], done.stderr


@pytest.mark.parametrize("view", ["features", "pixels", "rgb", "both"])
def test_each_view_stands_in_the_docstring_and_in_the_types_of_make(view):
    stub = Path(catalog.__file__).with_suffix(".pyi").read_text(encoding="utf-8")
    assert view in VIEWS and f'"{view}"' in catalog.make.__doc__ and f'"{view}"' in stub
