"""`insertcoin watch RUN`: what its page asks for, in and without a browser."""

import contextlib
import json
import shutil
import socket
from pathlib import Path
from types import SimpleNamespace

import pytest
from arcade_support import needs_browser_tools
from browser import Watched, browser, needs_browser, serving, until

import envs_c
from envs_c import catalog, outside
from envs_c.arcade.agents import described, with_record
from envs_c.arcade.site import make_site
from envs_c.errors import CompileFailed
from trainer.commands import watch
from trainer.commands.main import run
from trainer.config.games import GameName
from trainer.errors import RunError
from trainer.export import follow
from trainer.export.follow import Follower
from trainer.runs import checkpoint
from trainer.runs.metrics import MetricsFile


def cut(folder, step):
    """Remove the metrics after a step, as the first save of a run that was resumed from there."""
    with contextlib.closing(MetricsFile(folder, resume_step=step)) as metrics:
        metrics.cut()


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A finished run with two checkpoints or more."""
    folder = tmp_path_factory.mktemp("watch") / "run"
    assert run(["cartpole", "--num-envs=32", "--minibatch=1024", "--total-steps=4096", "--lstm-size=8", "--no-gif",
                "--device=cpu", "--no-dashboard", "--eval-episodes=0", f"--run-dir={folder}", "--checkpoint-seconds=0.01"]) == 0
    return folder


@pytest.fixture
def following(trained, tmp_path):
    """A copy of the run, and its follower."""
    folder = tmp_path / "run"
    shutil.copytree(trained, folder)
    return folder, Follower(folder)


def test_the_status_names_the_newest_checkpoint(following):
    folder, follower = following
    found = follower.status("cartpole")
    assert (found["game"], found["checkpoint"], found["running"]) == ("cartpole", checkpoint.latest(folder).name, False)


def test_metrics_come_in_whole_lines_from_the_byte_asked_for(following):
    folder, follower = following
    data = (folder / "metrics.jsonl").read_bytes()
    with (folder / "metrics.jsonl").open("ab") as file:
        file.write(b'{"step": 1')  # a line that is being written
    assert follower.metrics({})[0] == data
    first = data.index(b"\n") + 1
    assert follower.metrics({"from": str(first)})[0] == data[first:]
    assert follower.metrics({"from": str(10**9)})[0] == b""


@pytest.mark.parametrize("begin", ["-1", "x", "1e3", "٣", "9" * 20])
def test_a_position_that_is_no_number_is_refused(following, begin):
    with pytest.raises(LookupError):
        following[1].metrics({"from": begin})


def test_the_agent_is_that_of_the_newest_checkpoint(following):
    folder, follower = following
    newest = checkpoint.latest(folder)
    before = described(follower.agent({})[0])["step"]
    newest.unlink()
    assert described(follower.agent({})[0])["step"] < before


def test_a_checkpoint_that_the_training_has_just_removed_is_asked_for_again(following, monkeypatch):
    folder, follower = following
    newest = checkpoint.latest(folder)
    monkeypatch.setattr(follower, "newest", lambda: newest)
    newest.unlink()
    with pytest.raises(LookupError, match="replaced"):
        follower.agent({})


def test_a_checkpoint_that_cannot_be_loaded_is_no_crash(following):
    folder, follower = following
    checkpoint.latest(folder).write_bytes(b"damaged")
    with pytest.raises(LookupError, match="checkpoint"):
        follower.agent({})


def test_a_checkpoint_that_cannot_be_loaded_is_tried_once(following, monkeypatch):
    folder, follower = following
    tried = []

    def fail(path):
        tried.append(path)
        raise CompileFailed("the compiler says no")

    with monkeypatch.context() as patch:
        patch.setattr(follow, "agent_bytes", fail)
        for _ in range(3):
            with pytest.raises(LookupError, match="the compiler says no"):
                follower.agent({})
    assert tried == [checkpoint.latest(folder)]
    tried[0].unlink()
    assert described(follower.agent({})[0])["step"]


def test_watch_follows_a_run_before_its_first_checkpoint_and_compiles_its_game_once(following, monkeypatch, capsys):
    folder, _ = following
    for path in folder.glob("*.safetensors"):
        path.unlink()

    def ask(running, _fragment):
        monkeypatch.delattr(envs_c, "game")  # an own game's .pyx may not compile later
        answers.append(json.loads(running.RequestHandlerClass.keywords["routes"]["/run/status.json"]({})[0]))

    answers = []
    monkeypatch.setattr(watch, "serve", ask)
    monkeypatch.setattr(watch, "make_site", lambda *arguments, **options: None)
    assert run(["watch", str(folder), "--port=0"]) == 0, capsys.readouterr().err
    assert (answers[0]["game"], answers[0]["checkpoint"]) == ("cartpole", None)
    (folder / "config.json").write_text((folder / "config.json").read_text().replace('"gamma"', '"gama"'))
    assert run(["watch", str(folder), "--port=0"]) == 2
    assert "config.json was written by another version of the trainer" in capsys.readouterr().err


def test_a_run_without_files_yet_has_no_metrics_and_no_agent(following):
    folder, follower = following
    for path in [*folder.glob("*.safetensors"), folder / "metrics.jsonl"]:
        path.unlink()
    assert follower.status("cartpole")["checkpoint"] is None
    for ask in (follower.metrics, follower.agent):
        with pytest.raises(LookupError):
            ask({})


def test_a_folder_without_a_run_is_an_error(tmp_path):
    with pytest.raises(RunError):
        Follower(tmp_path)


def test_the_run_of_a_cartridge_has_curves_only(tmp_path, monkeypatch, capsys):
    pytest.importorskip("ale_py")
    assert run(["atari:pong", "--num-envs=8", "--horizon=4", "--minibatch=32", "--total-steps=64", "--lstm-size=8", "--no-gif",
                "--device=cpu", "--no-dashboard", "--eval-episodes=0", f"--run-dir={tmp_path / 'run'}"]) == 0
    monkeypatch.setattr(watch, "serve", lambda running, fragment: None)
    assert run(["watch", str(tmp_path / "run"), "--port=0"]) == 0
    assert "curves only" in capsys.readouterr().out


def test_the_page_is_served_at_the_port_that_was_asked_for(following, monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    served = []
    monkeypatch.setattr(watch, "_playable", lambda game: False)
    monkeypatch.setattr(watch, "serve", lambda running, fragment: served.append((running.server_address[1], fragment)))
    assert run(["watch", str(following[0]), f"--port={port}"]) == 0
    assert served == [(port, "#run")]


def test_the_run_of_an_installed_packages_game_has_curves_only(toy, monkeypatch):
    monkeypatch.setattr(catalog, "installed", lambda: {"toy": SimpleNamespace(load=lambda: toy)})
    monkeypatch.setattr(catalog, "_registered", {})
    monkeypatch.delitem(outside.SOURCES, toy)
    assert [watch._playable(GameName(game)) for game in ("toy", "cartpole")] == [False, True]


def test_watch_without_a_run_names_what_is_missing(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run(["watch", "nosuchrun"]) == 2
    assert "nosuchrun" in capsys.readouterr().err


@pytest.mark.parametrize(("folder", "sentence"), [
    (".", "damaged.safetensors is damaged"), ("run", "run/damaged.safetensors is damaged"),
    (None, "good.safetensors is in no run's folder")])
def test_watch_of_a_file_says_what_is_wrong_with_it(following, tmp_path, monkeypatch, capsys, folder, sentence):
    data = checkpoint.latest(following[0]).read_bytes()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(watch, "serve", lambda running, fragment: None)
    if folder is None:
        (tmp_path / "good.safetensors").write_bytes(data)
    else:
        (tmp_path / folder / "damaged.safetensors").write_bytes(data[:1000])
    name = "good.safetensors" if folder is None else str(Path(folder, "damaged.safetensors"))
    assert run(["watch", name, "--port=0"]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"error: {sentence}") and error.count("\n") == 1


def test_the_status_shows_that_a_resumed_training_wrote_the_metrics_anew(following):
    folder, follower = following
    before = follower.status("cartpole")["metrics"]
    with (folder / "metrics.jsonl").open("ab") as file:
        file.write(b'{"step": 1')
    assert follower.status("cartpole")["metrics"] == before
    cut(folder, 1024)
    assert follower.status("cartpole")["metrics"] != before


@needs_browser_tools
@needs_browser
@pytest.mark.slow
def test_the_page_begins_its_curves_again_when_the_training_is_resumed_from_an_earlier_step(following, tmp_path):
    folder, follower = following
    first = json.loads((folder / "metrics.jsonl").read_text().splitlines()[0])["step"]
    site = make_site(tmp_path / "page", [envs_c.game("cartpole")], {}, console=False)
    with serving(site, follower.routes("cartpole")) as address, browser() as chromium:
        watched = Watched(chromium, address)
        watched.page.goto(f"{address}/#run")
        until(watched.page, "document.querySelector('.scores')?.textContent.includes('step 4096 ')")
        cut(folder, first)
        until(watched.page, f"document.querySelector('.scores').textContent.includes('step {first} ')")
        watched.require_clean()


@needs_browser_tools
@needs_browser
@pytest.mark.slow
def test_the_page_shows_a_new_checkpoint_and_new_metrics(following, tmp_path):
    folder, follower = following
    newest = checkpoint.latest(folder)
    newest.rename(tmp_path / newest.name)
    lines = (folder / "metrics.jsonl").read_text().splitlines(keepends=True)
    (folder / "metrics.jsonl").write_text("".join(lines[:1]))
    site = make_site(tmp_path / "page", [envs_c.game("cartpole")], {}, console=False)
    with serving(site, follower.routes("cartpole")) as address, browser() as chromium:
        watched = Watched(chromium, address)
        watched.page.goto(f"{address}/#run")
        shown = "document.querySelector('.legend')?.textContent.startsWith(%s)"
        older = checkpoint.latest(folder)
        until(watched.page, shown % json.dumps(older.name))
        (tmp_path / newest.name).rename(folder / newest.name)
        (folder / "metrics.jsonl").write_text("".join(lines))
        until(watched.page, shown % json.dumps(newest.name))
        step = json.loads(lines[-1])["step"]
        until(watched.page, f"document.querySelector('.scores').textContent.includes('step {step}')")
        watched.require_clean()


@needs_browser_tools
@needs_browser
@pytest.mark.slow
def test_the_page_says_that_watch_has_ended_also_if_it_cannot_play_the_agent(following, tmp_path):
    own = with_record(following[1].agent({})[0], {"heads": "my_heads:Deep"})
    routes = {**following[1].routes("cartpole"), "/run/agent.safetensors": lambda query: (own, "application/octet-stream")}
    site = make_site(tmp_path / "page", [envs_c.game("cartpole")], {}, console=False)
    with browser() as chromium:
        with serving(site, routes) as address:
            page = Watched(chromium, address).page
            page.goto(f"{address}/#run")
            until(page, "document.querySelector('.legend')?.textContent.startsWith('heads my_heads:Deep has no version')")
            assert page.locator(".scores").inner_text().startswith("not running, step 4096 of 4096")
        until(page, "document.querySelector('.scores').textContent === 'insertcoin watch has ended'", seconds=15)
