"""Films of evaluations show exactly their episodes."""

import imageio.v3 as iio
import numpy as np
import pytest
import trainer_support
from evaluate_support import config, play

import trainer
from trainer.config.config import overlay
from trainer.errors import ConfigError
from trainer.files import read_json
from trainer.play import film
from trainer.runs.evaluation import every


@pytest.mark.parametrize("sticky", [0.0, 0.4])
def test_a_film_replays_the_episode_to_its_end(sticky):
    result = play(config("breakout", sticky=sticky, time_limit=2000), episodes=4)
    index = int(result.returns.argmax())
    screens = film.frames(result, index, 10_000)
    assert len(screens) == result.lengths[index] + 1
    result.source.restore(result.states)  # replay in the environments of the evaluation
    arrays = [np.zeros((4, *result.source.env.observation_shape), np.float32), *np.zeros((3, 4), np.float32)]
    actions = np.zeros(4, np.int32)
    batch = result.source.env.bind(0, 4, actions=actions, observation=arrays[0], reward=arrays[1], terminated=arrays[2],
                            truncated=arrays[3])
    for step in range(result.lengths[index]):
        assert (screens[step] == result.source.env.render(index)).all()
        actions[:] = result.actions[step]
        batch.step()
    assert result.source.env.ended[index]


@pytest.mark.parametrize("suffix", [".gif", ".mp4"])
def test_films_are_written(tmp_path, suffix):
    result = play(config("breakout", time_limit=40), episodes=2)
    path = tmp_path / f"film{suffix}"
    assert str(path) in film.write(result, 1, path)
    pictures = iio.imread(path)
    assert len(pictures) <= result.lengths[1] + 1  # a GIF shows equal pictures once, for longer
    assert len(pictures) > result.lengths[1] // 2
    height, width = pictures.shape[1:3]
    assert (height, width) in [(210, 160), (420, 320)]
    assert pictures[0].std() > 10  # not blank


@pytest.mark.parametrize(("name", "message"), [
    ("film.avi", "must end in .gif or .mp4"), ("nowhere/film.gif", "must be in a folder that exists")])
def test_a_film_that_cannot_be_written_is_refused_before_playing(tmp_path, name, message):
    with pytest.raises(ConfigError, match=message):
        film.check_name(tmp_path / name)


@pytest.mark.parametrize("game", ["cartpole", "go"])
def test_a_folder_in_the_place_of_the_film_costs_a_training_no_evaluation(tmp_path, capsys, game):
    """A user makes it while the training runs."""
    settings = trainer_support.config(tmp_path / "run", iterations=1, game=game, eval_episodes=3, gif=True)
    if game == "go":
        settings = overlay(settings, {"self_play": {"self_play": True, "anchor_games": 1}, "policy": {"encoder": "mlp"},
                                      "env": {"sticky": 0.0, "time_limit": None, "options": {"size": 5, "komi": 0.5}}})
    trainer.train(settings, on_rollout=lambda session: (tmp_path / "run" / "episode.gif").mkdir())
    found = read_json(tmp_path / "run" / "evaluation.json")
    assert [one["protocol"]["actions"] for one in every(found)] == ["sampled", "greedy"]
    assert f"cannot write the film {tmp_path / 'run' / 'episode.gif'}: Is a directory" in capsys.readouterr().out
