"""docs/games holds exactly the pages that the games' own descriptions give."""

import json

import pytest
from setup_support import ROOT, TOOLS, load

import envs_c

game_pages = load(TOOLS / "game_pages.py")
PAGES = game_pages.pages()


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_the_one_that_make_docs_writes(name):
    written = (ROOT / "docs" / "games" / name).read_text(encoding="utf-8")
    assert written == PAGES[name], "run `make docs`"


def test_every_game_has_a_page_and_no_page_is_left_over():
    names = {file.stem for file in (ROOT / "docs" / "games").glob("*.md")} - {"README"}
    assert names == set(envs_c.built_in())


@pytest.mark.parametrize("name", envs_c.built_in())
def test_a_page_names_every_feature_action_and_option(name):
    game, page = envs_c.game(name), PAGES[f"{name}.md"]
    assert game.compared_with and sum(feature.count for feature in game.features) > 0
    assert all(f"| {feature.name} |" in page and feature.help for feature in game.features)
    assert all(f"`{option}`" in page for option in game.options)
    assert game.actions[0] in page and game.actions[-1] in page


@pytest.mark.parametrize("name", envs_c.built_in())
def test_a_game_has_a_score_and_a_film_and_the_readme_shows_it(name):
    scores = json.loads((ROOT / "benchmarks" / "results" / "presets.json").read_text(encoding="utf-8"))
    film = ROOT / "docs" / "gallery" / f"{name}.gif"
    assert name in scores and film.is_file(), f"run `python -m benchmarks.scores.gallery {name}`"
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f'src="docs/gallery/{name}.gif"' in readme and f'href="docs/games/{name}.md"' in readme


@pytest.mark.parametrize(("first", "shown"), [
    ("End. The game ends.", "**End.** The game ends."), ("Board. `size` cells a side.", "**Board.** `size` cells a side."),
    ("Numbers. r = 5 r + 89.", "**Numbers.** r = 5 r + 89."), ("After B. Bakker, 2001.", "After B. Bakker, 2001.")])
def test_the_label_of_a_paragraph_is_bold_and_an_initial_is_not(first, shown):
    assert game_pages.markdown(first) == shown


def test_a_game_without_a_score_has_a_page_that_names_the_command():
    game = envs_c.game("cartpole")
    assert "No film yet: `python -m benchmarks.scores.gallery cartpole`" in game_pages.page(game, None, {})
    assert "| - |\n" in game_pages.index([game], {})


@pytest.mark.parametrize(("name", "used", "words"), [
    ("pong", (0.25, 0), "sticky actions with a probability of 0.25"), ("pong", (0, 0), "no sticky actions, 0 no-ops"),
    ("pong", (0, 30), "no sticky actions, up to 30 no-ops at the start"),
    ("snake", (0, 0), "no sticky actions, a game without no-ops")])
def test_scores_without_sticky_actions_stand_with_their_no_ops(name, used, words):
    game, runs = envs_c.game(name), [{"scores": {"sampled": 2.0}, "steps": 2e6, "minutes": 1.0}]
    score = {"mean": 1.0, "min": 0.0, "max": 2.0, "random": 0.0, "made": "2026-11-21", "episodes": 100, "seed": 3,
             "protocol": {"noop_max": used[1], "time_limit": 27_000, "frame_skip": 4}}
    page = game_pages.page(game, score, {used: runs})
    assert f"- {words}: 2, 1 seeds" in page
    film = f"one training, of seed 3, with the preset as it was on 2026-11-21; {words}: a mean score of 1 in 100 episodes, from"
    assert used[0] or film in page


def test_a_film_of_episodes_with_another_time_limit_than_the_presets_names_it():
    """Snake's preset has none, so its episodes end at the evaluation's own limit; an early entry recorded none."""
    said = {(name, limit): game_pages.limit_of(envs_c.game(name), {"protocol": {"time_limit": limit, "frame_skip": 4}})
            for name, limit in (("pong", 27_000), ("pong", 100_000), ("snake", 100_000))}
    other = " of at most 100,000 steps (400,000 frames; the preset has 27,000 steps now)"
    assert said == {("pong", 27_000): "", ("snake", 100_000): "", ("pong", 100_000): other}
    assert game_pages.limit_of(envs_c.game("pong"), {}) == ""


def test_the_index_has_random_play_with_the_sticky_actions_of_the_agents():
    game = envs_c.game("pong")
    assert "| 5 |\n" in game_pages.index([game], {"pong": {"random": 4.0, "random_sticky": 5.0}})


def test_scores_of_pages_are_means_over_all_seeds_with_their_interval():
    """2 and 4: a mean of 3; Student's t of one degree is 12.706, and the standard error 1."""
    runs = [{"scores": {"sampled": score}, "steps": 2e6, "minutes": minutes} for score, minutes in ((2.0, 1.0), (4.0, 2.0))]
    for game, whole in (("tmaze", ""), ("g2048", " of 160.0M")):  # T-maze's preset has 2.5M steps: these are nearly all
        runs = [one | {"steps": 2.4e6} for one in runs]
        assert game_pages.over_seeds("sticky actions with a probability of 0.25", game, runs) == (
            f"- sticky actions with a probability of 0.25: 3 (-9.706 to 15.71), 2 seeds of 2.4M{whole} steps, 1.5 minutes each "
            "on one core (median)")
