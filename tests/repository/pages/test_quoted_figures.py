"""Figures of docs/console.md, docs/lab_book.md and the presets' comments are those of benchmarks/results; presets.md is made of
its file."""

import itertools
import json
import re
import statistics

import pytest
from pages_support import flat, number, read, result_rows, rounds_to, tables
from setup_support import ROOT

from benchmarks.common import head_of
from benchmarks.scores import atari, gallery
from trainer.config.games import GameName
from trainer.results import published

PRESETS = json.loads(read("benchmarks/results/presets.json"))


def ratios(name: str, column: str) -> dict[str, str]:
    """A column's ratios to ale-py by game, as the table of speeds shows them."""
    return {row["game"]: re.search(r"\((.*)x\)", row[column]).group(1) for row in result_rows(name)}


SPEEDS, BESIDE = tables("docs/console.md", "## How fast")
COLUMNS = dict(zip((row[""] for row in SPEEDS), ("compiled", "interpreter", "pixels 64"), strict=True))
SIZES = {"console_speed.md": ["interpreter", "compiled", "pixels 64"],
         "console_speed_sizes.md": ["interpreter", "compiled", "pixels 1", "pixels 64", "pixels 1,024"]}
MEANS = {(name, column): re.search(rf"Geometric means.* {column} ([\d.]+)[,.]", read(f"benchmarks/results/{name}")).group(1)
         for name, columns in SIZES.items() for column in columns}


@pytest.mark.parametrize(("name", "column"), MEANS)
def test_a_geometric_mean_of_the_console_is_that_of_its_column(name, column):
    assert statistics.geometric_mean(map(float, ratios(name, column).values())) == pytest.approx(
        float(MEANS[name, column]), abs=0.06)  # the page's digits, and those of its ratios


@pytest.mark.parametrize("row", SPEEDS, ids=lambda row: row[""])
def test_a_row_of_the_consoles_speeds_is_that_of_the_results(row):
    column = COLUMNS[row[""]]
    assert row["times ale-py's, geometric mean"] == MEANS["console_speed.md", column]
    found = ratios("console_speed.md", column)
    ends = [end(found, key=lambda game: float(found[game])) for end in (min, max)]
    shown = [found[game] + f" ({game.capitalize()})" * ("(" in row["least, most"]) for game in ends]
    assert row["least, most"] == ", ".join(shown)


def test_the_console_with_other_numbers_of_environments_is_quoted_with_the_means_of_its_run():
    sizes, name, text = ("1", "64", "1,024"), "console_speed_sizes.md", flat("docs/console.md")
    assert "pictures are {}, {} and {} times".format(*(MEANS[name, f"pixels {size}"] for size in sizes)) in text
    slowest = ratios(name, "compiled")["seaquest"], ratios(name, "pixels 1,024")["seaquest"]
    assert "Seaquest plays frames at {} times ale-py's rate, and makes pictures at {} times".format(*slowest) in text
    others = [float(ratio) for column in ("compiled", *(f"pixels {size}" for size in sizes))
              for game, ratio in ratios(name, column).items() if game != "seaquest"]
    assert "every other compiled figure is at least five" in text and min(others) >= 5


@pytest.mark.parametrize(("game", "share"), [("seaquest", "45%"), ("beam_rider", "45%"), ("qbert", "two thirds")])
def test_the_share_of_a_step_that_pictures_take_is_that_of_the_tables_columns(game, share):
    row = next(row for row in result_rows("console_speed.md") if row["game"] == game)
    frames, steps = (float(row[column].split()[0]) for column in ("compiled", "pixels 64"))
    assert 1 - 4 * steps / frames == pytest.approx({"45%": 0.45, "two thirds": 2 / 3}[share], abs=0.02)
    assert f"takes 45% of a step in Seaquest and Beam Rider, and {share}".replace("and 45%", "and") in flat("docs/console.md")


def test_the_consoles_states_are_as_large_and_as_fast_as_in_the_results():
    size, saved, restored, all_states, steps = re.search(
        r"about ([\d,]+) bytes; to save one takes ([\d.]+) us, to restore one ([\d.]+) us\. 10,000 environments of Enduro have "
        r"(\d+) MB of states and make ([\d,]+) steps", flat("docs/console.md")).groups()
    exact = re.search(r"([\d,]+) bytes, saved in ([\d.]+) us and restored in ([\d.]+) us",
                      read("benchmarks/results/console_speed.md"))
    assert round(number(exact.group(1)), -2) == number(size)
    assert rounds_to(saved, float(exact.group(2))) and rounds_to(restored, float(exact.group(3)))
    words = f"{all_states} MB of states, {number(steps) / 1000:.1f} thousand"
    assert words in read("benchmarks/results/console_beside_games.md")


@pytest.mark.parametrize(("row", "there"), list(zip(BESIDE, result_rows("console_beside_games.md"), strict=True)),
                         ids=lambda row: row["game"])
def test_a_game_beside_the_console_is_as_fast_as_in_the_results(row, there):
    assert row["game"] == there["game"]
    named = {"84x84 pictures": "pictures", "console, 84x84 pictures": "console, pictures"}
    assert [column for column in list(row)[1:] if not rounds_to(row[column], number(there[named.get(column, column)]))] == []


def test_the_page_of_the_presets_scores_is_the_one_that_its_command_writes():
    page = ROOT / "benchmarks" / "results" / "presets.md"
    assert page.read_text(encoding="utf-8") == head_of(page) + gallery.below_head(PRESETS)


@pytest.mark.parametrize("game", PRESETS)
def test_random_play_is_that_of_todays_games(game):
    row = PRESETS[game]
    assert gallery.at_random(GameName(game), gallery.no_ops_of(row)) == {key: row[key] for key in ("random", "random_sticky")}


def test_the_policies_of_double_dunk_and_battle_zone_are_quoted_with_their_scores():
    trainings = json.loads(read("benchmarks/results/atari.json"))
    seeds = {game: [one for one in trainings if one["game"] == f"atari:{game}" and one["steps"] < atari.LONG]
             for game in ("double_dunk", "battle_zone")}
    stalled, others = ([f"{one['scores']['sampled']:.1f}" for one in seeds["double_dunk"] if bool(one.get("cut")) == cut]
                       for cut in (True, False))
    scores, text = [one["scores"]["sampled"] for one in seeds["battle_zone"]], flat("docs/console.md")
    assert (len(stalled), len(others), len(scores)) == (2, 3, 5)
    assert f"none of their 20 episodes ended before the time limit, with {' and '.join(stalled)} points on average" in text
    assert "The others play on, and have {}, {} and {}.".format(*others) in text
    assert f"Battle Zone spread most: {min(scores):,.0f} to {max(scores):,.0f}" in text
    long = {one["game"]: one["scores"]["sampled"] for one in trainings if one["steps"] >= atari.LONG}
    assert f"Q*bert has {long['atari:qbert']:,.0f} points, and one of Double Dunk {long['atari:double_dunk']:.1f} (" in text
    short = {game: sum(scores) / len(scores) for game in ("phoenix", "battle_zone", "name_this_game") if (scores := [
        one["scores"]["sampled"] for one in trainings if one["game"] == f"atari:{game}" and one["steps"] < atari.LONG])}
    names = ("One of Phoenix has", "one of Battle Zone", "and one of Name This Game")
    after = [f"{name} {long[f'atari:{game}']:,.0f}" for name, game in zip(names, short, strict=True)]
    assert "{}, {} {}: their five".format(*after) in text
    means = (f"{mean:,.0f}" for mean in short.values())
    assert "their five seeds after 10M frames have {}, {} and {}, so".format(*means) in text


LEARNED = {}  # the mean and the interval of each row of ten seeds, by game
for each in result_rows("seeds.md"):
    if each["seeds"] == "10":
        LEARNED.setdefault(each["game"], {})[each["mean"]] = each["95% interval"]
NAMES = {"2048": "g2048", "Space Invaders": "space_invaders"}
LINES = [(NAMES.get(game, game.lower()), line) for line in read("docs/lab_book.md").splitlines() if "ten seeds" in line
         for game in re.findall(r"^\| (.*?), ", line) if "ten seeds of " not in line]  # of a rate that the preset has no more
TEN_SEEDS = [(game, mean, f"{low} to {high}") for game, line in LINES for mean, low, high, since in re.findall(
    r"([\d,.]*\d)(?: \(|, )([\d,.]*\d) to ([\d,.]*\d)\)( before)?", line) if not since]


@pytest.mark.parametrize(("game", "mean", "interval"), TEN_SEEDS)
def test_a_mean_of_ten_seeds_of_the_lab_book_is_that_of_the_seeds(game, mean, interval):
    assert LEARNED[game].get(mean) == interval


def test_the_lab_books_means_of_ten_seeds_are_read():
    assert {game for game, *_ in TEN_SEEDS} == {"pong", "asteroids", "seaquest", "freeway", "breakout", "g2048"}


@pytest.mark.parametrize(("game", "says"), [
    ("g2048", r"40M steps, ten seeds \| ([\d,]+);"), ("g2048", r"ten seeds \| [\d,]+; ([\d,]+) with sticky actions"),
    ("enduro", r"a mean of ([\d,]+) of ten seeds")])
def test_a_mean_of_ten_seeds_without_its_interval_is_that_of_the_seeds(game, says):
    assert re.search(says, flat("docs/lab_book.md")).group(1) in LEARNED[game]


SCORES = {}  # of each row of ten seeds, by game, sticky and no-ops
for each in json.loads(read("benchmarks/results/seeds.json")):
    SCORES.setdefault((each["game"], each["sticky"], each.get("noop_max", 0)), []).append(each["scores"]["sampled"])
HEADS = {file.stem: " ".join(line.removeprefix("# ") for line in itertools.takewhile(
    lambda line: line.startswith("#"), file.read_text(encoding="utf-8").splitlines()))
    for file in sorted((ROOT / "trainer" / "presets").glob("*.toml"))}  # the first comment of each preset
FIGURE = r"(-?[\d,]+(?:\.\d+)?)"


@pytest.mark.parametrize("game", sorted({game for game, *_ in SCORES}))
def test_a_presets_comment_has_the_means_of_ten_seeds_first_with_sticky_actions_then_without(game):
    sticky, steps, extremes, random, no_ops, plain = re.search(
        rf"with sticky actions a mean score of {FIGURE} after ([\d.]+)M steps \(ten seeds(?:: (.*?))?; random play: {FIGURE}\)"
        rf".*?ithout (?:them|sticky actions)(?:, after up to (\d+) no-ops,)? {FIGURE}", HEADS[game]).groups()
    with_them, without = SCORES[game, 0.25, 0], SCORES[game, 0, int(no_ops or 0)]
    assert len(with_them) == len(without) == 10
    assert rounds_to(sticky, statistics.mean(with_them)) and rounds_to(plain, statistics.mean(without))
    assert rounds_to(random, PRESETS[game]["random_sticky"])
    if extremes:
        low, high = extremes.split(" to ")
        assert rounds_to(low, min(with_them)) and rounds_to(high, max(with_them))
    row = next(row for row in result_rows("seeds.md") if (row["game"], row["sticky"]) == (game, "0.25"))
    assert rounds_to(steps, float(row["steps"].split("M")[0]))


def test_no_presets_comment_quotes_ten_seeds_more_than_once_or_without_a_row_of_the_seeds():
    found = {name: head.count("ten seeds") for name, head in HEADS.items() if "ten seeds" in head}
    assert found == {game: 1 for game, *_ in SCORES}


def test_the_scores_of_the_readme_are_those_of_the_tables_over_games():
    (sticky, noops, published, pictures), = tables("README.md", "## Scores")
    rows = {(row["agents"], row["sticky"]): row for row in result_rows("seeds.md", 0, "## Over games")}
    for shown, kept in ((sticky, rows["ours", "0.25"]), (noops, rows["ours", "0"])):
        assert shown["interquartile mean"] == kept["interquartile mean"]
        assert shown["median"] == kept["median"].split()[0]
    for column in ("interquartile mean", "median"):
        assert published[column] == ", ".join(rows[agent, "0"][column] for agent in ("PPO", "DQN", "Rainbow"))
    found = re.search(r"Over the (\d+) games .*?: median ([\d.]+), interquartile mean of all trainings ([\d.]+)",
                      read("benchmarks/results/atari.md"))
    count = re.search(r"(\d+) cartridges", pictures["agents"])[1]
    assert (count, pictures["median"], pictures["interquartile mean"]) == found.groups()
    breakout = {(row["sticky"], row["no-ops"]): row["mean"] for row in result_rows("seeds.md") if row["game"] == "breakout"}
    quoted = re.search(r"have (\d+) points with sticky actions and (\d+) with no-ops", flat("README.md")).groups()
    assert all(rounds_to(*pair) for pair in zip(quoted, map(number, (breakout["0.25", "0"], breakout["0", "30"])), strict=True))


def test_the_frames_of_the_readmes_trainings_are_those_of_the_presets():
    million = {one["game"]: one["steps"] * 4 / 1e6 for one in json.loads(read("benchmarks/results/seeds.json"))
               if one["game"] in published.AGENTS}
    longest = [game for game, frames in million.items() if frames > 0.99 * max(million.values())]
    most = ", ".join(game.replace("_", " ").title() for game in longest)
    shown = f"the presets {min(million.values()):.0f}M (Pong) to {max(million.values()):.0f}M ({most}), in a median of "
    assert min(million, key=million.get) == "pong"
    assert f"{shown}{statistics.median(million.values()):.0f}M." in flat("README.md")


def test_the_time_of_a_step_from_pictures_on_a_zen_4_is_that_of_its_table():
    row, = (row for row in result_rows("pixels_zen4.md") if (row["precision"], row["frames"], row["encoder"]) == (
        "bfloat16", "2", "pixels"))
    assert f"On the Zen 4 a step takes [{row['us a step']} microseconds]" in flat("docs/speed.md")
