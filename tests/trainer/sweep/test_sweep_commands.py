"""Commands of a sweep, as a user gives them: what a failed one leaves, and what the next one does. No trial is trained."""

import contextlib
import subprocess
import sys

import optuna
import pytest

from trainer.__main__ import main
from trainer.commands import sweep as sweep_command
from trainer.config import Config
from trainer.config.games import GameName, whole
from trainer.config.preset import preset
from trainer.runs import checkpoint
from trainer.sweep import report as sweep_report
from trainer.sweep import sweep as sweep_module
from trainer.sweep.storage import default_storage, open_storage
from trainer.sweep.study import counted, load_study, offer_first
from trainer.sweep.trial import Outcome

SPACE = "[ppo]\nlearning_rate = { low = 0.0001, high = 0.1, log = true }\n"


@pytest.fixture
def sweep(tmp_path, monkeypatch):
    """Runs `sweep WORDS` in an empty folder, with a range and stand-ins for trials; returns the exit code."""
    (tmp_path / "ranges").mkdir()
    (tmp_path / "ranges" / "space.toml").write_text(SPACE)
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setattr(sweep_report, "_PICTURES", {})
    monkeypatch.setattr("trainer.sweep.storage._OPENING_PAUSE", 0)

    def run(words, *, ends=None, own_space=False):
        """ends: an exception that ends the first trial. own_space: `words` has a --space."""
        def trial(config, *_):
            if ends is not None:
                raise ends
            return Outcome(config.ppo.learning_rate, 0.1)
        monkeypatch.setattr(sweep_module, "run_trial", trial)
        space = [] if own_space or "--report" in words else [f"--space={tmp_path / 'ranges' / 'space.toml'}"]
        return main(["sweep", *words.split(), *space])
    run.folder = tmp_path / "here"
    return run


def everything(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


@pytest.mark.parametrize(("words", "sentence"), [
    ("cartpole --storage nonsense", "postgresql://user@host/name, or journal:FILE, not 'nonsense'\n"),
    ("cartpole --storage=", "postgresql://user@host/name, or journal:FILE, not ''\n"),
    ("cartpole --storage postgresql://me:secret@host:port/x", "postgresql://user@host/name, or journal:FILE\n"),
    ("cartpole --learning-rate 0.01", "--learning-rate must not be given, since the ranges search nothing else: leave one out"),
    ("cartpole --storage sqlite:///no/such/x.db", "must be in a folder that exists, not sqlite:///no/such/x.db: make no/such"),
    ("cartpole --storage journal:no/such/x", "must be in a folder that exists, not journal:no/such/x: make no/such first"),
    ("cartpole --storage nodb://host/x --out a/b/c", "nodb://host/x does not work"),
    ("cartpole --cost-aware --prune", "--prune must not be given with --cost-aware, which prunes no trial for its score"),
    ("cartpole --seeds 0", "--seeds must be an integer from 1 to 1,000, not 0"),
    ("cartpole --seeds 2 --seed 9223372036854775807", "--seed must be at most 9,223,372,036,854,775,806 for 2 seeds"),
    ("cartpole --storage sqlite:///:memory:", "--storage must name a file, such as"),
    ("cartpole --storage journal:", "--storage must name a file, such as"),
    (f"cartpole --name {'a' * 300}", "File name too long; name a folder that you may write to with --out"),
    ("cartpole --name ..", "--name must be none, or letters, digits, and any of _ . -, and not only dots, not '..'"),
    ("cartpole --report", "there is no sweep at runs/sweep-cartpole; begin one with"),
    ("cartpole --report --storage sqlite:///new.db", "there is no sweep in the storage sqlite:///new.db: name the --storage"),
    ("cartpole --report --storage journal:new", "there is no sweep in the storage journal:new: name the --storage of"),
    ("cartpole --report --storage journal:no/new", "there is no sweep in the storage journal:no/new: name the --storage of"),
    ("cartpole --report --storage sqlite://", "--storage must name a file, such as"),
])
def test_a_failed_command_leaves_nothing(sweep, capsys, words, sentence):
    assert sweep(words) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ") and error.count("\n") == 1
    assert sentence in error
    assert everything(sweep.folder) == []


@pytest.mark.parametrize(("game", "name"), [
    ("breakout", "breakout"), ("a/my_game.pyx", "my_game"), ("gym:CartPole-v1", "gym_CartPole-v1"),
    ("atari:qbert", "atari_qbert"), ("gym:ALE/Pong-v5", "Pong-v5"), ("atari:a/mine.bin", "mine"),
    ("gym:pkg:A", "gym_pkg_A"), ("pkg:A", "gym_pkg_A"), ("pkg.mod:A", "gym_pkg.mod_A"), ("pkg.other:B", "gym_pkg.other_B"),
    ("a/mine.py:A", "mine.py_A"), ("a/mine.py:B", "mine.py_B")])
def test_a_sweep_without_a_name_has_that_of_its_game_also_in_its_report(sweep, capsys, game, name):
    assert sweep_command._plain(whole(game)) == name
    assert sweep(f"{game} --report") == 2
    assert f"there is no sweep at runs/sweep-{name};" in capsys.readouterr().err


def test_a_report_does_not_write_into_another_programs_database(sweep, capsys):
    (sweep.folder / "other.db").touch()  # an empty file is a database without tables
    assert sweep("cartpole --report --storage sqlite:///other.db") == 2
    assert "there is no sweep in the storage sqlite:///other.db" in capsys.readouterr().err
    assert (sweep.folder / "other.db").read_bytes() == b""


def test_a_folder_with_files_in_it_is_kept(sweep):
    (sweep.folder / "mine").mkdir()
    (sweep.folder / "mine" / "note").touch()
    (sweep.folder / "empty").mkdir()
    for out in ("mine", "empty"):
        assert sweep(f"cartpole --storage nonsense --out {out}") == 2
    assert everything(sweep.folder) == ["empty", "mine", "mine/note"]


@pytest.mark.parametrize("url", ["sqlite:///new", "journal:new"])
def test_a_sweep_that_its_folder_refuses_is_not_begun(sweep, capsys, url):
    assert sweep("cartpole --trials 1 --out taken") == 0
    assert sweep(f"cartpole --trials 1 --out taken --storage {url}") == 2
    assert "--out must be a folder for this sweep only, not taken" in capsys.readouterr().err
    assert not (sweep.folder / "new").exists()
    assert sweep(f"pong --trials 1 --out other --storage {url}") == 0
    assert sweep(f"cartpole --trials 1 --out taken --storage {url}") == 2
    assert sweep(f"cartpole --trials 1 --total-steps 5000 --out mine --storage {url}") == 0  # nothing of the refused one counts


def test_a_sweep_of_another_game_is_refused_for_its_game(sweep, capsys):
    assert sweep("breakout --name one --trials 1") == 0
    assert sweep("snake --name one --trials 2") == 2
    assert "the sweep 'one' exists, but game is snake and was breakout; give" in capsys.readouterr().err


def test_all_trials_begin_with_the_checkpoint_that_was_the_last_run_at_first(sweep, capsys):
    checkpoint.save(sweep.folder / "runs" / "old", 1, {}, {"config": Config("cartpole").to_dict()}, score=None)
    assert sweep("cartpole --trials 1 --init-from last") == 0
    found = load_study(open_storage(default_storage(sweep.folder / "runs" / "sweep-cartpole")), "cartpole")
    path = found.user_attrs["facts"]["settings"]["run"]["init_from"]
    assert path == "runs/old/step_000000000001.safetensors"
    checkpoint.save(sweep.folder / "runs" / "new", 1, {}, {"config": Config("cartpole").to_dict()}, score=None)
    capsys.readouterr()
    assert sweep("cartpole --trials 2 --init-from last") == 2
    assert f"--init-from is runs/new/step_000000000001.safetensors and was {path}; give the" in capsys.readouterr().err
    assert sweep(f"cartpole --trials 2 --init-from {path}") == 0


@pytest.mark.parametrize(("words", "searched", "fixed"), [
    ("--epochs 2", {"learning_rate", "overlap"}, "--epochs"),
    ("--learning_rate=0.02 --no-overlap", {"epochs"}, "--learning-rate, --overlap"),
    ("--gamma 0.9", {"learning_rate", "epochs", "overlap"}, None),
])
def test_a_setting_given_as_an_option_holds_for_all_trials_and_is_not_searched(sweep, capsys, words, searched, fixed):
    (sweep.folder / "more.toml").write_text(SPACE + "epochs = { choices = [1, 2, 3] }\noverlap = { choices = [true, false] }\n")
    assert sweep(f"cartpole --trials 3 {words} --space more.toml", own_space=True) == 0
    study = load_study(open_storage(default_storage(sweep.folder / "runs" / "sweep-cartpole")), "cartpole")
    assert all(trial.params.keys() == searched for trial in study.trials)
    said = [line for line in capsys.readouterr().out.splitlines() if "not searched" in line]
    assert said == ([] if fixed is None else
                    [f"sweep cartpole: not searched, since your options hold for all trials: {fixed}"])
    values = {"--epochs": "epochs = 2", "--learning-rate": "learning_rate = 0.02", "--overlap": "overlap = false"}
    best = (sweep.folder / "runs" / "sweep-cartpole" / "best.toml").read_text()
    for option in (fixed or "").split(", ")[:1 if fixed else 0]:
        assert values[option] in best


@pytest.mark.parametrize(("words", "length"), [
    ("--cost-aware", (50_000, 500_000)), ("--cost-aware --total-steps 5000", None), ("", None),
])
def test_a_cost_aware_sweep_of_the_default_ranges_searches_the_length_of_a_training(sweep, words, length):
    assert sweep(f"cartpole --trials 2 {words}", own_space=True) == 0
    study = load_study(open_storage(default_storage(sweep.folder / "runs" / "sweep-cartpole")), "cartpole")
    line = study.user_attrs["facts"]["ranges"].get("total_steps")
    assert length == (None if line is None else (line["low"], line["high"]))


@pytest.mark.parametrize(("words", "expected"), [
    ("", (50, 10, True, None, 1, False)),
    ("--trials 7 --startup 3 --no-prune --minutes 2.5 --seeds 4", (7, 3, False, 2.5, 4, False)),
    ("--cost-aware --total-steps 5000", (50, 10, True, None, 1, True)),
])
def test_a_sweeps_options_are_those_of_its_plan(sweep, monkeypatch, words, expected):
    plans = []
    monkeypatch.setattr(sweep_module, "run_sweep", lambda plan, *_: plans.append(plan))
    assert sweep(f"cartpole {words}") == 0
    assert [(one.trials, one.startup, one.prune, one.minutes, one.seeds, one.cost_aware) for one in plans] == [expected]


@pytest.mark.parametrize(("trials", "words"), [(1, "1 trial of cartpole"), (2, "2 trials of cartpole")])
def test_the_opening_counts_the_trials(sweep, capsys, trials, words):
    assert sweep(f"cartpole --trials {trials}") == 0
    assert f"sweep cartpole: {words} in runs/sweep-cartpole; " in capsys.readouterr().out


def test_a_report_from_a_storage_elsewhere(sweep, capsys):
    assert sweep("cartpole --trials 1 --out first --storage sqlite:///shared.db") == 0
    capsys.readouterr()
    assert sweep("pong --report --storage sqlite:///shared.db") == 2
    assert "in this storage; it contains cartpole: choose one with --name" in capsys.readouterr().err
    (sweep.folder / "file").touch()
    assert sweep("cartpole --report --storage sqlite:///shared.db --out file/new") == 2
    assert "cannot write file/new: Not a directory; name a folder that you may write to with --out" in capsys.readouterr().err
    assert not (sweep.folder / "runs").exists()
    assert sweep("cartpole --report --storage sqlite:///shared.db") == 0
    assert "runs/sweep-cartpole/best.toml: the best settings" in capsys.readouterr().out
    assert everything(sweep.folder / "runs") == ["sweep-cartpole", "sweep-cartpole/best.toml"]


@pytest.mark.parametrize("end", [KeyboardInterrupt(), SystemExit("killed")], ids=["interrupted", "killed"])
def test_the_presets_settings_are_tried_again_if_their_trial_came_to_no_end(sweep, monkeypatch, end):
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    with monkeypatch.context() as patch, contextlib.suppress(SystemExit):
        patch.setattr("os.getpid", lambda: dead.pid)
        assert sweep("cartpole --trials 3", ends=end) == 130
    for trials in (2, 4):
        assert sweep(f"cartpole --trials {trials}") == 0
        study = load_study(open_storage(default_storage(sweep.folder / "runs" / "sweep-cartpole")), "cartpole")
        own = [trial.params["learning_rate"] == preset(GameName("cartpole")).ppo.learning_rate for trial in counted(study)]
        assert own == [True] + [False] * (trials - 1)


def test_the_presets_settings_are_tried_once_if_two_processes_offered_them_at_once(sweep):
    assert sweep("cartpole --trials 1") == 0
    study = load_study(open_storage(default_storage(sweep.folder / "runs" / "sweep-cartpole")), "cartpole")
    for _ in range(2):
        study.enqueue_trial(study.trials[0].params)
    assert sweep("cartpole --trials 3") == 0
    assert [trial.state.name for trial in study.trials] == ["COMPLETE", "FAIL", "FAIL", "COMPLETE", "COMPLETE"]
    assert study.trials[1].user_attrs["reason"] == "another process began the trial with these values"
    assert len({tuple(trial.params.items()) for trial in counted(study)}) == 3


def test_a_trial_that_begins_while_a_process_looks_for_it_is_not_offered_again(monkeypatch):
    study, first = optuna.create_study(), {"learning_rate": 0.1}
    study.enqueue_trial(first)
    look = study.get_trials

    def look_and_begin(*arguments, **options):
        found = look(*arguments, **options)
        study.ask()
        return found
    with monkeypatch.context() as patch:
        patch.setattr(study, "get_trials", look_and_begin)
        offer_first(study, first)
    assert [trial.system_attrs.get("fixed_params") for trial in study.trials].count(first) == 1
