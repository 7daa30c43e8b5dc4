"""Links that replay a game: natively and in JavaScript they give the same bits, and damaged links are refused by both."""

import json

import numpy as np
import pytest
from arcade_support import compiled, needs_browser_tools, node

import envs_c
from envs_c import catalog
from envs_c.__main__ import main
from envs_c.arcade import links

GAMES = [  # a game, the settings of the page, the parts of the link beside game, version, seed and actions
    ("pong", {}, "frame_skip=4&time_limit=0"),
    ("breakout", {"frameSkip": 1, "sticky": 0.25, "noopMax": 30, "options": {"lives": 2}},
     "frame_skip=1&sticky=0.25&noop_max=30&time_limit=0&o.lives=2"),
    ("snake", {"options": {"size": 12}, "timeLimit": 50}, "frame_skip=1&time_limit=50&o.size=12"),
    ("go", {"options": {"komi": 5.5}}, "frame_skip=1&time_limit=0&o.komi=5.5"),
]
LINK = "https://x.org/a/#replay=1&game=pong&version=1&seed=7&frame_skip=4&actions=BgI"


def recorded(name: str, settings: dict, seed: int, actions) -> str:
    """The link that the page's Recorder makes of this play."""
    given = json.dumps([int(action) for action in actions]).encode()
    return node("replay.mjs", compiled(name), name, seed, json.dumps(settings), given=given).decode().strip()


def in_node(link: str) -> list[str]:
    """The checksum of a link in JavaScript, and the link that it makes of the same replay; or an error."""
    return node("replay.mjs", compiled("pong"), link).decode().splitlines()


@needs_browser_tools
@pytest.mark.parametrize(("name", "settings", "parts"), GAMES, ids=[row[0] for row in GAMES])
def test_a_link_replays_the_same_bits_natively_and_in_javascript(name, settings, parts):
    compiled(name)
    random = np.random.RandomState(3)
    legal = len(envs_c.game(name).actions)
    actions = np.repeat(random.randint(0, legal, 150), random.randint(1, 40, 150))[:400]
    link = recorded(name, settings, 2**63 + 1, actions)
    assert link.startswith(f"#replay=1&game={name}&version={envs_c.game(name).version}&seed={2**63 + 1}&{parts}"
                           f"&steps={len(actions)}&actions=")
    replay = links.parse(f"https://example.org/arcade/{link}")
    assert replay.actions == actions.tolist()
    checksum, again = in_node(link)
    assert (checksum, again) == (links.play(replay).checksum, link)
    assert in_node(links.link_of(replay))[0] == checksum
    assert links.play(replay._replace(seed=5)).checksum != checksum


def test_the_verb_replay_prints_the_scores_and_the_checksum(capsys):
    pressed = [1] * 3 + [0] * 900
    link = links.link_of(links.Replay("pong", 1, 7, {"time_limit": 400}, {"points": 2}, 6, pressed))
    assert main(["replay", link]) == 0
    played = links.play(links.parse(link))
    assert capsys.readouterr().out == f"pong, seed 7: {played.line()}\n"
    env = envs_c.make("pong", 1, seed=7, time_limit=400, points=2)
    env.reset()
    returns = []
    for action in pressed:
        infos = env.step([action])[-1]
        returns += [float(score) for score in infos.get("episode_stats", {}).get("r", ())]
    assert played.episodes == [score for score in returns if score] and played.steps == 903


@pytest.mark.parametrize("cut", range(1, 12))
def test_a_link_that_was_cut_inside_its_actions_says_so(cut):
    actions = np.random.RandomState(1).randint(0, 6, 60).tolist()
    link = links.link_of(links.Replay("pong", 1, 7, {}, {}, 6, actions))
    assert links.parse(link).actions == actions
    with pytest.raises(envs_c.InvalidArgument, match="it was cut off, copy it again"):
        links.parse(link[:-cut])


@pytest.mark.parametrize(("episodes", "length", "line"), [
    ([0.0], 0, "9 steps, 1 ended with score 0, checksum x"), ([], 9, "9 steps, score 1 after 9 steps, checksum x"),
    ([0.0, 2.5], 3, "9 steps, 2 ended with score 0 and 2.5, score 1 after 3 steps, checksum x")])
def test_the_line_of_a_replay_counts_its_episodes(episodes, length, line):
    assert links.Played(9, episodes, 1.0, length, "x").line() == line


@pytest.mark.parametrize(("steps", "line"), [
    (8, "8 steps, score 8 after 8 steps"), (9, "9 steps, 1 ended with score 9"),
    (10, "10 steps, 1 ended with score 9"), (12, "12 steps, 1 ended with score 9, score 2 after 2 steps")])
def test_the_step_that_begins_an_episode_counts_for_none(steps, line):
    played = links.play(links.Replay("cartpole", envs_c.game("cartpole").version, 1, {}, {}, 2, [1] * steps))
    assert played.line() == f"{line}, checksum {played.checksum}"


def test_long_runs_are_short_links():
    assert len(links.encode(4, [1] * 100_000)) < 8
    assert links.decode(links.encode(4, [1] * 100_000 + [3])) == (4, [1] * 100_000 + [3])


@pytest.mark.parametrize("value", [12345678.0, 2147483647.0, -0.1, 1e-07, -400.0])
def test_an_option_of_a_link_keeps_all_its_digits(value):
    link = links.link_of(links.Replay("platformer", 1, 7, {}, {"level_seed": value}, 6, [1]))
    assert links.parse(link).options == {"level_seed": value}


DAMAGED = [  # a change of LINK, a part of both messages
    ("replay=1&", "", "replay=1"),
    ("https://x.org/a/#replay=1", "https://[x/#replay=2", "replay=1"),
    ("replay=1", "replay=2", "replay=1"),
    ("game=pong&", "", "the link must have game="),
    ("&actions=BgI", "", "the link must have actions="),
    ("BgI", "BgI*", "base64url"),
    ("BgI", "BoI", "complete"),
    ("BgI", "", "complete"),
    ("BgI", "BgISE", "it was cut off"),
    ("actions=BgI", "steps=2&actions=BgI", "actions of the link must be 2 steps, not 1: it was cut off, copy it again"),
    ("actions=BgI", "steps=x&actions=BgI", "steps of the link must be"),
    ("BgI", "BoKAgICAgICAgICA", "at most 1"),
    ("BgI", "Bv___wc", "at most 1"),
    ("seed=7", "seed=x", "seed of the link must be an integer, not"),
    ("seed=7", "seed=99999999999999999999", "seed must be"),
    ("seed=7", "seed=1_0", "seed of the link must be an integer, not"),
    ("seed=7", "seed=%D9%A7", "seed of the link must be an integer, not"),
    ("frame_skip=4", "frame_skip=%204", "frame_skip of the link must be"),
    ("seed=7", "seed=7&o.points=1_0", "o.points of the link must be a number, not"),
    ("version=1", "version=9", "the link is of pong version 9, but this is pong version 1"),
    ("BgI", "BQI", "must be of a game with 6 actions, not 5"),
    ("frame_skip=4", "frame_skip=no", "frame_skip of the link must be"),
    ("frame_skip=4", "frame_skip=0", "must be"),
    ("seed=7", "seed=7&seed=8", "stand there once"),
    ("seed=7", "seed=7&colour=3", "known parts only, not"),
    ("seed=7", "seed=7&o.points=99", "must be an integer from 1 to 21"),
    ("seed=7", "seed=7&o.balls=9", "balls"),
]


@needs_browser_tools
@pytest.mark.parametrize(("old", "new", "message"), DAMAGED, ids=[f"{old or 'end'} {new}" for old, new, _ in DAMAGED])
def test_a_damaged_link_is_refused_in_one_line_by_both(old, new, message, capsys):
    link = LINK.replace(old, new)
    assert link != LINK
    assert main(["replay", link]) == 2
    native = capsys.readouterr().err
    assert message in native and native.count("\n") == 1
    (line,) = in_node(link)
    assert line.startswith("RangeError: ") and message in line


def test_a_link_of_another_game_needs_its_file_and_cannot_name_it(capsys, toy, tmp_path, monkeypatch):
    monkeypatch.setattr(catalog, "_registered", {})  # another test may have loaded the toy
    (tmp_path / "evil.pyx").write_text("raise SystemExit(9)")
    for name in ("toy", tmp_path / "evil.pyx"):
        link = links.link_of(links.Replay(str(name), toy.version, 3, {}, {}, 4, [1, 2, 3]))
        assert main(["replay", link]) == 2
        assert "name the file of another game with --game" in capsys.readouterr().err
    link = links.link_of(links.Replay("toy", toy.version, 3, {}, {}, 4, [1, 2, 3]))
    assert links.play(links.parse(link), toy).steps == 3
