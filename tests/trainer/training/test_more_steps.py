"""`--resume RUN --total-steps N`: a run goes on with more steps, as if it had been started with N."""

import json
from dataclasses import replace

import pytest
from trainer_support import ROLLOUT, config, same
from verb_support import refused, run

import trainer
from trainer.config.config import overlay
from trainer.errors import SettingError
from trainer.ppo.optimizers import entropy_coef, learning_rate
from trainer.runs import checkpoint
from trainer.training.train import train


def constant(folder, iterations):
    """A config without schedules."""
    return overlay(config(folder, iterations=iterations), {"ppo": {"lr_schedule": "constant"}})


@pytest.mark.parametrize("stop", [2, 3])
def test_without_schedules_a_finished_or_stopped_run_goes_on_bit_for_bit(tmp_path, capsys, stop):
    whole, part = train(constant(tmp_path / "whole", 5)), constant(tmp_path / "part", 3)
    train(replace(part, run=replace(part.run, stop_at=stop * ROLLOUT)))
    run(capsys, f"--resume {tmp_path / 'part'} --total-steps {5 * ROLLOUT}")
    same(*(checkpoint.load(checkpoint.latest(folder)).tensors for folder in (whole, tmp_path / "part")))


def test_schedules_go_on_as_those_of_a_run_that_was_started_with_the_new_number(tmp_path, capsys):
    settings = overlay(config(tmp_path / "a", iterations=2), {"ppo": {"lr_schedule": "cosine", "entropy_final": 0.0}})
    longer = overlay(settings, {"ppo": {"total_steps": 6 * ROLLOUT}})
    train(settings)
    run(capsys, f"--resume {tmp_path / 'a'} --total-steps {6 * ROLLOUT}")
    lines = [json.loads(line) for line in (tmp_path / "a" / "metrics.jsonl").read_text().splitlines()]
    assert [line["step"] for line in lines] == [ROLLOUT * k for k in range(1, 7)]
    wanted = [learning_rate((settings if k < 2 else longer).ppo, k * ROLLOUT) for k in range(6)]
    assert [line["learning_rate"] for line in lines] == wanted
    assert wanted[2] > wanted[1] and entropy_coef(longer.ppo, 2 * ROLLOUT) > entropy_coef(settings.ppo, 2 * ROLLOUT)
    saved = checkpoint.read_config(checkpoint.latest(tmp_path / "a"))
    assert saved.ppo.total_steps == 6 * ROLLOUT


@pytest.mark.parametrize(("iterations", "steps", "words"), [
    (2, 2 * ROLLOUT - 1, "--total-steps must be above 1,024, the steps of the resumed run so far, not 1,023"),
    (2, 1, "must be above 1,024"),
    (3, 2 * ROLLOUT, "must be above 1,024, the steps of the resumed run so far, not 1,024"),  # of a run that was stopped there
])
def test_fewer_steps_than_there_are_already_are_refused(tmp_path, capsys, iterations, steps, words):
    train(config(tmp_path / "a", iterations=iterations, stop_at=2 * ROLLOUT))
    capsys.readouterr()
    before = sorted(path.name for path in (tmp_path / "a").iterdir())
    assert words in refused(capsys, f"--resume {tmp_path / 'a'} --total-steps {steps}")
    assert sorted(path.name for path in (tmp_path / "a").iterdir()) == before


def test_the_same_number_of_steps_is_no_change(tmp_path, capsys):
    train(config(tmp_path / "a", iterations=2))
    run(capsys, f"--resume {tmp_path / 'a'} --total-steps {2 * ROLLOUT}")


@pytest.mark.parametrize("step", [1, 2 * ROLLOUT - 1, 2 * ROLLOUT])
def test_a_stop_that_the_run_has_passed_is_refused(tmp_path, capsys, step):
    folder = train(config(tmp_path / "a", iterations=3, stop_at=2 * ROLLOUT))
    capsys.readouterr()
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    words = f"must be above 1,024, the step that the resumed run has reached, not {step:,}"
    assert f"error: --stop-at {words}" in refused(capsys, f"--resume {folder} --stop-at {step}")
    for resumed in (lambda: trainer.train(resume=folder, stop_at=step), lambda: trainer.Session(resume=folder, stop_at=step)):
        with pytest.raises(SettingError, match=f"^stop_at {words}"):
            resumed()
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    run(capsys, f"--resume {folder} --stop-at {2 * ROLLOUT + 1}")
