"""A run whose game has another version than its checkpoint goes on with new episodes, and says so."""

import re
from dataclasses import replace

import pytest
import torch

import envs_c
import trainer
from trainer.config import Config, EnvConfig, PolicyConfig, PPOConfig, RunConfig, SelfPlayConfig
from trainer.errors import RunError
from trainer.ppo.losses import losses, select
from trainer.rollout.actor import collect
from trainer.runs import checkpoint
from trainer.runs.resume import saved_config
from trainer.training.build import make_session
from trainer.training.initial import initial_weights
from trainer.training.train import iterate

RUN = RunConfig(device="cpu", dashboard=False, eval_episodes=0, gif=False)
SMALL = PolicyConfig(encoder="mlp", encoder_size=16, lstm_size=12, precision="float32")
PPO = PPOConfig(horizon=8, minibatch=32, total_steps=1000)
CONFIGS = {
    "games": Config("breakout", EnvConfig(num_envs=8, num_threads=1), SMALL, PPO, RUN),
    "self-play": Config("go", EnvConfig(num_envs=8, num_threads=1, options={"size": 5, "komi": 0.5}), SMALL, PPO, run=RUN,
                        self_play=SelfPlayConfig(self_play=True, pool_size=3, snapshot_every=1, anchor_games=2)),
}


@pytest.fixture(params=CONFIGS)
def older(request, tmp_path):
    """A config, and the path and content of a checkpoint that another version of the game has written."""
    settings = CONFIGS[request.param]
    session = make_session(settings)
    iterate(session)
    path = session.save(tmp_path)
    session.close()
    return settings, path, of_another_version(checkpoint.load(path))


def of_another_version(content):
    """A checkpoint's content as another version of the game has written it."""
    state = bytes(content.tensors["pipeline.environments"].numpy())
    other = re.sub(rb'"version": \d', b'"version": 0', state)
    tensors = {**content.tensors, "pipeline.environments": torch.frombuffer(bytearray(other), dtype=torch.uint8)}
    return content._replace(tensors=tensors)


def test_it_goes_on_with_the_weights_and_new_episodes(older):
    settings, path, content = older
    session = make_session(settings)
    first = session.pipeline.state()["environments"]
    session.restore(content, path)
    assert session.notes == [f"{settings.game} has changed since {path} was written: new episodes begin"]
    assert session.iteration == 1 and torch.equal(session.policy.heads.weight, content.tensors["policy.heads.weight"])
    assert not torch.equal(session.pipeline.state()["environments"], first)  # other episodes than those of the run's begin
    collect(session.actor)
    stored = session.storage
    assert stored.start[0].all()
    batch = select(session.policy, stored, stored.advantages(stored.reward[1:], 0.99, 0.95), torch.arange(4))
    with torch.no_grad():
        assert (losses(session.policy, batch, session.config.ppo)[2] - 1).abs().max() <= 1e-5
    session.close()


def test_two_resumes_begin_the_same_episodes(older):
    settings, path, content = older
    states = []
    for _ in range(2):
        session = make_session(settings)
        session.restore(content, path)
        states.append(session.pipeline.state()["environments"])
        session.close()
    assert torch.equal(*states)


@pytest.mark.parametrize("overlap", [False, True])
@pytest.mark.parametrize("size", [1, 3])
def test_new_games_of_self_play_are_against_the_pool_and_go_on_with_its_numbers(tmp_path, size, overlap):
    settings = CONFIGS["self-play"]
    settings = replace(settings, ppo=replace(PPO, overlap=overlap), self_play=replace(
        settings.self_play, pool_size=size, pool_active=1, current_share=0))
    session = make_session(settings)
    for _ in range(5):
        iterate(session)
    content = of_another_version(checkpoint.load(path := session.save(tmp_path)))
    session.close()
    session = make_session(settings)
    session.restore(content, path)
    source, pool = session.pipeline.source, session.league.pool
    pool.begin_rollout(session.iteration)
    assert set(source.opponent) == set(pool.active) and source.opponent[0] in pool.players
    for name, begun in (("games", 1), ("steps", 0)):
        assert (getattr(source, name) == content.tensors[f"pipeline.self_play.{name}"].numpy() + begun).all()
    iterate(session)
    session.close()


def test_the_error_of_another_version_is_told_from_other_errors():
    state = envs_c.make("pong", 1, seed=1).get_state()
    with pytest.raises(envs_c.InvalidState) as error:
        envs_c.make("breakout", 1).set_state(state)
    assert not isinstance(error.value, envs_c.OtherVersion)
    with pytest.raises(envs_c.OtherVersion, match="this state has version 0"):
        envs_c.make("pong", 1).set_state(re.sub(rb'"version": \d', b'"version": 0', state))


@pytest.mark.parametrize("game", ["{}/gone.pyx", "gym:{}/gone.py:Env"])
def test_a_run_whose_game_s_file_is_gone_says_so_and_its_weights_begin_a_new_run(tmp_path, game):
    game, meanwhile = game.format(tmp_path), make_session(CONFIGS["games"])
    content = checkpoint.load(meanwhile.save(tmp_path / "there"))
    settings = content.meta["config"] | {"game": game, "env": content.meta["config"]["env"] | {"view": "features"}}
    path = checkpoint.save(tmp_path / "a run", 0, content.tensors, content.meta | {"config": settings}, score=None)
    with pytest.raises(RunError, match=rf"a run cannot go on: game file '{tmp_path}/gone.\w+' does not exist; put ") as error:
        saved_config(path, tmp_path / "a run", None, lambda game, run: f"insertcoin {game} --resume '{run}'")
    assert re.search(r", name its new place \(insertcoin \S*FOLDER/gone\.\w+\S* --resume '.*/a run'\), or ", str(error.value))
    named = re.search(r"with these weights: --init-from '([^']+)'$", str(error.value))[1]
    assert initial_weights(meanwhile.policy, named)[1] == f"weights of {named}"
    with pytest.raises(RunError, match=f"with these weights: init_from='{named}'$"):
        trainer.train(resume=path.parent)
    meanwhile.close()
