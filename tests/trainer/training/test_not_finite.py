"""An observation or a reward that is nan or infinite is named, with its environment and its step."""

import re

import numpy as np
import pytest
import torch
from foreign import GAME, Toy, config, registered
from gymnasium.vector import SyncVectorEnv

import trainer
from bridge import EnvironmentFailed, GymnasiumSource, HostDevice, Pipeline
from bridge.source import BoundGames
from trainer.config import Config, EnvConfig, PolicyConfig, PPOConfig, RunConfig
from trainer.config.config import overlay
from trainer.environments import make_source
from trainer.errors import ConfigError, LearningError
from trainer.play import evaluate
from trainer.policy.load import load_policy
from trainer.policy.make import make_policy
from trainer.runs import checkpoint
from trainer.training import train


@pytest.fixture
def toys():
    with registered() as made:
        yield made


@pytest.mark.parametrize(("options", "text", "step"), [
    ({"nan": 12}, "environment 0 (Toy-v0) returned nan in its observation in step 2 of its episode", 8),
    ({"infinite": 12}, "environment 0 (Toy-v0) returned -inf in its observation in step 2 of its episode", 8),
    ({"reward": 4}, "environment 0 (Toy-v0) returned nan in its reward in step 4 of its episode", 0),
    ({"nan": 0}, "environment 0 (Toy-v0) returned nan in its observation at a reset", None),
])
def test_gymnasium_s_environments_are_named_at_once(tmp_path, toys, options, text, step):
    settings = config(tmp_path / "run", options=options, policy={"normalize_observations": True})
    with pytest.raises(EnvironmentFailed, match=f"^{re.escape(text)}: correct the environment, or wrap it .*$"):
        train.train(settings)
    if step is not None:  # the rollouts before this one are saved
        assert checkpoint.latest(tmp_path / "run").name == f"step_{4 * step:012d}.safetensors"


def test_an_evaluation_names_them_too(toys):
    settings = config("", options={"length": 20, "nan": 12})
    source = make_source(GAME, settings.env, 1, 0)
    policy = make_policy(settings.policy, source, 1, torch.float32)
    source.close()
    with pytest.raises(EnvironmentFailed, match=r"environment 0 .* returned nan in its observation in step 12 of its episode"):
        evaluate.play(policy, GAME, settings.env, episodes=3, seed=1)


def test_the_reward_of_a_step_that_only_resets_does_not_count():
    class Odd(SyncVectorEnv):
        def step(self, actions):
            resets = self._autoreset_envs
            observation, reward, *rest = super().step(actions)
            return observation, np.where(resets, np.nan, reward), *rest
    pipeline = Pipeline(GymnasiumSource([Odd([lambda: Toy(length=2)] * 2)], owned=True), 1, HostDevice())
    pipeline.reset()
    slab, rewards = pipeline.slabs[0], []

    def work():
        slab.actions.zero_()
    for _ in range(6):
        pipeline.turn(pipeline.batches[0], work)
        pipeline.settle()
        rewards.append(slab.host["reward"][0])
    pipeline.close()
    assert rewards == [1, 1, 0, 1, 1, 0]


def game_config(folder, **policy) -> Config:
    return Config("cartpole", EnvConfig(num_envs=8, num_batches=2, num_threads=1),
                  PolicyConfig(encoder_size=8, lstm_size=8, precision="float32", **policy),
                  PPOConfig(horizon=16, minibatch=64, total_steps=16 * 8 * 4),
                  RunConfig(run_dir=str(folder), device="cpu", dashboard=False, eval_episodes=0, gif=False))


@pytest.mark.parametrize(("policy", "name", "value", "step"), [
    (policy, name, value, step) for policy in ({}, {"normalize_observations": True}, {"frame_stack": 2})
    for name in ("observation", "reward") for value in (np.nan, np.inf) for step in (1, 21, 31, 32)
    # an infinite observation is clipped if it is normalized; then it is found in the sample, which has not all steps
    if not (policy.get("normalize_observations") and name == "observation" and value == np.inf and step == 1)])
def test_a_game_is_named_in_place_of_the_learning_rate(tmp_path, monkeypatch, policy, name, value, step):
    original, calls = BoundGames.finish, []

    def finish(self, log):
        result = original(self, log)
        calls.append(self.batch.lo)
        if calls.count(4) == step and self.batch.lo == 4:  # of the second batch, environments 4 to 7
            self.batch.buffers[2 if name == "reward" else 1][1] = value
        return result
    monkeypatch.setattr(BoundGames, "finish", finish)
    with pytest.raises(LearningError) as error:
        train.train(game_config(tmp_path / "run", **policy))
    begin = rf"environment 5 returned {value} in its {name} in step {step}; .* is (nan|not finite).*"
    assert re.match(rf"{begin}, iteration {1 if step <= 16 else 2}; "
                    r"the last good checkpoint is .*: correct the game \(`.* check` tests a game\), and resume it$",
                    str(error.value)), str(error.value)


def test_a_callback_is_named_beside_the_game(tmp_path):
    def spoil(session):
        session.storage.reward[3] = np.nan
    with pytest.raises(LearningError, match=r"correct the game .*, or on_rollout, which may change a rollout, and resume it$"):
        trainer.train(game_config(tmp_path / "run"), on_rollout=spoil)


@pytest.mark.parametrize("ppo", [{}, {"normalize_rewards": True}, {"reward_transform": "own_learning:doubled"}])
@pytest.mark.parametrize("value", [3e38, -3e38, np.inf, np.nan])
def test_a_reward_that_is_too_large_is_named_too(tmp_path, monkeypatch, value, ppo):
    original = BoundGames.finish

    def finish(self, log):
        result = original(self, log)
        self.batch.buffers[2][:] = value
        return result
    monkeypatch.setattr(BoundGames, "finish", finish)
    settings = overlay(game_config(tmp_path / "run"), {"ppo": ppo})
    with pytest.raises(LearningError, match=rf"^environment 0 returned {re.escape(f'{value:g}')} in its reward in step 1; "):
        train.train(settings)


def test_an_evaluation_without_a_finite_score_names_the_environment(tmp_path, monkeypatch):
    settings = game_config(tmp_path / "run")
    policy, _ = load_policy(checkpoint.latest(train.train(settings)))
    original = Pipeline.take_episodes

    def infinite(self):
        found = original(self)
        return found._replace(returns=np.where(found.environments == 1, np.inf, found.returns))
    monkeypatch.setattr(Pipeline, "take_episodes", infinite)
    with pytest.raises(ConfigError, match="environment 1 returned rewards whose sum over its episode is inf, so there"):
        evaluate.play(policy, settings.game, settings.env, episodes=3, seed=1)


def test_a_term_of_the_user_s_loss_is_named(tmp_path, monkeypatch):
    (tmp_path / "odd_loss.py").write_text("import torch\n\ndef late(batch, outputs):\n    late.calls += 1\n    return {'extra':"
                                          " torch.tensor(float('nan') if late.calls > 2 else 0.0)}\n\nlate.calls = 0\n")
    monkeypatch.syspath_prepend(tmp_path)
    settings = overlay(game_config(tmp_path / "run"), {"ppo": {"loss": "odd_loss:late"}})
    with pytest.raises(LearningError, match=r"^the term extra of your loss is nan in .*, or a corrected --loss odd_loss:late$"):
        train.train(settings)


def test_learning_that_diverged_names_a_new_run_that_begins_with_the_last_weights(tmp_path, monkeypatch):
    original, policies = train.iterate, []

    def iterate(session):
        if policies:
            session.policy.heads.weight.data.fill_(np.nan)
        policies.append(session.policy)
        return original(session)
    monkeypatch.setattr(train, "iterate", iterate)
    with pytest.raises(LearningError, match=r"^the policy's loss is nan .*, iteration 2; .* --learning-rate$") as error:
        train.train(game_config(tmp_path / "run"))
    monkeypatch.setattr(train, "iterate", original)
    path = re.search(r"a new run with its weights \(--init-from (\S+)\) and other settings", str(error.value))[1]
    changes = {"run": {"init_from": path}, "ppo": {"learning_rate": 1e-4}}
    assert train.train(overlay(game_config(tmp_path / "new"), changes)) == tmp_path / "new"
