"""The benchmark of changed games: a row for each option that changes a rule; other runs are refused; the page quotes it."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from pages_support import flat, result_rows, tables

import envs_c
from benchmarks.cartridges.agents import Agent
from benchmarks.cartridges.twins import TWINS
from benchmarks.scores import modified
from trainer.config import Config
from trainer.environments import make_source
from trainer.policy.make import make_policy


def tiny(game: str, **options) -> tuple:
    """What `load_run` returns, of an untrained policy; an episode has at most 20 steps."""
    config = Config(game)
    config = replace(config, env=replace(config.env, time_limit=20, options=options),
                     policy=replace(config.policy, encoder_size=16, lstm_size=8))
    source = make_source(config.game, config.env, 1, 0)
    policy = make_policy(config.policy, source, 0, torch.float32)
    source.close()
    return Agent("untrained", policy, config, "0")


def test_the_table_has_the_original_and_each_changed_rule(monkeypatch, tmp_path):
    monkeypatch.setattr(modified, "load_agent", lambda run, plain: tiny(run))
    rows = modified.main(["breakout", "freeway", "--episodes", "2", "--out", str(tmp_path / "page.md")])
    names = {"breakout": ["-", "keep_width", "fast_ball", "hidden_bricks"],
             "freeway": ["-", "difficulty", "frozen_traffic", "fast_traffic", "harmless_cars"]}
    assert [row[:2] for row in rows] == [[game, name] for game in names for name in names[game]]
    text = (tmp_path / "page.md").read_text(encoding="utf-8")
    assert text.startswith("# Changed games") and text.count("\n| breakout") == 4 and "over 2 episodes" in text


def test_each_row_plays_the_game_that_it_names(monkeypatch):
    played = []

    def play(policy, game, settings, **more):
        played.append(settings.options)
        return SimpleNamespace(returns=np.array([1.0, 2.0]), truncated=np.array([False, True]))
    monkeypatch.setattr(modified, "load_agent", lambda run, plain: tiny(run))
    monkeypatch.setattr(modified.evaluate, "play", play)
    assert [row[3:5] for row in modified.rows_of(tiny("pong"), 2, 1)] == [["1.5 ± 0.5", "1"]] * 4
    assert played == [{}, {"lazy_enemy": 1.0}, {"fast_serve": 1.0}, {"hidden_enemy": 1.0}]
    assert len([*modified.rows_of(tiny("enduro"), 2, 1)]) == 5
    assert played[4:] == [{}, {"weather": 0.0}, {"bends": 0.0}, {"crashes": 0.0}, {"overtaking": 0.0}]


@pytest.mark.parametrize("game, options, text", [
    ("cartpole", {}, "RUN must be of breakout"), ("breakout", {"lives": 3.0}, "RUN must have no options")])
def test_a_run_of_another_game_or_with_options_is_refused(monkeypatch, game, options, text):
    policy, config = tiny(game, **options)[1:3]
    monkeypatch.setattr("benchmarks.cartridges.agents.load_run", lambda run, device: (Path(__file__), policy, config))
    with pytest.raises(SystemExit, match=text):
        modified.main(["runs/x"])


def test_at_least_three_rules_change_in_each_game_and_none_by_default():
    for game in TWINS:
        changes = modified.changes_of(game)
        assert len(changes) >= 3 and "scatter" not in changes
        known = envs_c.game(game)
        assert all(known.options[name].default == 1 - value for name, (value, _) in changes.items())
        assert {known.describe(known.check_options({name: value}))[1] for name, (value, _) in changes.items()} == {
            known.feature_shape}  # else no agent of the original could play them


@pytest.mark.parametrize(("changed", "original", "text"), [
    ((20.0, 0.0), (10.0, 0.0), "200% ± 0%"),
    ((10.0, 1.0), (10.0, 0.0), "100% ± 20%"),  # 1.96 standard errors of 10%
    ((8.0, 0.24), (10.0, 0.4), "80% ± 8%"),    # 3% and 4% of errors are 5% together: 0.8 * 1.96 * 5%
    ((-1.0, 0.1), (10.0, 0.1), "-"), ((1.0, 0.1), (0.0, 0.1), "-")])
def test_a_ratio_has_the_error_of_both_means(changed, original, text):
    assert modified.ratio(changed, original) == text


def test_the_page_has_the_table_and_the_episodes_of_the_results():
    [quoted] = tables("docs/modified.md")
    assert quoted == result_rows("modified.md")
    assert {row["game"]: row["option"] for row in reversed(quoted)} == dict.fromkeys(TWINS, "-")
    for game in TWINS:
        assert [row["option"] for row in quoted if row["game"] == game][1:] == [*modified.changes_of(game)]
    for page in ("docs/modified.md", "benchmarks/results/modified.md"):
        assert "means over 100 episodes with their standard errors, actions sampled" in flat(page)


def test_the_page_names_each_change_all_of_whose_episodes_end_at_the_limit():
    [quoted] = tables("docs/modified.md")
    whole = [row["option"] for row in quoted if row["truncated"] == "100"]
    named = flat("docs/modified.md").partition('"truncated" is the number')[2].partition("measure the limit")[0]
    assert whole and [name for name in whole if f"`{name}`" in named] == whole
