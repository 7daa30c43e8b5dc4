"""`python -m envs_c play GAME`: in a window, in a terminal, without torch, and its errors."""

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from envs_c.__main__ import main
from envs_c.play import command, terminal, window

ROOT = Path(__file__).resolve().parents[3]
TOY = ROOT / "tests" / "support" / "toy" / "toy.pyx"
# Plays as the command does, then prints modules that a person's game must not load.
PLAY = "import sys; from {module} import main; code = main({argv}); " \
       "print('loaded', *sorted({{'torch', 'tyro', 'rich', 'PIL', 'cupy'}} & set(sys.modules)), code)"


@pytest.fixture
def typist(monkeypatch):
    """Types a script of keys in the window: a set of held keys for each step."""
    pytest.importorskip("pygame")
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")

    def types(keys):
        monkeypatch.setattr(window.Window, "keys", lambda self: keys)
    return types


@pytest.mark.parametrize("words", ["cartpole", "cartpole --seed 3 --scale 2", "cartpole --frame-skip 2"])
def test_a_person_plays_in_the_window(capsys, typist, words):
    typist({"right"})
    assert main(["play", *words.split(), "--episodes", "1", "--speed", "1000"]) == 0
    legend, ended = capsys.readouterr().out.splitlines()
    assert legend == "arrows or WASD: left, right; P pauses, R restarts, Q or Escape leaves"
    assert re.fullmatch(r"episode 1: score \d+, \d+ steps", ended)


@pytest.mark.parametrize(("words", "given", "frames"), [
    ("", {"terminal": False, "scale": None, "speed": 1.0, "episodes": None}, 1),
    ("--scale 2 --speed 0.5 --episodes 3", {"terminal": False, "scale": 2, "speed": 0.5, "episodes": 3}, 1),
    ("--terminal --frame-skip 5", {"terminal": True, "scale": None, "speed": 1.0, "episodes": None}, 5)])
def test_each_option_reaches_the_game_or_its_screen(monkeypatch, words, given, frames):
    shown = []
    monkeypatch.setattr(command, "show", lambda played, **more: shown.append((more, played.env.core.frame_skip)))
    assert main(["play", "breakout", *words.split()]) == 0
    assert shown == [(given, frames)]


@pytest.mark.parametrize(("scale", "size"), [(1, (160, 210)), (3, (480, 630))])
def test_the_window_is_as_large_and_the_game_as_fast_as_asked(typist, monkeypatch, scale, size):
    typist(set())
    pictures, waited = [], []

    def wait(self, seconds):
        across, down = self.pygame.display.get_surface().get_size()
        pictures.append((across, down - window.BAR))
        waited.append(seconds)
        return len(waited) < 3
    monkeypatch.setattr(window.Window, "wait", wait)
    assert main(["play", "breakout", f"--scale={scale}", "--speed", "0.001", "--frame-skip", "2"]) == 0
    assert pictures == [size] * 3
    assert all(seconds > 1000 * 2 / 60 * 0.9 for seconds in waited)  # the time of two frames, a thousand times as slow


def test_options_are_the_games(capsys, typist):
    typist({"right", "space"})

    def played(words):
        assert main(["play", *words.split(), "--episodes", "1", "--speed", "1000000"]) == 0
        return capsys.readouterr().out
    once = played("breakout --seed 3 --options lives=1")
    assert once == played("breakout --options lives=1 --seed 3")
    assert int(played("breakout --seed 3 --options lives=2").split()[-2]) > int(once.split()[-2])


def test_the_same_seed_begins_the_same_game_and_another_one_another(monkeypatch):
    pictures = []
    monkeypatch.setattr(command, "show", lambda played, **_: pictures.append(played.picture().tobytes()))
    for seed in (3, 3, 4):
        assert main(["play", "snake", "--seed", str(seed)]) == 0
    assert pictures[0] == pictures[1] != pictures[2]


def test_a_game_of_ones_own_is_played_by_its_path(capsys, typist, tmp_path):
    typist({"right"})
    assert main(["play", str(TOY), "--episodes", "1", "--speed", "1000000"]) == 0
    assert "episode 1: score" in capsys.readouterr().out


def in_terminal(code: str, keys: bytes) -> str:
    """The output of a Python program in a pseudo-terminal, into which these keys are typed when its screen is open."""
    person, program = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "PYTHONIOENCODING": "utf-8", "COLUMNS": "80", "LINES": "24"}
    with subprocess.Popen([sys.executable, "-c", code], stdin=program, stdout=program, stderr=program, cwd=ROOT,
                          env=environment, start_new_session=True) as process:
        os.close(program)
        output = b""
        while True:
            try:
                more = os.read(person, 1 << 16)
            except OSError:  # the program has ended
                more = b""
            if not more:
                break
            if terminal.ENTER.encode() in output + more and keys:
                os.write(person, keys)
                keys = b""
            output += more
        os.close(person)
        assert process.wait() == 0, output
    return output.decode()


@pytest.mark.parametrize("leave", [b"q", b"Q", b"\x1b"])
def test_a_person_plays_in_the_terminal_and_leaves(leave):
    code = PLAY.format(module="envs_c.__main__", argv=["play", "breakout", "--terminal", "--seed", "1"])
    output = in_terminal(code, b" " + leave)
    legend, _, shown = output.partition(terminal.ENTER)
    assert legend.startswith("arrows or WASD: left, right; space: fire;")
    picture, _, printed = shown.partition(terminal.LEAVE)
    assert terminal.BLOCK in picture and re.search(r"breakout  score 0  (lives 5  )?step 0", picture)
    assert printed.split() == ["loaded", "0"]


def test_an_episode_in_the_terminal_is_printed_after_it(capsys):
    code = PLAY.format(module="envs_c.__main__", argv=["play", "snake", "--terminal", "--seed", "1", "--episodes", "1",
                                                       "--speed", "1000", "--options", "size=4", "patience=1"])
    printed = in_terminal(code, b"\x1b[A").partition(terminal.LEAVE)[2]
    assert re.fullmatch(r"episode 1: score -?\d+, \d+ steps\r\nloaded 0\r\n", printed)


def test_insertcoin_plays_a_game_without_torch_and_the_trainers_packages():
    blocked = "import sys; sys.modules.update(dict.fromkeys(('torch', 'tyro', 'rich', 'safetensors', 'tomli_w', 'PIL')));"
    code = blocked + PLAY.format(module="trainer.__main__", argv=["play", "pong", "--terminal"])
    assert "pong  score 0" in in_terminal(code, b"q")


def test_the_window_needs_no_torch():
    pytest.importorskip("pygame")
    code = PLAY.format(module="envs_c.__main__", argv=["play", "cartpole", "--episodes", "1", "--speed", "1000"])
    code = "from envs_c.play.window import Window; Window.keys = lambda self: {'left'}; " + code
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True,
                          env={**os.environ, "SDL_VIDEODRIVER": "dummy"})
    assert done.stdout.splitlines()[-1] == "loaded 0"


def test_the_help_lists_the_keys(capsys):
    with pytest.raises(SystemExit):
        main(["play", "--help"])
    printed = capsys.readouterr().out
    assert command.KEYS in printed and all(word in printed for word in ("arrows or WASD", "P  ", "R  ", "Q or Escape"))


@pytest.mark.parametrize(("words", "sentence"), [
    ("brekout", "unknown game 'brekout': did you mean breakout?"),
    ("nowhere.pyx", "nowhere.pyx"),
    ("breakout --options lives=9", "option 'lives' of breakout must be an integer from 1 to 5"),
    ("breakout --options live=1", "unknown option 'live' for breakout; its options: lives"),
    ("breakout --options seed=1", "unknown option 'seed' for breakout; its options: lives"),
    ("breakout --options lives", "--options must be NAME=VALUE with a number, such as lives=5, not 'lives'"),
    ("breakout --seed x", "--seed must be an integer from 0 to 18,446,744,073,709,551,615, not 'x'"),
    ("breakout --seed=--", "--seed must be an integer from 0 to 18,446,744,073,709,551,615, not "),
    ("breakout --frame-skip 0", "--frame-skip must be an integer from 1 to 1,000, not 0"),
    ("breakout --speed nan", "--speed must be a number from 0.001 to 1e+06, not nan"),
    ("breakout --episodes 0", "--episodes must be an integer from 1 to"),
    ("breakout --scale 0", "--scale must be an integer from 1 to 100, not 0"),
    ("breakout --scale 2 --terminal", "--scale must be left out with --terminal, not 2"),
    ("breakout --terminal", "--terminal needs a terminal as output, not a file, a pipe or a dumb terminal"),
])
def test_a_wrong_line_gets_one_line(capsys, words, sentence):
    assert main(["play", *words.split()]) == 2
    out, error = capsys.readouterr()
    assert out == "" and error.count("\n") == 1 and sentence in error


def test_without_a_display_one_line_names_the_terminal():
    pytest.importorskip("pygame")
    environment = {name: value for name, value in os.environ.items() if name not in window.DISPLAYS}
    done = subprocess.run([sys.executable, "-m", "envs_c", "play", "breakout"], capture_output=True, text=True, cwd=ROOT,
                          env=environment)
    if sys.platform == "linux":
        assert (done.returncode, done.stderr) == (2, "error: a window needs a display (none was found): use --terminal\n")
