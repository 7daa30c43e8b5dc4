"""The description of each game's features: complete, readable, and true of 2,000 random steps."""

import numpy as np
import pytest
from support import vector

import envs_c
from envs_c.__main__ import feature_rows, main
from envs_c.game import Feature, Game
from envs_c.testing.play import actions_of

N = 8
STEPS = 2_000
NAMES = sorted(set(envs_c.catalog.built_in()))


def bounds(game) -> tuple[list[str], np.ndarray, np.ndarray]:
    """The name, the low and the high of every feature, by index."""
    rows = [feature for feature in game.features for _ in range(feature.count)]
    return [row.name for row in rows], np.array([row.low for row in rows]), np.array([row.high for row in rows])


@pytest.mark.parametrize("name", NAMES)
def test_every_feature_is_described(name):
    game = envs_c.game(name)
    assert sum(feature.count for feature in game.features) == np.prod(game.feature_shape), f"{name} has undescribed features"
    names = [feature.name for feature in game.features]
    assert len(set(names)) == len(names), f"{name}: a name stands twice among {names}"
    for feature in game.features:
        assert feature.count >= 1 and feature.low < feature.high, (name, feature)
        assert feature.name == feature.name.strip() and 2 <= len(feature.name) <= 40, (name, feature)
    assert game.compared_with, f"{name} does not name the reference that its tests compare it with"


@pytest.mark.parametrize("name", NAMES)
def test_features_stay_in_their_described_range(name):
    game = envs_c.game(name)
    assert game.features, f"{name} has undescribed features"
    names, low, high = bounds(game)
    margin = np.where(np.isfinite(high - low), 1e-6 * (high - low), 0)  # of float32
    env = vector(game, N, seed=1, autoreset="same_step")
    observation, infos = env.reset()[0], {}
    for step, actions in enumerate(actions_of(game, STEPS, N)):
        seen = [observation.reshape(N, -1), *(last.reshape(1, -1) for last in infos.get("final_obs", ()) if last is not None)]
        values = np.concatenate(seen).astype(np.float64)
        wrong = np.argwhere((values < low - margin) | (values > high + margin))
        for row, index in wrong[:1]:
            pytest.fail(f"{name}: feature {index} ({names[index]}) is {values[row, index]} before step {step}; it is described "
                        f"as {low[index]:g} to {high[index]:g}")
        observation, _, _, _, infos = env.step(actions)


def test_the_command_line_lists_every_feature(capsys):
    assert main(["features", "cartpole"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split()[:3] == ["index", "feature", "range"]
    assert [line.split()[0] for line in lines[1:]] == ["0", "1", "2", "3"]
    assert main(["features", "cartpoel"]) == 2
    assert "did you mean cartpole?" in capsys.readouterr().err


@pytest.mark.parametrize(("name", "actions", "shape", "of_a_step"), [
    ("breakout", "NOOP FIRE RIGHT LEFT", "118 float32", " (frame skip 4)"),
    ("go", "82, A9 to PASS", "5 x 9 x 9 uint8", " (frame skip 1)"),
    ("cartpole", "LEFT RIGHT", "4 float32", " (frame skip 1, at most 500 steps)")])
def test_the_list_says_what_each_game_has(capsys, monkeypatch, name, actions, shape, of_a_step):
    monkeypatch.setattr("envs_c.__main__.speed", lambda game, view: {"features": 2.5e6, "pixels": 4e4}[view])
    assert main(["list", name]) == 0
    game, (head, summary, *lines) = envs_c.game(name), capsys.readouterr().out.splitlines()
    assert (head, summary.strip()) == (f"{name}  {game.gym_id}", game.summary)
    assert [line.split(maxsplit=1) for line in lines[:3]] == [
        ["actions", actions], ["features", f"{shape}, 2.5M steps/s a core{of_a_step}"],
        ["pixels", "84 x 84 uint8, 40.0K steps/s a core"]]
    options = [line.split(maxsplit=1)[1].partition(":")[0] for line in lines if line.startswith("    option ")]
    assert options == [f"{option}={one.default:g}" for option, one in game.options.items() if one.low < one.high]


def described(*features, shape=(5,)):
    return Game(name="bare", title="Bare", summary="A game.", version=1, actions=("GO",), feature_shape=shape,
                features=features)


def test_rows_name_the_indices_of_neighbours():
    game = described(Feature("speed", -1, 1), Feature("brick", 0, 1, count=4, help="1 if it stands"))
    assert feature_rows(game) == [("0", "speed", "-1 to 1", ""), ("1-4", "brick", "0 to 1", "1 if it stands")]


@pytest.mark.parametrize("count", [3, 5])
def test_rows_that_do_not_add_up_are_refused(count):
    with pytest.raises(envs_c.ContractError, match=rf"'bare': the rows of features must add up to 5, .* not {count + 1}"):
        described(Feature("speed", -1, 1), Feature("brick", 0, 1, count=count))


def test_rows_with_one_name_are_refused():
    with pytest.raises(envs_c.ContractError, match=r"'bare': each row of features must have a name .* 'speed' is that of 2"):
        described(Feature("speed", -1, 1), Feature("speed", 0, 1, count=4))


def test_the_error_for_a_game_without_a_description_explains_how_to_add_one(toy, monkeypatch, capsys):
    monkeypatch.setattr(envs_c, "game", lambda name: toy)
    assert main(["features", "toy"]) == 2
    assert "features=(Feature(...), ...)" in capsys.readouterr().err
