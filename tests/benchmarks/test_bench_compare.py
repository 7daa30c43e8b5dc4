"""`make bench-compare`: two revisions of a small repository, with stubs for the build and the benchmarks."""

import os
import subprocess
import sys

import numpy as np
import pytest

from benchmarks.speed import revisions

TABLE = """# Speeds

| game | view | steps/s, 1 core | writes/s |
| ---- | ---: | --------------- | -------- |
| pong | features | {speed} | 9G |

| precision | steps x environments | insertcoin | insertcoin / torch |
| --- | --- | --- | --- |
| float32 | 64 x 64 | 1.50K | 2.0 |
"""
STUB = """
import pathlib, sys
log = pathlib.Path("{log}")
log.write_text(log.read_text() + ",".join([pathlib.Path("speed").read_text(), *sys.argv[1:]]) + " ")
assert pathlib.Path("built").exists()
print(pathlib.Path("table").read_text().replace("SPEED", pathlib.Path("speed").read_text()))
"""


def git(folder, *arguments):
    names = {f"GIT_{who}_{what}": "a@b.c" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True, env=os.environ | names)


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A repository with the revisions `slow` and HEAD; each prints the speed in its file `speed`."""
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "-q")
    (folder / "table").write_text(TABLE.format(speed="SPEED"))
    (tmp_path / "log").write_text("")
    for speed, tag in (("2.00M", "slow"), ("3.00M", "fast")):
        (folder / "speed").write_text(speed)
        git(folder, "add", ".")
        git(folder, "commit", "-q", "-m", tag)
        git(folder, "tag", tag)
    monkeypatch.setattr(revisions, "ROOT", folder)
    monkeypatch.setattr(revisions, "BUILD", (sys.executable, "-c", "open('built', 'w')"))
    stub = (sys.executable, "-c", STUB.format(log=tmp_path / "log"))
    monkeypatch.setattr(revisions, "WORK", {"stub": stub})
    monkeypatch.setattr(revisions, "GAMES", stub)
    return folder


def leftovers(folder) -> list[str]:
    """Worktrees beside the repository itself, and files under build/."""
    listed = subprocess.run(["git", "worktree", "list"], cwd=folder, check=True, capture_output=True, text=True).stdout
    return listed.splitlines()[1:] + [path.name for path in (folder / "build").glob("*")]


def test_ratios_of_two_revisions_measured_alternately(repository, tmp_path, capsys):
    revisions.main(["slow", "--rounds=3", f"--out={tmp_path / 'page.md'}"])
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("| stub")]
    assert [[cell.strip() for cell in line.strip("|").split("|")] for line in lines] == [
        ["stub", "pong features", "steps/s, 1 core", "2.00M", "3.00M", "1.500", "1.500 to 1.500", "faster"],
        ["stub", "float32 64 x 64", "insertcoin", "1.50K", "1.50K", "1.000", "1.000 to 1.000", "-"]]
    assert (tmp_path / "log").read_text().split() == ["2.00M", "3.00M", "3.00M", "2.00M", "2.00M", "3.00M"]
    assert lines[0] in (tmp_path / "page.md").read_text()
    assert leftovers(repository) == []


@pytest.mark.parametrize(("after", "verdict"), [
    ([3.0, 3.1, 3.2], "faster"), ([1.0, 1.1, 1.2], "slower"), ([1.9, 2.0, 2.2], "-"), ([1.8, 2.0, 2.1], "-")])
def test_a_revision_is_faster_or_slower_if_its_whole_interval_says_so(after, verdict):
    key = "stub", "pong", "steps/s"
    line = revisions.table([{key: 2.0}] * 3, [{key: speed} for speed in after], ["one", "other"]).splitlines()[-1]
    assert line.strip("| ").split("|")[-1].strip() == verdict


def test_chosen_games_are_measured_alone(repository, tmp_path, capsys):
    revisions.main(["slow", "fast", "--rounds=3", "--games", "pong", "go"])
    assert "| envs      | pong features" in capsys.readouterr().out
    assert (tmp_path / "log").read_text().split()[:2] == ["2.00M,pong,go", "3.00M,pong,go"]
    assert leftovers(repository) == []


@pytest.mark.parametrize(("arguments", "text"), [
    (["slow", "--games", "chess"], "chess"),
    (["nowhere"], "REV must be a commit of this repository, not 'nowhere'"),
    (["slow", "fast", "slow"], "REV must be one or two commits, not 3"),
    (["slow", "--rounds=1"], "--rounds must be at least 3, not 1"),
])
def test_arguments_are_checked_before_anything_is_built(repository, arguments, text, capsys):
    with pytest.raises(SystemExit):
        revisions.main(arguments)
    assert text in capsys.readouterr().err
    assert not (repository / "build").exists()


FAILING = "import sys; sys.exit('no compiler')"
STOPPED = "import os, signal, time; os.kill(os.getppid(), signal.SIGINT); time.sleep(60)"


@pytest.mark.parametrize(("part", "code", "status", "text"), [
    ("BUILD", FAILING, 2, "no compiler"), ("WORK", FAILING, 2, "no compiler"),
    ("BUILD", STOPPED, 130, "the worktrees are removed"), ("WORK", STOPPED, 130, "the worktrees are removed"),
], ids=["a failed build", "a failed benchmark", "Ctrl-C in a build", "Ctrl-C in a benchmark"])
def test_no_worktree_is_left_behind(repository, monkeypatch, part, code, status, text, capsys):
    command = (sys.executable, "-c", code)
    monkeypatch.setattr(revisions, part, command if part == "BUILD" else {"stub": command})
    with pytest.raises(SystemExit) as ended:
        revisions.main(["slow"])
    assert ended.value.code == status and text in capsys.readouterr().err
    assert leftovers(repository) == []


def test_revisions_without_a_speed_in_common_are_an_error(repository, capsys):
    (repository / "table").write_text("nothing")
    git(repository, "commit", "-q", "-a", "-m", "another table")
    with pytest.raises(SystemExit):
        revisions.main(["slow", "--rounds=3"])
    assert "must print one speed in common" in capsys.readouterr().err


@pytest.mark.parametrize(("noise", "within"), [(0.001, 0.002), (0.05, 0.1)])
def test_the_interval_holds_the_mean_and_grows_with_the_noise(noise, within):
    before = [100 * (1 + noise * sign) for sign in (1, -1, 0.5, -0.5, 0.2, -0.7)]
    middle, low, high = revisions.ratio(before, [110.0] * 6)
    assert low < 1.1 < high and low < middle < high
    assert noise / 4 < high - low < within


@pytest.mark.parametrize("rounds", [3, 7])
def test_equal_revisions_are_called_different_no_more_often_than_in_one_of_twenty_rows(rounds):
    speeds = np.exp(0.02 * np.random.default_rng(1).normal(size=(500, 2, rounds)))
    bounds = [revisions.ratio(list(before), list(after))[1:] for before, after in speeds]
    assert sum(low > 1 or high < 1 for low, high in bounds) <= 40  # 25 on average, with a deviation of 5
