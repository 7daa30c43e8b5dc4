"""Foreign text reaches a terminal as characters that are printed: one function shows it, whatever a text is from."""

import io
import pickle

import pytest

from bridge.errors import BridgeError
from envs_c.arcade import links
from envs_c.engine.state import close_state, open_state
from envs_c.errors import CompileFailed, EnvsError, InvalidArgument, InvalidState
from envs_c.text import message, printable, say, shown
from trainer.errors import FileError, SettingError, TrainerError

HOSTILE = "a\x1b]0;t\x07\x9b2J\u202egnp\r\n\u2028\udcff\x7f"
ESCAPED = r"a\x1b]0;t\x07\x9b2J\u202egnp\r\n\u2028\udcff\x7f"


def test_control_characters_are_shown_as_escapes():
    assert printable(HOSTILE) == ESCAPED and printable(ESCAPED) == ESCAPED
    assert printable("größe €") == "größe €"
    assert printable("a\nb\x1b", lines=True) == "a\nb\\x1b"


class Faulty:
    """An object that shows itself as it likes."""

    def __repr__(self):
        return HOSTILE


def test_a_value_is_one_printable_line_that_is_cut():
    assert shown(HOSTILE).isprintable() and shown(Faulty()).isprintable()
    assert len(shown("x" * 10**7)) < 100 and shown("x" * 10**7).endswith("... (10000002 characters)")
    assert shown(10**4000).endswith("characters)")
    assert shown(10**5000) == "a value of type int that cannot be shown"


@pytest.mark.parametrize("kind", [EnvsError, InvalidArgument, TrainerError, FileError, BridgeError])
def test_every_error_is_one_printable_line(kind):
    error = kind(f"there is no {HOSTILE}")
    assert str(error) == f"there is no {ESCAPED}"
    assert str(pickle.loads(pickle.dumps(error))) == str(error) and type(pickle.loads(pickle.dumps(error))) is kind
    long = str(kind("begin " + "x" * 50_000_000 + " do this"))
    assert len(long) < 2000 and long.startswith("begin x") and "(50,000,014 characters)" in long and long.endswith("x do this")


def test_an_error_about_a_setting_is_printable_and_an_error_of_a_compiler_keeps_its_lines():
    error = SettingError("na\x1bme", "must be \x1b[2J")
    assert str(error) == r"na\x1bme must be \x1b[2J" and error.name == r"na\x1bme"
    assert str(CompileFailed("a\nb\x1b\n" + "x" * 9999)) == "a\nb\\x1b\n" + "x" * 9999
    assert message(5) == 5


def test_say_prints_each_text_as_a_line():
    file = io.StringIO()
    say(HOSTILE, 5, file=file)
    say(file=file)
    assert file.getvalue() == f"{ESCAPED}\n5\n"


def test_a_state_with_a_large_header_is_a_short_error():
    state = close_state({"game": "g\x1b" * 1_000_000, "stride": 0}, 1, b"")
    with pytest.raises(InvalidState) as error:
        open_state(state, {"game": "pong"}, 1, {})
    assert str(error.value).isprintable() and len(str(error.value)) < 300


def test_a_link_with_a_long_version_is_a_short_error():
    with pytest.raises(InvalidArgument) as error:
        links.play(links.parse(f"#replay=1&game=pong&version={'9' * 4000}&seed=1&actions=AwA"))
    assert len(str(error.value)) < 300
