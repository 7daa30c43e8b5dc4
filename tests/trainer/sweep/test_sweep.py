"""Sweeps in one process: trials, pruning, failures, interrupts, resuming and reports. Functions stand in for trainings."""

import os
import subprocess
import sys

import optuna
import pytest
from sweep_support import BASE, SPACE, quality, stand_in

from trainer.__main__ import main
from trainer.config.config import overlay
from trainer.config.games import GameName
from trainer.config.preset import preset_file
from trainer.errors import SweepError
from trainer.sweep.report import settings_of, write_report
from trainer.sweep.study import counted
from trainer.sweep.trial import TrialFailed

PRUNED, COMPLETE, FAIL = optuna.trial.TrialState.PRUNED, optuna.trial.TrialState.COMPLETE, optuna.trial.TrialState.FAIL


pytestmark = pytest.mark.filterwarnings("ignore:Heartbeat of storage is supposed")  # if a test calls study.ask()


def states(study):
    return [trial.state for trial in study.trials]


def values(study):
    return [trial.params for trial in study.trials]


def failing_at(*numbers, error):
    """A stand-in; the calls with these numbers raise `error`."""
    calls = iter(range(1000))

    def before(config):
        if next(calls) in numbers:
            raise error
    return lambda config, folder, watch: stand_in(config, folder, watch, before)


def test_a_sweep_ends_with_its_best_settings_a_table_and_pictures(sweep, capsys):
    study = sweep(10, pictures=True)
    assert states(study) == [COMPLETE] * 10
    assert preset_file(GameName("cartpole"), str(sweep.folder / "best.toml")) == settings_of(study, study.best_trial)
    assert settings_of(study, study.best_trial).ppo.learning_rate == study.best_params["learning_rate"]
    for name in ("history.png", "curves.png", "pareto.png", "importances.png"):
        assert (sweep.folder / name).read_bytes().startswith(b"\x89PNG")
    printed = capsys.readouterr().out
    assert "sweep test: 10 finished" in printed
    assert f"--preset {sweep.folder / 'best.toml'}" in printed
    lines = printed.splitlines()
    (heading,) = [k for k, line in enumerate(lines) if line.split()[:3] == ["trial", "score", "±"]]
    scores = [float(line.split()[1]) for line in lines[heading + 1 : heading + 11]]
    assert scores == sorted(scores, reverse=True)
    assert scores[0] == pytest.approx(study.best_value, rel=1e-3)


def test_the_best_settings_of_a_sweep_from_before_a_setting_keep_how_its_trials_trained(sweep):
    study = sweep(1)
    facts = study.user_attrs["facts"]
    del facts["settings"]["ppo"]["normalize_steps"]
    study.set_user_attr("facts", facts)
    assert facts["settings"]["ppo"]["normalize_rewards"] and settings_of(study, study.best_trial).ppo.normalize_steps == 0


def test_settings_that_have_an_effect_with_some_values_of_a_range_stay_as_the_trials_had_them(sweep):
    base = overlay(BASE, {"policy": {"noise_hold": 1, "noise_hold_after": "any"}})
    study = sweep(3, base=base, space={"policy": {"noise_hold": {"choices": [16, 8]}}})
    held = {trial.params["noise_hold"] for trial in study.trials}
    assert held <= {16, 8}
    for trial in study.trials:
        made = settings_of(study, trial).policy
        assert (made.noise_hold, made.noise_hold_after) == (trial.params["noise_hold"], "any")
    found = preset_file(GameName("cartpole"), str(sweep.folder / "best.toml")).policy
    assert found.noise_hold in held and found.noise_hold_after == "any"


def test_of_equal_scores_the_cheaper_one_is_the_best(sweep):
    study = sweep(10, space={"ppo": {"epochs": {"choices": [3, 1, 2]}}})  # no setting of the score, and minutes are epochs
    assert len({trial.params["epochs"] for trial in study.trials}) > 1 and len({trial.value for trial in study.trials}) == 1
    fewest = min(trial.params["epochs"] for trial in study.trials)
    assert preset_file(GameName("cartpole"), str(sweep.folder / "best.toml")).ppo.epochs == fewest


def test_the_first_trial_has_the_presets_own_settings(sweep):
    assert values(sweep(1)) == [{"learning_rate": BASE.ppo.learning_rate, "epochs": BASE.ppo.epochs}]


def test_a_trial_keeps_its_cost_and_its_score(sweep):
    study = sweep(1, prune=True)
    assert study.trials[0].user_attrs["minutes"] == 1.0
    assert study.trials[0].user_attrs["steps"] == 10_000
    assert study.trials[0].user_attrs["standard_error"] == 1.5
    assert study.trials[0].intermediate_values == pytest.approx(
        {500 * k: quality(BASE) * -(-k // 2) / 10 for k in range(1, 20)})


@pytest.mark.parametrize("journal", [False, True], ids=["database", "journal"])
def test_a_resumed_sweep_draws_the_same_values_as_one_that_never_stopped(sweep, tmp_path, journal):
    urls = [f"journal:{tmp_path / name}" if journal else f"sqlite:///{tmp_path / name}" for name in ("a", "b")]
    whole = sweep(6, url=urls[0], folder="whole")
    sweep(3, url=urls[1])
    parts = sweep(6, url=urls[1])
    assert values(parts) == values(whole)
    assert len({tuple(params.items()) for params in values(whole)}) == 6


def test_a_trial_behind_the_median_is_pruned_and_another_is_not(sweep, capsys):
    study = sweep(12, prune=True)
    assert {PRUNED, COMPLETE} == set(states(study))
    assert states(study)[:3] == [COMPLETE] * 3  # the startup trials
    for trial in study.trials:
        if trial.state == PRUNED:
            assert trial.user_attrs["reason"].startswith("below the median at step")
            assert 2000 <= trial.user_attrs["steps"] < 10_000
    pruned = states(study).count(PRUNED)
    assert f"{12 - pruned} finished, {pruned} pruned" in capsys.readouterr().out
    assert study.best_trial.state == COMPLETE


def test_a_trial_that_trains_for_too_long_is_pruned(sweep):
    study = sweep(6, minutes=2.5)
    for trial in study.trials:
        slow = trial.params["epochs"] > 2
        assert trial.state == (PRUNED if slow else COMPLETE)
        assert not slow or "trained for longer than 2.5 minutes" in trial.user_attrs["reason"]


def test_a_failed_trial_is_printed_and_the_sweep_continues(sweep, capsys):
    study = sweep(5, trial=failing_at(1, 3, error=TrialFailed("out of memory")))
    assert states(study) == [COMPLETE, FAIL, COMPLETE, FAIL, COMPLETE]
    printed = capsys.readouterr().out
    assert "3 finished, 2 failed" in printed
    assert printed.count("trial 3: out of memory") == 1


def test_settings_that_exclude_each_other_are_pruned_with_the_reason(sweep, capsys):
    study = sweep(6, space={"policy": {"layers": {"choices": [1, 2]}}})
    assert {trial.params["layers"]: trial.state for trial in study.trials} == {1: COMPLETE, 2: PRUNED}
    printed, finished = capsys.readouterr().out, states(study).count(COMPLETE)
    assert "pruned: refused: layers must be 1" in printed
    assert f" {finished} finished, {6 - finished} refused" in printed


def test_a_sweep_of_failures_ends_with_an_error(sweep):
    with pytest.raises(SweepError, match=r"no trial of test has finished, .* \(0 finished, 2 failed\)"):
        sweep(2, trial=failing_at(0, 1, error=TrialFailed("out of memory")))


def test_an_interrupted_trial_is_marked_and_does_not_count(sweep, capsys):
    with pytest.raises(KeyboardInterrupt):
        sweep(4, trial=failing_at(2, error=KeyboardInterrupt()))
    study = sweep.study()
    assert states(study) == [COMPLETE, COMPLETE, FAIL]
    assert study.trials[2].user_attrs["reason"] == "interrupted"
    assert "the same command continues it" in capsys.readouterr().out
    study = sweep(4)
    assert states(study) == [COMPLETE, COMPLETE, FAIL, COMPLETE, COMPLETE]
    assert len(counted(study)) == 4


def test_a_trial_whose_process_was_killed_does_not_count(sweep):
    study = sweep(2)
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    trial = study.ask()
    trial.set_user_attr("host", os.uname().nodename)
    trial.set_user_attr("pid", dead.pid)
    assert states(sweep(4)) == [COMPLETE, COMPLETE, FAIL, COMPLETE, COMPLETE]


def test_a_trial_of_another_machine_counts_while_it_lives(sweep, capsys):
    trial = sweep(2).ask()
    trial.set_user_attr("host", "elsewhere")
    trial.set_user_attr("pid", 1)
    assert states(sweep(3))[:2] == [COMPLETE, COMPLETE]
    assert "2 finished, 1 running elsewhere" in capsys.readouterr().out


@pytest.mark.parametrize(("changes", "space", "sentence"), [
    ({"ppo": {"total_steps": 20_000}}, SPACE, "--total-steps is 20000 and was 10000"),
    ({"run": {"seed": 2}}, SPACE, "--seed is 2 and was 1"),
    ({}, {"ppo": {"epochs": {"low": 1, "high": 4}}}, "the range of learning_rate is none and was"),
])
def test_another_sweep_does_not_join(sweep, changes, space, sentence):
    sweep(1)
    with pytest.raises(SweepError, match="the sweep 'test' exists, but " + sentence):
        sweep(2, base=overlay(BASE, changes), space=space)


def test_another_device_or_number_of_threads_joins(sweep):
    sweep(1)
    assert len(sweep(2, base=overlay(BASE, {"env": {"num_threads": 3}, "run": {"device": "cuda"}})).trials) == 2


@pytest.mark.parametrize(("url", "sentence"), [
    ("nonsense", "--storage must be the URL of a database"),
    ("postgresql://me:geheim@host:port/x", "--storage must be the URL of a database"),
    ("sqlite:////nowhere/at/all.db", "--storage must be in a folder that exists, not sqlite:////nowhere/at/all.db: make"),
    ("sqlite:////", "unable to open database file"),
    ("sqlite://", "--storage must name a file, such as sqlite:///sweep.db or journal:FILE, not sqlite://"),
    ("nodb://me:geheim@host/x", "nodb://me:***@host/x does not work"),
    ("postgresql+nodriver://me:geheim@host/x", "does not work"),
])
def test_the_error_of_a_storage_does_not_show_its_password(sweep, monkeypatch, url, sentence):
    monkeypatch.setattr("trainer.sweep.storage._OPENING_PAUSE", 0)
    with pytest.raises(SweepError) as error:
        sweep(1, url=url)
    assert sentence in str(error.value)
    assert "geheim" not in str(error.value)
    assert "\n" not in str(error.value)


CREATED = '{"op_code":0,"worker_id":"w","study_name":"test","directions":[2]}\n'


@pytest.mark.parametrize("text", [
    pytest.param(CREATED + "{\n" + CREATED, id="JSON"), pytest.param(CREATED + "[]\n", id="a list"),
    pytest.param("\udcff\n" * 3, id="bytes"), pytest.param("{}\n", id="nothing known"),
    pytest.param('{"op_code":99}\n', id="an unknown operation"), pytest.param('{"op_code":' * 9999 + "\n\n", id="deep"),
    pytest.param(CREATED + '{"op_code":4,"worker_id":"w","study_id":7,"datetime_start":null}\n', id="no study"),
    pytest.param(CREATED + '{"op_code":4,"worker_id":"w","study_id":0,"datetime_start":"today"}\n', id="no time"),
    pytest.param('{"op_code":0,"worker_id":"w","study_name":5,"directions":[2]}\n', id="a name that is no text"),
    pytest.param(None, id="a pipe"),
])
def test_a_damaged_journal_is_an_error_of_one_line(tmp_path, capsys, text):
    path = tmp_path / "journal"
    if text is None:
        os.mkfifo(path)
    else:
        path.write_text(text, encoding="utf-8", errors="surrogateescape")
    assert main(["sweep", "test", "--report", "--storage", f"journal:{path}", "--out", str(tmp_path / "out")]) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ") and error.count("\n") == 1


@pytest.mark.parametrize("change", [
    lambda study: study.set_user_attr("facts", 5), lambda study: study.set_user_attr("facts", {"settings": {}, "ranges": {}}),
    lambda study: study.add_trial(optuna.trial.create_trial(value=1.0)),
    lambda study: study.ask().set_user_attr("reason", 5),
    lambda study: study.add_trial(optuna.trial.create_trial(value=1.0, user_attrs={
        "minutes": "long", "steps": 1, "standard_error": 1, "settings": {}})),
])
def test_a_storage_with_other_contents_is_an_error_of_one_line(sweep, capsys, change):
    change(sweep(1))
    with pytest.raises(SweepError, match=r"^[^\n]* (is damaged|is damaged or not a sweep of this trainer): [^\n]*$"):
        sweep(2)
    capsys.readouterr()
    assert main(["sweep", "test", "--report", "--out", str(sweep.folder)]) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ") and error.count("\n") == 1


@pytest.mark.parametrize("kept", [100, 5000])
def test_a_damaged_database_is_an_error_of_one_line(sweep, monkeypatch, capsys, kept):
    monkeypatch.setattr("trainer.sweep.storage._OPENING_PAUSE", 0)
    sweep(1)
    path = sweep.folder / "sweep.db"
    path.write_bytes(path.read_bytes()[:kept] + b"damage" * 1000)
    capsys.readouterr()
    assert main(["sweep", "test", "--report", "--out", str(sweep.folder)]) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ") and error.count("\n") == 1


def test_nothing_of_a_journal_is_unpickled(sweep, tmp_path, monkeypatch):
    def refuse(*given):
        raise AssertionError("unpickled")
    monkeypatch.setattr("pickle.loads", refuse)
    monkeypatch.setattr("pickle.load", refuse)
    (tmp_path / "journal.snapshot").write_bytes(b"a pickle")
    assert len(sweep(1, url=f"journal:{tmp_path / 'journal'}").trials) == 1


def test_a_report_needs_only_the_storage(sweep, tmp_path, capsys):
    study = sweep(5)
    write_report(study, tmp_path / "elsewhere")
    assert (tmp_path / "elsewhere" / "best.toml").read_text() == (sweep.folder / "best.toml").read_text()
    capsys.readouterr()
    assert main(["sweep", "test", "--report", "--out", str(sweep.folder)]) == 0
    assert f"{sweep.folder / 'best.toml'}: the best settings" in capsys.readouterr().out
