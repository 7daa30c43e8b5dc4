"""`insertcoin arcade`: a page with an agent and a game of the user's own."""

import json

import own_rom
import pytest
from arcade_support import needs_browser_tools
from export_support import save
from support import TOY

import envs_c
from envs_c.arcade import site
from envs_c.arcade.agents import described
from trainer.commands.main import run


@pytest.fixture
def small(monkeypatch):
    """A page with one game of the package and no console: compiling all takes half a minute. The agents for cartridges."""
    agents = []
    monkeypatch.setattr(envs_c, "games", lambda: ("cartpole",))
    monkeypatch.setattr(site, "build_console", lambda folder, names: agents.extend(names))
    return agents


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """The folder of a finished run."""
    folder = tmp_path_factory.mktemp("arcade") / "mine"
    assert run(["cartpole", "--num-envs=8", "--minibatch=256", "--total-steps=512", "--lstm-size=8", "--device=cpu", "--no-gif",
                "--no-dashboard", "--eval-episodes=0", f"--run-dir={folder}"]) == 0
    return folder


@needs_browser_tools
def test_the_agent_of_a_run_and_a_game_from_outside_join_the_page(trained, small, tmp_path, monkeypatch):
    monkeypatch.setenv("ENVS_C_CACHE", str(tmp_path / "cache"))
    page = tmp_path / "page"
    assert run(["arcade", str(TOY), f"--run={trained}", f"--out={page}"]) == 0
    entries = {each["name"]: each["agent"] for each in json.loads((page / "catalog.json").read_text())}
    assert entries == {"cartpole": True, "toy": False}
    assert described((page / "agents" / "cartpole.safetensors").read_bytes())["step"] == 512
    assert (page / "games" / "toy.wasm").exists()


def run_of(game: str, folder) -> str:
    """The option of a short training's run."""
    assert run([game, "--num-envs=8", "--horizon=4", "--minibatch=32", "--total-steps=64", "--lstm-size=8", "--noop-max=0",
                "--device=cpu", "--no-gif", "--no-dashboard", "--eval-episodes=0", f"--run-dir={folder}"]) == 0
    return f"--run={folder}"


@needs_browser_tools
def test_the_agent_of_a_cartridge_joins_the_page_without_the_cartridge(small, tmp_path):
    pytest.importorskip("ale_py")
    page = tmp_path / "page"
    assert run(["arcade", run_of("atari:pong", tmp_path / "run"), f"--out={page}"]) == 0
    assert (page / "agents" / "atari_pong.safetensors").exists()
    assert (small, [path.name for path in (page / "games").glob("atari*")]) == (["atari_pong"], [])


def test_a_run_of_an_unknown_cartridge_has_no_place_on_the_page(small, tmp_path, capsys):
    (tmp_path / "own.bin").write_bytes(own_rom.another(3))
    with pytest.warns(UserWarning, match="not in the table"):
        chosen = run_of(f"atari:{tmp_path / 'own.bin'}", tmp_path / "run")
    capsys.readouterr()
    assert run(["arcade", chosen, f"--out={tmp_path / 'page'}"]) == 2
    assert "--run must name runs of games in the console's table" in capsys.readouterr().err
    assert not (tmp_path / "page").exists()


def test_two_runs_of_one_game_are_refused_since_the_page_has_one_agent_for_each(trained, small, tmp_path, capsys):
    assert run(["arcade", f"--run={trained},{trained}", f"--out={tmp_path / 'page'}"]) == 2
    assert "--run must name one run for each game, and two of them are of cartpole" in capsys.readouterr().err
    assert not (tmp_path / "page").exists()


def test_an_agent_with_an_encoder_of_ones_own_is_refused_since_browsers_cannot_play_it(small, tmp_path, capsys):
    save(tmp_path / "run", policy={"encoder": "own_encoders:Small"})
    assert run(["arcade", f"--run={tmp_path / 'run'}", "--trust-code", f"--out={tmp_path / 'page'}"]) == 2
    assert "encoder own_encoders:Small has no version for browsers" in capsys.readouterr().err
    assert not (tmp_path / "page").exists()


@pytest.mark.parametrize(("words", "text"), [
    (["--run=nosuchrun"], "nosuchrun"), (["nosuch.pyx"], "nosuch.pyx"), (["--port=70000", "--serve"], "--port"),
    (["--port=8000"], "--port must be left out without --serve"),
    (["--nosuch"], "--nosuch")])
def test_a_wrong_argument_is_one_line_and_writes_nothing(words, text, small, tmp_path, capsys):
    assert run(["arcade", f"--out={tmp_path / 'page'}", *words]) == 2
    error = capsys.readouterr().err
    assert text in error
    assert error.count("\n") == 1
    assert not (tmp_path / "page").exists()
