"""Judgments during a training: one whole episode in each of some environments picks the best checkpoint."""

import json
import math
from dataclasses import replace

import pytest
from foreign import Toy, registered
from foreign import config as toys
from trainer_support import ROLLOUT, config, same

import trainer
from trainer.__main__ import main
from trainer.config import Config, RunConfig
from trainer.config.config import overlay
from trainer.errors import ConfigError
from trainer.play import evaluate
from trainer.policy.load import load_run
from trainer.runs import checkpoint
from trainer.runs.checkpoint_file import read
from trainer.runs.evaluation import JUDGED, JUDGMENTS
from trainer.training import train
from trainer.training.build import make_session
from trainer.training.callbacks import Callbacks
from trainer.training.judge import SEED, SHARE, SHORTEST, Judge

FEW = 2  # episodes of a judgment, of which a training of 8 rollouts can afford several


def entries(folder):
    return [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return train.train(config(tmp_path_factory.mktemp("judged") / "run", judge_episodes=FEW))


def test_the_best_checkpoint_has_the_mean_of_one_whole_episode_in_each_environment_of_a_judgment(run):
    _, envelope = read(run / checkpoint.BEST)
    judged = {entry["step"]: entry[JUDGED] for entry in entries(run) if JUDGED in entry}
    assert envelope["score"] == max(judged.values()) == judged[envelope["step"]]
    _, policy, settings = load_run(run / checkpoint.BEST, "cpu")
    played = evaluate.play(policy, settings.game, settings.env, episodes=FEW, seed=settings.run.seed + SEED)
    assert played.returns.mean() == envelope["score"]


def test_the_end_of_a_training_is_judged(run):
    assert JUDGED in entries(run)[-1]


def test_a_judged_policy_is_saved_at_once(tmp_path):
    """Else a record would be lost with the next update, long before the next checkpoint is due."""
    folder = train.train(config(tmp_path / "run", checkpoint_seconds=1e6, judge_episodes=FEW))
    judged = {entry["step"]: entry[JUDGED] for entry in entries(folder) if JUDGED in entry}
    assert min(judged) < 8 * ROLLOUT
    assert sorted(folder.glob("step_*")) == [checkpoint.path_of(folder, step) for step in (0, *judged)]
    assert checkpoint.best_score(folder) == max(judged.values())


def test_a_loop_of_ones_own_judges_at_the_same_steps_and_saves_the_same_best_policy(run, tmp_path):
    with trainer.Session(config(tmp_path / "unused", judge_episodes=FEW)) as session:
        judged = {}
        for metrics in session:
            if JUDGED in metrics:
                judged[session.step] = metrics[JUDGED]
                session.save(tmp_path / "mine")
    assert judged == {entry["step"]: entry[JUDGED] for entry in entries(run) if JUDGED in entry}
    mine, theirs = (checkpoint.load(folder / checkpoint.BEST).tensors for folder in (tmp_path / "mine", run))
    same(mine, theirs)


@pytest.mark.parametrize("options", [{"fault": 3}, {"length": 10**9}])
def test_a_judgment_that_fails_costs_no_step_of_the_training(tmp_path, monkeypatch, capsys, options):
    """Environments of a judgment are new ones: here these alone raise an error, or have no end."""
    with registered() as made:
        train.train(toys(tmp_path / "run", judge_episodes=2, stop_at=64, checkpoint_seconds=1e6))
        monkeypatch.setattr(evaluate, "LONGEST", 100)
        before = len(made)

        def init(self, original=Toy.__init__, **given):
            original(self, **(given | (options if len(made) >= before + 4 else {})))
        monkeypatch.setattr(Toy, "__init__", init)
        assert main(["--resume", str(tmp_path / "run")]) == 2
    printed = capsys.readouterr()
    assert "a judgment of the policy failed (--judge-episodes 0 leaves judgments out); saved at step 128" in printed.out
    assert entries(tmp_path / "run")[-1]["step"] == 128
    assert checkpoint.latest(tmp_path / "run") == checkpoint.path_of(tmp_path / "run", 128)


def test_judgments_change_no_weight(run, tmp_path):
    without = train.train(config(tmp_path / "without", judge_episodes=0))
    same(*(checkpoint.load(checkpoint.latest(folder)).tensors for folder in (run, without)))
    assert not any(JUDGED in entry for entry in entries(without))
    assert checkpoint.best_score(without) == max(entry["score_mean"] for entry in entries(without))


def test_a_resumed_run_judges_at_the_same_steps_with_the_same_scores(run, tmp_path):
    def stopping(session):
        session.callbacks = Callbacks(on_update=lambda session, _: session.stop() if session.iteration == 5 else None)
        return session
    parts = train.train(config(tmp_path / "parts", judge_episodes=FEW), stopping)
    train.train(config(parts, resume=str(parts), judge_episodes=FEW))
    judged = [{entry["step"]: entry[JUDGED] for entry in entries(folder) if JUDGED in entry} for folder in (run, parts)]
    assert judged[0] == judged[1] and min(judged[1]) < 5 * ROLLOUT


def test_a_run_from_before_judgments_goes_on_by_its_recent_episodes(tmp_path):
    folder = train.train(config(tmp_path / "run", stop_at=3 * ROLLOUT, judge_episodes=0))
    tensors, meta, _ = checkpoint.load(checkpoint.latest(folder))
    del meta["judged"], meta["config"]["run"]["judge_episodes"]
    checkpoint.save(folder, 3 * ROLLOUT, tensors, meta, score=None)
    saved = checkpoint.read_config(checkpoint.latest(folder))
    train.train(replace(saved, run=replace(saved.run, resume=str(folder), stop_at=None)))
    assert not any(JUDGED in entry for entry in entries(folder))
    assert checkpoint.best_score(folder) == max(entry["score_mean"] for entry in entries(folder))


@pytest.mark.parametrize("judged", [[1], [1, -1], [1, "2"], [1, 2, 3], None])
def test_damaged_steps_of_judgments_are_named(run, judged):
    path = checkpoint.latest(run)
    with pytest.raises(checkpoint.CheckpointError, match="judged must be a list of two integers of at least 0"):
        checkpoint.progress(path, checkpoint.read_meta(path) | {"judged": judged})


RUNGS = [500 * k for k in range(1, JUDGMENTS + 1)]


@pytest.mark.parametrize(("spent", "last", "lengths", "episodes", "first"), [
    (0, 0, [5] * 8, 10**6, 500),            # 2 episodes of 5 steps are 1/40 of 400
    (100, 0, [5] * 8, 10**6, 4_500),        # with the 100 steps before, of 4,400
    (100, 25, [5] * 8, 10**6, 5_000),       # the last one was longer
    (0, 0, [20] * 8, 10**6, 2_000),         # longer recent episodes; the first that is affordable is 1,600
    (0, 0, [5] * 8, 74, 10_000),            # 2 of the training's 79 episodes, with those that run, are more than 1/40
    (0, 0, [5] * 7 + [100], 10**6, 2_000),  # one is as long as a judgment's may be: at most 100 steps until 1,600
    (0, 0, [], 0, 10_000),                  # no episode has ended
    (10_000, 0, [5] * 8, 10**6, 10_000)])
def test_judgments_come_at_the_rungs_at_which_they_should_take_few_steps_and_be_whole(spent, last, lengths, episodes, first):
    """first: the first rung with a judgment; all later ones have one too. The end has one in any case."""
    settings = overlay(Config("cartpole"), {"env": {"num_envs": 10}, "run": {"judge_episodes": 2},
                                            "ppo": {"horizon": 10, "minibatch": 100, "total_steps": 10_000}})
    judge = Judge(settings, spent=spent, last=last)
    due = [step for step in range(100, 10_001, 100) if judge.is_due(step, lengths, episodes)]
    assert due == [step for step in RUNGS if step >= first]


@pytest.mark.parametrize(("episodes", "total_steps"), [(FEW, 8 * ROLLOUT), (16, 40 * ROLLOUT)])
def test_judgments_before_the_end_are_scored_and_take_a_small_share_of_the_steps(episodes, total_steps, tmp_path):
    """Episodes of a random policy of cartpole are about as long all the time."""
    session = make_session(overlay(config(tmp_path), {"ppo": {"total_steps": total_steps, "learning_rate": 1e-9},
                                                      "run": {"judge_episodes": episodes}}))
    judged = []
    while session.step < total_steps - ROLLOUT:
        train.iterate(session)
        judged += train.judge(session, lambda: False).values()
        assert session.judge.spent <= 2 / SHARE * session.step
    assert judged and None not in judged


def test_the_steps_of_all_judgments_are_counted_also_after_a_resume(tmp_path):
    session, last = make_session(config(tmp_path)), []
    for step in (0, ROLLOUT):
        session.judge.judge(session.policy, step)
        last.append(session.judge.last)
    assert min(last) > 64 and session.judge.spent == sum(last)
    resumed = make_session(session.config, resume=session.save(tmp_path)).judge
    assert (resumed.spent, resumed.last) == (sum(last), last[-1])


def test_an_interrupt_ends_a_judgment_without_a_score(tmp_path):
    session = make_session(config(tmp_path))
    train.iterate(session)
    calls = []
    assert session.judge.judge(session.policy, session.step, lambda: calls.append(1) or len(calls) > 3) is None
    assert len(calls) == 4 and session.judge.score_at(session.step) is None and session.judge.spent == 0
    score = session.judge.judge(session.policy, session.step)
    assert session.judge.score_at(session.step) == score and session.judge.score_at(session.step + 1) is None
    assert session.judge.spent == session.judge.last > 64


def test_an_interrupted_training_is_not_judged(tmp_path):
    class Interrupted(Judge):
        def is_due(self, *_):
            return True

        def judge(self, *_):
            raise AssertionError("it must not play")
    session = make_session(config(tmp_path))
    session.judge = Interrupted(session.config)
    assert train.judge(session, lambda: True) == {}


def test_the_default_is_64_for_our_games_and_recent_episodes_for_others():
    assert Config("pong").judges == 64
    assert Config("gym:CartPole-v1").judges == 0
    assert Config("gym:CartPole-v1", run=RunConfig(judge_episodes=8)).judges == 8
    assert overlay(Config("go"), {"self_play": {"self_play": True}}).judges == 0


def test_a_judgment_favours_no_short_episodes(tmp_path):
    """At the beginning of a training all environments begin together, so the first ends are those of short episodes."""
    session = make_session(overlay(config(tmp_path), {"env": {"num_envs": 256, "sticky": 0.0, "time_limit": 500},
                                                      "ppo": {"horizon": 8, "minibatch": 512}}))
    while session.score_mean() is None:
        train.iterate(session)
    assert session.judge.judge(session.policy, session.step) > 1.5 * session.score_mean()


def test_episodes_without_an_end_are_cut_off(tmp_path):
    settings = overlay(Config("tmaze"), {"env": {"time_limit": 10_000}, "run": {"judge_episodes": 4}})
    judge = Judge(settings)
    assert [judge.longest(step) for step in (0, 3_200, 6_400, 10**9)] == [100, 100, 200, evaluate.LONGEST]
    other = config(tmp_path)
    played = evaluate.play(make_session(other).policy, other.game, replace(other.env, time_limit=500), episodes=8, seed=1,
                           longest=3)
    assert played.lengths.tolist() == [3] * 8


def test_a_judgment_that_cuts_episodes_has_no_score_and_its_policy_stands_in_until_one_has(tmp_path):
    """Of a game that takes points away, the first part of an episode would have the highest score of the training."""
    settings = overlay(config(tmp_path), {"env": {"time_limit": 4 * SHORTEST}})
    session = make_session(settings)
    session.judge = Cutting(settings)
    scores = []
    for cut in (5, 3, 4 * SHORTEST, 5):
        session.judge.cut = cut
        train.iterate(session)
        scores.append(train.judge(session, lambda: False))
        session.save(tmp_path)
        best = read(tmp_path / checkpoint.BEST)[1]
        assert best["step"] == (session.step if len(scores) < 4 else session.step - ROLLOUT)
    assert [one[JUDGED] is None for one in scores] == [True, True, False, True]
    assert best["score"] == scores[2][JUDGED]


@pytest.mark.parametrize(("judged", "score", "surpassed"), [
    (1, None, -math.inf), (2, None, 7.0), (3, None, None), (2, 7.0, None), (1, 7.0, None)])
def test_a_judgment_without_a_score_counts_by_its_part_only_at_the_end(tmp_path, judged, score, surpassed):
    """judged: the iteration of two that was judged last; surpassed: the score that the policy of the present one surpasses."""
    settings = overlay(config(tmp_path), {"ppo": {"total_steps": 2 * ROLLOUT}})
    judge = Judge(settings, mean=7.0, score=score, step=judged * ROLLOUT)
    assert judge.stands_in(min(judged, 2) * ROLLOUT) == surpassed


class Cutting(Judge):
    """A judge at every step whose episodes are cut at `cut`."""

    cut = 0

    def is_due(self, step, lengths, episodes):
        return True

    def longest(self, step):
        return self.cut


@pytest.mark.parametrize(("game", "time_limit"), [("cartpole", 100), ("tmaze", 80)])
def test_the_time_limit_of_a_run_cuts_nothing(game, time_limit, tmp_path):
    settings = overlay(config(tmp_path, game=game), {"env": {"time_limit": time_limit}})
    judge = Judge(settings)
    assert judge.longest(0) == SHORTEST >= time_limit
    assert judge.judge(make_session(settings).policy, 0) is not None


def test_bad_numbers_of_episodes_are_refused():
    with pytest.raises(ConfigError, match="judge_episodes must be none, or an integer from 0 to 1,048,576, not -1"):
        RunConfig(judge_episodes=-1)


def test_self_play_refuses_judgments_which_it_would_not_make():
    with pytest.raises(ConfigError, match=r"judge_episodes must be none in self-play, .*, not 8: leave it out"):
        overlay(Config("go"), {"self_play": {"self_play": True}, "run": {"judge_episodes": 8}})
    saved = overlay(Config("go"), {"self_play": {"self_play": True}}).to_dict()
    saved["run"]["judge_episodes"] = 8  # an older version ignored it
    assert Config.from_dict(saved).judges == 0


def test_a_resumed_run_may_have_other_judgments(tmp_path):
    folder = train.train(config(tmp_path / "run", stop_at=3 * ROLLOUT, judge_episodes=FEW))
    trainer.train(resume=folder, judge_episodes=0)
    assert JUDGED not in entries(folder)[-1] and entries(folder)[-1]["step"] == 8 * ROLLOUT


def test_without_judgments_there_is_no_record_before_as_many_episodes_have_ended_as_there_are_environments(tmp_path):
    """Else one lucky short episode may be the record of a whole training."""
    session = make_session(config(tmp_path, judge_episodes=0))
    assert session.config.env.num_envs == 16
    for episodes, score, best in ((0, None, None), (1, 99.0, None), (15, 90.0, None), (16, 5.0, 5.0), (17, 4.0, 5.0)):
        session.iteration, session.episodes = session.iteration + 1, episodes
        session.recent.clear()
        session.recent.extend([(score, 3)] if score else [])
        session.save(tmp_path)
        assert (tmp_path / checkpoint.BEST).exists() == (episodes > 0)
        assert checkpoint.best_score(tmp_path) == best
