"""The page of games without presets (benchmarks/scores/no_preset.py), and the lab book's figures of it."""

import json
import re

import pytest
from pages_support import flat, number, tables

from benchmarks.common import RESULTS
from benchmarks.scores import no_preset
from trainer.config import Config

SMALL = "--noise-hold 1 --no-normalize-rewards --value-clip 0.2"
FIRST = SMALL.replace("--no-n", "--minibatch 32768 --no-n")  # the defaults until 2026-11-30
DREW, EVERY_END = "--noise-hold 1", "--noise-hold-after any"  # random numbers drawn anew in each step
NAMES = {"2048": "g2048", "Pac-Man": "pacman", "T-maze": "tmaze"}
COLUMNS = {"before": FIRST, "with minibatches of 2,048": SMALL, "and the unit of the first steps, no clip": DREW,
           "and held random numbers": no_preset.DEFAULTS}
TABLE = tables("docs/lab_book.md", "## A game without a preset")[0]
TEXT = flat("docs/lab_book.md").partition("## A game without a preset")[2].partition("## Go on 9x9")[0]


def published() -> list[dict]:
    return json.loads((RESULTS / "no_preset.json").read_text())


def scores(name: str, used: str) -> list[float]:
    """The published scores of a game, as the lab book names it, with these settings, by seed."""
    game = NAMES.get(name, name.lower().replace(" ", "_"))
    return [one["score"] for one in published() if (one["game"], one["settings"]) == (game, used)]


def as_quoted(value: float, text: str) -> bool:
    """Whether a figure of the lab book is this score, rounded to the figure's digits."""
    return abs(number(text) - value) <= 0.501 * 10.0 ** -len(text.partition(".")[2])


def config(**changed: object) -> dict:
    made = Config("tetris").to_dict()
    made["env"]["time_limit"] = no_preset.TIME_LIMIT
    made["ppo"] |= {"total_steps": 3_000_000, **changed}
    return made


@pytest.mark.parametrize(("changed", "words"), [
    ({}, no_preset.DEFAULTS),
    ({"minibatch": 32_768}, "--minibatch 32768"),
    ({"normalize_rewards": False, "normalize_steps": 0}, "--no-normalize-rewards"),
    ({"normalize_steps": 0}, "--normalize-steps 0"),
    ({"value_clip": 0.2, "normalize_rewards": False}, SMALL.removeprefix("--noise-hold 1 "))])
def test_a_training_says_what_it_had_in_place_of_the_defaults(changed, words):
    assert no_preset.settings(config(**changed)) == words


def test_a_training_from_before_a_setting_has_the_one_it_went_on_with():
    made = config()
    del made["ppo"]["normalize_steps"]
    assert no_preset.settings(made) == "--normalize-steps 0"


@pytest.mark.parametrize("section", ["env", "policy", "ppo"])
def test_settings_of_each_section_and_the_time_limit_count(section):
    name, value = {"env": ("time_limit", 100), "policy": ("noise_hold", 8), "ppo": ("gamma", 0.5)}[section]
    made = config()
    made[section][name] = value
    assert no_preset.settings(made) == f"--{name.replace('_', '-')} {value}"


def test_seeds_of_the_same_settings_share_a_row_and_the_defaults_come_first():
    one = {"game": "tetris", "steps": 3_014_656, "episodes": 64, "settings": FIRST, "seed": 32, "score": 300.0}
    trainings = [one, one | {"seed": 31, "score": 100.0}, one | {"settings": no_preset.DEFAULTS, "score": 900.0}]
    assert no_preset.rows(trainings) == [
        ["tetris", "3.0M", no_preset.DEFAULTS, "32", "900", "900"], ["tetris", "3.0M", FIRST, "31, 32", "200", "100, 300"]]


def test_the_published_page_is_made_of_the_file_beside_it():
    page, mark = RESULTS / "no_preset.md", "\nGames of this package"
    assert page.read_text().split(mark)[1] == no_preset.page(published()).split(mark)[1]


def test_the_lab_book_has_fifteen_games():
    assert len(TABLE) == 15


@pytest.mark.parametrize(("row", "column"), [(row, column) for row in TABLE for column in COLUMNS],
                         ids=lambda one: one if isinstance(one, str) else one["game"])
def test_a_cell_of_the_lab_book_is_that_of_the_trainings(row, column):
    found, quoted = scores(row["game"], COLUMNS[column]), row[column].split(", ")
    assert len(quoted) == len(found) and all(map(as_quoted, found, quoted))


def test_held_random_numbers_find_the_first_reward_and_make_no_difference_that_three_seeds_show_elsewhere():
    rare = {"Freeway", "Enduro"}
    assert all(min(scores(game, no_preset.DEFAULTS)) > 20 and min(scores(game, DREW)) == 0 for game in rare)
    pairs = [(scores(row["game"], no_preset.DEFAULTS), scores(row["game"], DREW)) for row in TABLE if row["game"] not in rare]
    assert len(pairs) == 13 and all(max(min(one), min(other)) <= min(max(one), max(other)) for one, other in pairs)


@pytest.mark.parametrize("name", ["Seaquest", "Asterix", "Space Invaders", "Pong"])
def test_a_ratio_of_held_random_numbers_is_that_of_the_means(name):
    quoted = re.search(rf"(\d\.\d\d)(?: of those without them)? in {name}", TEXT).group(1)
    assert as_quoted(sum(scores(name, no_preset.DEFAULTS)) / sum(scores(name, DREW)), quoted)


@pytest.mark.parametrize("name", ["Freeway", "Enduro", "Pong", "Platformer", "Snake", "Breakout", "Asterix", "Tetris",
                                  "Seaquest"])
def test_a_score_with_random_numbers_held_after_every_end_is_that_of_the_trainings(name):
    quoted = re.search(rf"{name} (?:has )?([\d,.]*\d)", TEXT.partition("Held after every end")[2]).group(1)
    assert as_quoted(scores(name, EVERY_END)[0], quoted)
