"""Runs are found by their names, and summarized from their files."""

import fcntl
import json
import os
from pathlib import Path

import pytest

from trainer.errors import RunError
from trainer.runs import folder as run_folder
from trainer.runs import summary
from trainer.runs.evaluation import EVALUATION, JUDGED
from trainer.runs.find import find
from trainer.runs.folder import CONFIG, locked
from trainer.runs.same_game import other_game
from trainer.runs.summary import read_run

NAMES = ("breakout-20260101-120000-s1", "breakout-20260102-120000-s2", "pong-20260101-090000-s1")


def make(root: Path, name: str, started: str = "2026-01-01T12:00:00+00:00", **more) -> Path:
    """A folder like that of a run."""
    folder = root / name
    folder.mkdir(parents=True)
    config = {"game": name.split("-")[0], "run": {"seed": 1}, "ppo": {"total_steps": 100}, **more}
    (folder / CONFIG).write_text(json.dumps({"config": config, "sessions": [{"started": started}]}))
    (folder / "step_000000000000.safetensors").write_bytes(b"")
    return folder


@pytest.fixture
def root(tmp_path, monkeypatch):
    """A current folder with runs/, which holds three runs, not started in the order of their names, and a folder of notes."""
    monkeypatch.chdir(tmp_path)
    for name, day in zip(NAMES, (2, 3, 1), strict=True):
        make(tmp_path / "runs", name, f"2026-01-0{day}T12:00:00+00:00")
    (tmp_path / "runs" / "notes").mkdir()
    return Path("runs")


@pytest.mark.parametrize(("name", "found"), [
    ("last", NAMES[1]), ("runs/last", NAMES[1]),
    ("pong", NAMES[2]), ("breakout-20260101", NAMES[0]), (NAMES[0], NAMES[0]), ("runs/po", NAMES[2]),
    (f"runs/{NAMES[0]}", NAMES[0]), (f"./runs/{NAMES[0]}/", NAMES[0]),
    (f"runs/{NAMES[0]}/step_000000000000.safetensors", f"{NAMES[0]}/step_000000000000.safetensors"),
])
def test_a_run_is_named_by_a_path_the_beginning_of_its_name_or_last(root, name, found):
    assert find(name) == root / found


def test_an_absolute_path_is_found_from_anywhere(root, tmp_path, monkeypatch):
    monkeypatch.chdir("/")
    assert find(str(tmp_path / "runs" / NAMES[0])) == tmp_path / "runs" / NAMES[0]


def test_a_whole_name_wins_over_a_longer_one(root):
    make(root, f"{NAMES[0]}-2")
    assert find(NAMES[0]) == root / NAMES[0]


def test_last_is_the_run_that_was_resumed_last(root):
    path = root / NAMES[2] / CONFIG
    saved = json.loads(path.read_text())
    path.write_text(json.dumps({**saved, "sessions": [*saved["sessions"], {"started": "2026-02-01T12:00:00+00:00"}]}))
    assert find("last") == root / NAMES[2]


def test_last_skips_runs_without_a_checkpoint(root):
    broken = make(root, "broken", "2027-01-01T00:00:00+00:00")
    (broken / "step_000000000000.safetensors").unlink()
    (broken / CONFIG).write_text("torn")
    os.utime(broken, (2e9, 2e9))
    assert find("last") == root / NAMES[1]


@pytest.mark.parametrize(("name", "words"), [
    ("breakout", ["2 runs under runs begin with 'breakout'", *NAMES[:2], "write more of the name"]),
    ("runs/breakout", ["2 runs under runs begin with 'breakout'", *NAMES[:2]]),
    ("brekout-20260101", ["there is no run at brekout-20260101", "the nearest", *NAMES[:2], "`python -m trainer list`"]),
    ("xyzzy", ["there is no run at xyzzy", "the newest are", *NAMES]),
    ("runs/notes", ["runs/notes holds no run", *NAMES]),
])
def test_a_name_of_no_run_or_several_is_an_error_with_similar_names(root, name, words):
    with pytest.raises(RunError) as error:
        find(name)
    assert all(word in str(error.value) for word in words), error.value


@pytest.mark.parametrize("name", ["", " ", "/", "//"])
@pytest.mark.parametrize("count", [1, 3])
def test_an_empty_name_matches_no_run_though_every_name_begins_with_it(tmp_path, monkeypatch, name, count):
    monkeypatch.chdir(tmp_path)
    for folder in NAMES[:count]:
        make(tmp_path / "runs", folder)
    with pytest.raises(RunError, match=f"RUN must be a run's folder, .* not {name!r}"):
        find(name)


@pytest.mark.parametrize("name", ["last", "breakout"])
def test_without_runs_the_error_names_no_other_run(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(RunError, match="there are no runs under runs here"):
        find(name)


def test_an_error_names_a_handful_of_many_runs(root):
    for index in range(20):
        make(root, f"tetris-{index:02d}")
    with pytest.raises(RunError, match=r"20 runs .* begin with 'tetris': .* and 15 more; write more of the name"):
        find("tetris")


@pytest.mark.parametrize(("steps", "held", "state"), [(40, False, "stopped"), (100, False, "finished"), (40, True, "running")])
def test_a_run_is_summarized_from_its_metrics_and_its_lock(root, steps, held, state):
    folder = root / NAMES[0]
    entries = [{"step": steps * k // 2, "seconds": 30.0 * k, "score_mean": score} for k, score in ((1, 7.0), (2, 5.0))]
    (folder / "metrics.jsonl").write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    (folder / EVALUATION).write_text('{"mean": 6.5}')
    (folder / f"step_{steps:012d}.safetensors").touch()
    if held:
        with locked(folder):
            run = read_run(folder)
    else:
        run = read_run(folder)
    assert (run.state, run.step, run.seconds, run.score, run.best, run.evaluation) == (state, steps, 60.0, 5.0, 7.0, 6.5)
    with locked(folder):
        pass  # read_run has unlocked it again


def test_a_run_whose_last_checkpoint_could_not_be_written_is_not_finished(root):
    folder = root / NAMES[0]
    (folder / "metrics.jsonl").write_text(json.dumps({"step": 100, "seconds": 30.0}) + "\n")
    (folder / "step_000000000060.safetensors").touch()
    assert (read_run(folder).state, read_run(folder).step) == ("stopped", 100)
    (folder / "step_000000000100.safetensors").touch()
    assert read_run(folder).state == "finished"


@pytest.mark.parametrize(("judged", "best"), [
    ([], 7.0), ([None, None], 7.0),          # foreign environments and older runs; a short run, whose episodes were all cut
    ([3.0, 4.0], 4.0), ([None, 3.0], 3.0),   # not 7, a mean that favours short episodes
    ([3.0, None], 7.0), ([9.0, None], 9.0),  # the newest policy plays too long to be judged
])
def test_the_best_score_is_that_of_a_judgment_or_of_recent_episodes_without_one(root, judged, best):
    folder = root / NAMES[0]
    entries = [{"step": k, "seconds": 1.0, "score_mean": score} for k, score in enumerate((None, 7.0, 5.0))]
    for entry, score in zip(entries, judged, strict=False):
        entry[JUDGED] = score
    (folder / "metrics.jsonl").write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    assert read_run(folder).best == best


@pytest.mark.parametrize(("episodes", "best"), [((1, 20, 40), 6.0), ((1, 7, 8), 5.0), ((1, 2, 3), None), ((None,) * 3, 9.0)])
def test_the_mean_of_fewer_episodes_than_there_are_environments_is_no_best_score(root, episodes, best):
    """Older runs may not have noted their episodes."""
    folder = root / NAMES[0]
    saved = json.loads((folder / "config.json").read_text())
    saved["config"]["env"] = {"num_envs": 8}
    (folder / "config.json").write_text(json.dumps(saved))
    (folder / "metrics.jsonl").write_text("".join(
        json.dumps({"step": k, "seconds": 1.0, "score_mean": score, "episodes": count}) + "\n"
        for k, (score, count) in enumerate(zip((9.0, 6.0, 5.0), episodes, strict=True))))
    assert read_run(folder).best == best


def test_a_run_whose_episodes_have_not_ended_has_no_best_score(root):
    folder = root / NAMES[0]
    (folder / "metrics.jsonl").write_text(json.dumps({"step": 1, "seconds": 1.0, "score_mean": None, JUDGED: None}) + "\n")
    assert read_run(folder).best is None


def test_is_locked_neither_locks_a_run_nor_stops_a_training(root, monkeypatch):
    looking = os.open(root / NAMES[0], os.O_RDONLY)
    fcntl.flock(looking, fcntl.LOCK_SH)
    assert not run_folder.is_locked(root / NAMES[0])
    monkeypatch.setattr(run_folder.time, "sleep", lambda seconds: os.close(looking))  # the other process unlocks
    with locked(root / NAMES[0]):
        assert run_folder.is_locked(root / NAMES[0])


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"config": {}, "sessions": []}',
                                  '{"config": {"game": 3, "run": {"seed": 1}, "ppo": {"total_steps": 1}}, "sessions": '
                                  '[{"started": "2026-01-01"}]}'])
def test_a_damaged_config_is_an_error(root, text):
    (root / NAMES[0] / CONFIG).write_text(text)
    with pytest.raises(RunError, match="another program; move it away; a run that is resumed writes another"):
        read_run(root / NAMES[0])


def test_a_config_that_may_not_be_read_is_not_called_damaged(root, monkeypatch):
    def refuse(path):
        raise PermissionError(13, "Permission denied", str(path))
    monkeypatch.setattr(summary, "read_json", refuse)
    with pytest.raises(RunError, match=f"^cannot read runs/{NAMES[0]}/config.json: Permission denied; let your user read it"):
        read_run(root / NAMES[0])


@pytest.mark.parametrize(("saved", "found"), [
    ('{"config": {"game": "pong"}}', "says that the game is pong, but best.safetensors is of breakout, which counts"),
    ('{"config": {"game": "breakout"}}', None), ('{"config": {"game": 3}}', None), ("[]", None), ("{", None), (None, None),
])
def test_a_config_of_another_game_than_the_checkpoints_is_named(tmp_path, saved, found):
    if saved is not None:
        (tmp_path / CONFIG).write_text(saved)
    line = other_game(tmp_path / "best.safetensors", "breakout")
    assert line is None if found is None else found in line


@pytest.mark.parametrize("line", ['{"step": "3", "seconds": 1}', '{"step": 3, "seconds": null}',
                                  '{"step": 3, "seconds": 1, "score_mean": [1]}'])
def test_metrics_that_are_no_numbers_are_an_error(root, line):
    (root / NAMES[0] / "metrics.jsonl").write_text(line + "\n")
    with pytest.raises(RunError, match=r"metrics.jsonl is damaged, or was written by another program"):
        read_run(root / NAMES[0])
