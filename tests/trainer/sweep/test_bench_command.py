"""The command `bench`: what its options mean and which are refused, before any training starts."""

import pytest

from trainer.__main__ import main
from trainer.config import Config
from trainer.runs import checkpoint
from trainer.sweep import bench as bench_module


@pytest.fixture
def plans(tmp_path, monkeypatch):
    """The plans of the benches that the command would run. The working folder is empty."""
    found = []
    monkeypatch.setattr(bench_module, "run_bench", lambda plan, *_: found.append(plan))
    monkeypatch.chdir(tmp_path)
    return found


@pytest.mark.parametrize(("words", "sentence"), [
    ("", "GAME is missing: write python -m trainer bench GAME"),
    ("cartpole breakot", "did you mean breakout?"),
    ("cartpole --seeds 0", "--seeds must be an integer from 1 to 100,000, not 0"),
    ("cartpole --seeds 3 --seed 9223372036854775806",
     "--seed must be at most 9,223,372,036,854,775,805 for 3 seeds, not 9,223,372,036,854,775,806"),
    ("cartpole --jobs -1", "--jobs must be an integer from 0 to 4,096, not -1"),
    ("cartpole --sticky 2", "--sticky must be none, or numbers from 0 to 1 with commas, such as 0,0.25, not '2'"),
    ("go --self-play --sticky 0,0.25", "--sticky must be 0 in self-play, not 0,0.25"),
    ("cartpole --eval-episodes 0", "--eval-episodes must be an integer of at least 1, not 0"),
    ("cartpole --run-dir x", "--run-dir is no option of a bench"),
    ("cartpole --gamma 2", "--gamma must be a number from 0 to 1, not 2"),
    ("cartpole --storage x", "--storage must be the URL of a database"),
    *((f"cartpole --name {name}", f"--name must be letters, digits, and any of _ . -, and not only dots, not '{name}'")
      for name in ("..", ".", "a/b", "/a")),
    ("cartpole --name=", "--name must be letters, digits, and any of _ . -, and not only dots, not ''"),
])
def test_a_mistake_is_answered_in_one_line(capsys, tmp_path, monkeypatch, words, sentence):
    monkeypatch.chdir(tmp_path)
    assert main(["bench", *words.split()]) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ") and error.count("\n") == 1
    assert sentence in error
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize(("words", "expected"), [
    ("", ((0.0, 0.25), 10, 0, 30)),
    ("--seeds 3 --jobs 2 --sticky 0.5,0,0.5 --noop-max 7", ((0.5, 0.0), 3, 2, 7)),
    ("--sticky none --noop-max none", ((), 10, 0, None)),
])
def test_a_benchs_options_are_those_of_its_plan(words, expected, plans):
    assert main(["bench", "cartpole", *words.split()]) == 0
    assert [(plan.stickies, plan.seeds, plan.jobs, plan.noop_max) for plan in plans] == [expected]


def test_all_trainings_of_a_bench_begin_with_the_checkpoint_that_was_the_last_one_at_first(plans, tmp_path):
    def saved(name):
        return checkpoint.save(tmp_path / "runs" / name, 1, {}, {"config": Config("cartpole").to_dict()}, score=None)
    saved("old")
    assert main(["bench", "cartpole", "pong", "--init-from", "last"]) == 0
    saved("new")
    first = {config.run.init_from for plan in plans for config in map(plan.config_of, plan.tasks)}
    assert first == {"runs/old/step_000000000001.safetensors"}
    assert {settings["run"]["init_from"] for settings in plans[0].settings.values()} == first


def test_a_bench_from_a_run_that_is_not_there_is_refused(plans, capsys):
    assert main(["bench", "cartpole", "--init-from", "nowhere"]) == 2
    assert "there is no run at nowhere" in capsys.readouterr().err and plans == []


@pytest.mark.parametrize("options", [[], ["--sticky", "0"], ["--sticky", "none"]])
def test_a_bench_of_self_play_has_no_sticky_actions(plans, options):
    assert main(["bench", "go", "--self-play", "--seeds", "2", *options]) == 0
    assert [(task.name, plan.config_of(task).env.sticky) for plan in plans for task in plan.tasks] == [
        ("go-sticky0-s1", 0.0), ("go-sticky0-s2", 0.0)]
