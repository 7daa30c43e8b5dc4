"""The table of policies on cartridges, and the learning curves on both: short forms of the commands."""

import json
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

import envs_c
from benchmarks.cartridges.agents import load_agent
from benchmarks.cartridges.atari import AtariCartridge, Brighter
from benchmarks.cartridges.environment import Cartridge, Ours
from benchmarks.cartridges.twins import TWINS
from benchmarks.likeness.table import END
from benchmarks.scores import curves_on_both
from benchmarks.transfer import __main__ as transfer
from benchmarks.transfer import table
from benchmarks.transfer.play import Played, play
from trainer import Session
from trainer.config import Config, EnvConfig
from trainer.errors import TrainerError

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.skipif(find_spec("ale_py") is None, reason="needs ale-py")


@pytest.fixture
def short(monkeypatch):
    """Agents whose episodes have at most ten steps."""
    def load(name, plain):
        agent = load_agent(name, plain=plain)
        config = agent.config
        return agent._replace(config=type(config)(config.game, env=type(config.env)(time_limit=10)))
    monkeypatch.setattr(table, "load_agent", load)


def test_the_table_gets_a_row_for_each_game_and_probability_and_keeps_the_others(short, tmp_path, monkeypatch):
    page, scores = tmp_path / "page.md", tmp_path / "scores.jsonl"
    page.write_text(f"before\n{transfer.BEGIN}\n{END}\nafter\n", encoding="utf-8")
    common = ["--episodes", "2", "--scores", str(scores), "--out", str(page)]
    rows = transfer.main(["pong", "freeway", *common])
    assert [(row[0], row[3], *row[-2:]) for row in rows] == [
        (game, sticky, "2 of 2", "2") for game in ("pong", "freeway") for sticky in ("0", "0.25")]
    assert all("(2 cut)" in row[4] and "(2 cut)" in row[5] for row in rows)
    before = scores.read_text(encoding="utf-8")
    monkeypatch.setattr(table, "play", lambda *_: pytest.fail("this was played"))
    transfer.main(["freeway", *common, "--sticky", "0"])
    text = page.read_text(encoding="utf-8")
    assert text.count("| pong") == text.count("| freeway") == 2 and text.startswith("before") and text.endswith("after\n")
    assert before == scores.read_text(encoding="utf-8") and before.count('"groups": [[0, 2, ') == 12


def test_the_published_table_is_made_of_the_file_of_scores():
    sides = {}
    for key, groups in table.Scores(ROOT / "benchmarks/results/transfer.jsonl").known.items():
        *about, side = json.loads(key)
        sides.setdefault(tuple(about), {})[side] = table.Tally(*map(sum, zip(*groups.values(), strict=True)))
    made = set()
    for (game, checksum, view, sticky, _, limit), by_side in sides.items():
        agent = SimpleNamespace(name=checksum, config=Config(game, EnvConfig(view=view, time_limit=limit)))
        made.add(tuple(table.row_of(agent, sticky, *(by_side[side] for side in ("cartridge", "its start", "here")))))
    text = (ROOT / "docs/likeness.md").read_text(encoding="utf-8").split(transfer.BEGIN)[1].split(END)[0]
    published = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.strip().splitlines()[2:]]
    assert len(published) == len(made) and {(row[0], *row[2:]) for row in published} == {(row[0], *row[2:]) for row in made}


def test_the_published_scores_are_of_the_agents_that_ship():
    played = {tuple(json.loads(key)[:2]) for key in table.Scores(ROOT / "benchmarks/results/transfer.jsonl").known}
    assert {(game, load_agent(game).checksum) for game in TWINS} <= played


def test_each_group_of_episodes_has_its_own_seed(monkeypatch):
    """Group k begins at the seed of its first episode: equal seeds would play the same episodes again."""
    played = []

    def stand_in(policy, config, count, sticky, seed, tick):
        played.append((count, seed))
        return Played(np.zeros(count), np.ones(count, int), np.ones(count, bool))
    for side in ("play", "play_from_its_start", "play_here"):
        monkeypatch.setattr(table, side, stand_in)
    agent = SimpleNamespace(policy=None, checksum="", config=Config("pong", EnvConfig(time_limit=10)))
    sides = table.all_sides(agent, 0.0, 25, table.Scores(None))
    assert [side.episodes for side in sides] == [25] * 3 and played == [(10, 1), (10, 11), (5, 21)] * 3


def test_a_tally_has_the_mean_and_the_error_of_the_episodes_whether_they_were_grouped_or_not():
    scores, lengths = np.random.default_rng(3).integers(0, 10**6, (25,)).astype(float), np.arange(25)
    played = [Played(scores[part], lengths[part], lengths[part] % 2 > 0) for part in (slice(10), slice(10, 20), slice(20, 25))]
    one = table.Tally(*map(sum, zip(*(table.tally(part, 20) for part in played), strict=True)))
    assert one.mean == pytest.approx(scores.mean()) and one.error == pytest.approx(scores.std(ddof=1) / 5)
    assert (one.episodes, one.cut, one.same) == (25, 5, 12)
    assert table.Tally(1, 5.0, 25.0, 0, 0).error == table.Tally(3, 6.0, 12.0, 0, 0).error == 0.0


@pytest.mark.parametrize("line", ["", "{", "[]", "{}", '{"key": 1}', '{"key": [], "groups": [[0, 1]]}',
                                  '{"key": [], "groups": [[0, 1, "x", 1, 0, 0]]}'])
def test_a_file_of_another_program_is_refused_by_its_line(line, tmp_path):
    (tmp_path / "scores.jsonl").write_text(line + "\n")
    with pytest.raises(TrainerError, match=r"line 1 is not one of its lines; name another file"):
        table.Scores(tmp_path / "scores.jsonl")


@pytest.mark.parametrize("arguments, text", [
    (["--episodes", "0"], "argument --episodes: must be an integer of at least 1, not 0"),
    (["--scores", "missing/scores.jsonl"], "--scores must be a file in a folder that exists"),
    (["--out", __file__], "--out must be a file with a line"),
    (["cartpole"], "there is no run at cartpole"),
])
def test_wrong_arguments_of_the_table_are_refused_in_a_line(arguments, text, tmp_path, capsys):
    with pytest.raises(SystemExit) as caught:
        transfer.main([*(["--scores", str(tmp_path / "x")] if "--scores" not in arguments else []), *arguments])
    assert text in f"{caught.value} {capsys.readouterr().err.splitlines()[-1:]}"


def test_a_page_without_the_line_behind_the_table_is_refused_before_anything_is_played(tmp_path, monkeypatch, capsys):
    (tmp_path / "page.md").write_text(f"{transfer.BEGIN}\n", encoding="utf-8")
    monkeypatch.setattr(table, "print_rows", lambda *_: pytest.fail("this was played"))
    with pytest.raises(SystemExit):
        transfer.main(["pong", "--scores", str(tmp_path / "x"), "--out", str(tmp_path / "page.md")])
    assert f"add this line and {END}" in capsys.readouterr().err.splitlines()[-1]


@pytest.fixture
def two_environments(monkeypatch):
    """Trainings on two environments, since opening a cartridge takes a while."""
    monkeypatch.setitem(curves_on_both.SETUP, "num_envs", 2)
    monkeypatch.setitem(curves_on_both.SETUP, "minibatch", 64)


def test_all_sides_of_the_curves_begin_with_the_same_policy_and_settings(two_environments):
    made = {}
    for side in curves_on_both.SIDES:
        with Session(curves_on_both.config_of("breakout", side, 1, 2048), trust_code=True) as session:
            made[side] = session.policy.state_dict(), session.config, session.policy.scale
    ours, our_config, scale = made.pop("here")
    for theirs, their_config, their_scale in made.values():
        assert ours.keys() == theirs.keys() and all(torch.equal(ours[name], theirs[name]) for name in ours)
        assert (our_config.policy, our_config.ppo, scale) == (their_config.policy, their_config.ppo, their_scale)
        assert our_config.env.reward_clip == their_config.env.reward_clip


def test_the_environment_of_a_cartridge_holds_actions_and_gives_the_features_of_our_game():
    env = Cartridge("breakout", noop_max=4, time_limit=3)
    seen, _ = env.reset(seed=1)
    assert env.observation_space.contains(seen) and 1 <= env.machine.frames <= 4
    frames = env.machine.frames
    steps = [env.step(1) for _ in range(3)]
    assert env.machine.frames == frames + 12 and not np.array_equal(steps[0][0], steps[1][0])
    assert [step[2:4] for step in steps] == [(False, False), (False, False), (False, True)]
    env.reset()
    assert env.machine.frames <= 4


@pytest.mark.parametrize("game", TWINS)
def test_our_game_as_that_environment_gives_what_the_cartridge_gives(game):
    cartridge, ours = (kind(game, noop_max=20, time_limit=80) for kind in (Cartridge, Ours))
    actions = np.random.default_rng(2).integers(cartridge.action_space.n, size=160)
    assert cartridge.action_space == ours.action_space and cartridge.observation_space == ours.observation_space
    for number in range(2):
        seen = [env.reset(seed=None if number else 3)[0] for env in (cartridge, ours)]
        assert np.array_equal(*seen)
        for action in actions[80 * number:][:80]:
            (theirs, *their_rest), (our, *our_rest) = (env.step(action) for env in (cartridge, ours))
            assert np.array_equal(theirs, our) and their_rest == our_rest


def test_a_training_in_our_game_with_the_cartridge_s_starts_is_that_on_the_cartridge(two_environments, monkeypatch):
    monkeypatch.setitem(curves_on_both.SETUP, "horizon", 32)
    sides = {side: [curves_on_both.train("breakout", side, 1, 512)] for side in curves_on_both.SIDES}
    assert curves_on_both.equal(sides) == 1 and any(score is not None for score in sides["same"][0]["scores"])
    assert sides["here"][0]["weights"] != sides["same"][0]["weights"]


def test_curves_of_both_sides_are_drawn_and_finished_trainings_are_kept(tmp_path, monkeypatch):
    def train(game, side, seed, steps):
        return {"steps": steps, "cpu_seconds": 30.0 if side == "cartridge" else 3.0,
                "weights": "other" if side == "same" and seed == 2 else "some",
                "scores": [None, *(seed + 10.0 * part for part in range(1, 20))]}
    monkeypatch.setattr(curves_on_both, "train", train)
    rows = curves_on_both.main(["pong", "--seeds", "3", "--steps", "2000", "--out", str(tmp_path)])
    facts = dict(zip(curves_on_both.COLUMNS, rows[0], strict=True))
    assert facts["difference"].startswith("0.00, from -") and (facts["common parts"], facts["ratio"]) == ("19 of 20", "10")
    assert facts["mean score, cartridge"] == facts["mean score, here"] == "102.00 ± 2.48"
    assert facts["equal trainings"] == "2 of 3"
    assert (tmp_path / "curves_on_both_pong.png").stat().st_size > 10_000
    known = json.loads((tmp_path / "curves_on_both.json").read_text(encoding="utf-8"))
    assert len(known) == 9
    monkeypatch.setattr(curves_on_both, "train", lambda *_: pytest.fail("this was trained"))
    assert curves_on_both.main(["pong", "--seeds", "3", "--steps", "2000", "--out", str(tmp_path)]) == rows


@pytest.mark.parametrize("arguments, text", [
    (["cartpole"], "GAME must be one of breakout"),
    (["pong", "--seeds", "1"], "--seeds must be an integer from 2 to 11, not 1"),
    (["pong", "--steps", "100"], "--steps must be an integer of at least 1024"),
    (["pong", "--out", "missing"], "--out must be a folder that exists"),
    (["pong", "--out", str(ROOT), "--no-training"], "--no-training needs curves_on_both.md and .json in --out"),
])
def test_wrong_arguments_of_the_curves_are_refused_in_a_line(arguments, text, capsys):
    with pytest.raises(SystemExit):
        curves_on_both.main(arguments)
    assert text in capsys.readouterr().err.splitlines()[-1]


def test_two_trainings_of_a_rollout_make_a_curve(two_environments):
    for side in curves_on_both.SIDES:
        entry = curves_on_both.train("breakout", side, 1, 128)
        assert entry["steps"] == 128 and len(entry["scores"]) == curves_on_both.BINS and entry["cpu_seconds"] > 0


@pytest.mark.parametrize("view", ["ram", "pixels"])
def test_a_policy_of_the_console_plays_the_same_episodes_under_ale(view):
    sizes = {"num_envs": 2, "horizon": 8, "minibatch": 16, "encoder_size": 8, "lstm_size": 8}
    with Session("atari:pong", view=view, device="cpu", noop_max=3, time_limit=12, **sizes) as session:
        played = play(session.policy, session.config, 2, 0.25)
    assert played.lengths.tolist() == [12, 12] and played.same.all()


def test_the_small_pictures_of_the_oracle_are_those_of_our_console():
    cartridge, ours = AtariCartridge("atari:pong"), envs_c.make("atari:pong", view="pixels")
    reader, picture = Brighter(cartridge), ours.reset()[0][0]
    for action in [2, 3, 0, 5] * 5:
        assert np.array_equal(reader.read(), picture)
        for _ in range(4):
            cartridge.step(action)
        picture = ours.step([action])[0][0]
