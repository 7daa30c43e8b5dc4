"""The agents of the arcade, which are part of the package."""

import numpy as np
import pytest
from arcade_support import compiled, needs_browser_tools, node

import envs_c
from envs_c.arcade import agents

FILES = {path.stem: path for path in sorted(agents.FOLDER.glob("*.safetensors"))}
LARGEST = 1_400_000  # bytes of all together: the whole page stays below 2 MB
SCORES = [  # a game, steps of 4 or 1 frames, a mean score that random play does not reach, by far
    ("cartpole", 500, 400.0),
    ("tmaze", 60, 0.9),
    ("breakout", 1500, 50.0),  # 100 seconds
    ("freeway", 500, 5.0),
]


def test_the_agents_fit_into_the_page():
    assert sum(path.stat().st_size for path in FILES.values()) < LARGEST


@pytest.mark.parametrize("name", FILES)
def test_an_agent_is_of_its_game_and_has_finite_weights(name):
    data = FILES[name].read_bytes()
    about, game = agents.described(data), envs_c.game(name)
    assert (about["game"], tuple(about["observation_shape"])) == (name, game.feature_shape)
    assert about["num_actions"] == len(game.actions)
    assert all(np.isfinite(array).all() for array in agents.weights(data).values())


@needs_browser_tools
@pytest.mark.parametrize(("name", "steps", "score"), SCORES, ids=[row[0] for row in SCORES])
def test_an_agent_plays_well_in_the_browsers_game(name, steps, score):
    assert float(node("agent.mjs", compiled(name), agents.FOLDER, name, steps, 1)) >= score
