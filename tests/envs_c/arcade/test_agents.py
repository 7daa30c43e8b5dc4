"""The agents of the arcade, which are part of the package."""

import numpy as np
import pytest
from arcade_support import compiled, needs_browser_tools, node
from pages_support import cells, read

import envs_c
from envs_c.arcade import agents
from tools import arcade_agents

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


@pytest.mark.parametrize("name", FILES)
def test_an_agent_says_its_seed_and_its_score_of_a_hundred_games_as_the_page_plays_them(name):
    about = agents.described(FILES[name].read_bytes())
    played, used = about["evaluation"], about["evaluation"]["protocol"]
    assert (about["training_seed"], played["episodes"], used["actions"]) == (1, 100, "sampled")
    assert (used["sticky"], used["noop_max"]) == (about["env"]["sticky"], about["env"]["noop_max"]) == (0, 0)
    assert used["frame_skip"] == (about["env"]["frame_skip"] or envs_c.game(name).frame_skip) and used["time_limit"] <= 27_000
    assert played["min"] <= played["mean"] <= played["max"]


@pytest.mark.parametrize("name", ["cartpole", "go", "platformer", "snake", "tetris", "tmaze"])  # the short games
def test_an_agent_that_plays_again_has_the_score_that_it_says(name):
    data = FILES[name].read_bytes()
    said, again = (about["evaluation"] for about in (agents.described(data), arcade_agents.record(data)))
    assert said["protocol"] == again["protocol"]
    assert again["mean"] == pytest.approx(said["mean"], abs=said["standard_error"])  # other CPUs may round logits otherwise


def test_the_page_of_the_arcade_has_the_scores_of_the_files():
    table = read("docs/arcade.md").split(arcade_agents.BEGIN)[1].split("<!-- end")[0].strip().splitlines()
    assert list(map(cells, table[2:])) == [arcade_agents.row(FILES[name].read_bytes()) for name in FILES]


def test_a_record_changes_the_description_only_and_can_be_taken_back():
    data = FILES["pong"].read_bytes()
    bare, other = agents.with_record(data, {}), agents.with_record(data, {"training_seed": 7})
    assert not agents.described(bare).keys() & set(agents.RECORD)
    assert agents.described(other) == {**agents.described(bare), "training_seed": 7}
    assert agents.with_record(other, {}) == bare and agents.with_record(bare, {}) == bare
    for name, array in agents.weights(data).items():
        assert np.array_equal(agents.weights(other)[name], array) and np.array_equal(agents.weights(bare)[name], array)


@pytest.mark.parametrize("change", [lambda data: data[:-1000], lambda data: data[:-1],
                                    lambda data: data.replace(b'"I8"', b'"F8"')], ids=["cut off", "a byte less", "dtype"])
def test_a_damaged_agent_is_refused(change):
    for use in (agents.weights, agents.compact, lambda data: agents.with_record(data, {})):
        with pytest.raises(envs_c.InvalidArgument, match="the agent's file must be a policy written by `insertcoin export`"):
            use(change(FILES["pong"].read_bytes()))


@needs_browser_tools
@pytest.mark.parametrize(("record", "line"), [
    ({}, ""),
    ({"training_seed": 1, "evaluation": {"mean": 389.46, "episodes": 100, "protocol": {
        "actions": "sampled", "sticky": 0.0, "noop_max": 0}}},
     "one training, seed 1: mean 389.5 of 100 games, sampled actions, without sticky actions, start_speed 60"),
    ({"evaluation": {"mean": -0.12, "episodes": 5, "protocol": {"actions": "greedy", "sticky": 0.25, "noop_max": 30}}},
     "one training, seed not recorded: mean -0.12 of 5 games, greedy actions, sticky actions 0.25, up to 30 no-ops, "
     "start_speed 60")], ids=["none", "whole", "without a seed"])
def test_the_page_says_the_record_of_a_file_and_nothing_of_a_file_without_one(record, line):
    data = agents.with_record(FILES["enduro"].read_bytes(), record)
    assert node("record.mjs", given=data).decode() == line
