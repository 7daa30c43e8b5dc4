"""Numbers that README.md and docs/ quote are those of the files in benchmarks/results, or of the constants that tests check."""

import json
import re
import statistics

import pytest
from pages_support import flat, number, read, result_rows, rounds_to, tables
from setup_support import ROOT

RESULTS = ROOT / "benchmarks" / "results"
MADE_BY = re.compile(r"`((?:python -m|insertcoin) [^`]+)`")  # a command that makes results
BY_PARTS = {"by_hand.md", "h200.md"}  # each of their parts says how it was made
MACHINES = {"Sapphire Rapids": "train_amx.md", "Zen 5": "train.md", "Zen 4": "train_zen4.md"}


def speeds(game: str) -> list[str]:
    """A game's row of docs/speed.md as envs.md has it: frame skip, features with one and two cores, pixels the same."""
    views = {row["view"]: row for row in result_rows("envs.md") if row["game"] == game}
    both = [views[view][f"steps/s with it, {cores}"] for view in ("features", "pixels") for cores in ("1 core", "2 cores")]
    return [views["features"]["frame skip"], *both]


@pytest.mark.parametrize("row", tables("docs/speed.md", "## Games")[0], ids=lambda row: row["game"])
def test_a_row_of_the_games_speeds_is_that_of_the_results(row):
    game, *quoted = row.values()
    assert quoted == speeds(game)


def test_the_page_has_every_game_of_the_results():
    assert [row["game"] for row in tables("docs/speed.md", "## Games")[0]] == list(
        dict.fromkeys(row["game"] for row in result_rows("envs.md")))


@pytest.mark.parametrize("row", tables("README.md", "## Speed")[0], ids=lambda row: row["game"])
def test_a_row_of_the_readmes_speeds_is_that_of_the_results(row):
    named, *quoted = row.values()
    game, skip = re.fullmatch(r"(\w+)(?: \((?:frame skip )?(\d+)\))?", named.replace(" 9x9", "")).groups()
    there = speeds("go size=9" if game == "go" else game)
    assert [skip or "1", *quoted] == there[:4]


@pytest.mark.parametrize("page", ["README.md", "docs/speed.md"])
def test_a_page_quotes_the_day_of_the_games_table_and_what_changed_since(page):
    text = " ".join(read(page).split())
    day = re.search(r"20\d\d-\d\d-\d\d", read("benchmarks/results/envs.md")).group()
    assert f"is of {day}. " in text
    for file, game in [("revisions.md", ""), ("revisions_zen4.md", "enduro")]:
        assert ratios(file, game) in text


def ratios(file: str, game: str) -> str:
    """The lowest and the highest ratio of a game's speeds with its frame skip, as text; of all games if it is ""."""
    found = [float(row["ratio"]) for row in result_rows(file) if "with it" in row["speed"] and row["row"].startswith(game)]
    return f"{min(found):.2f} to {max(found):.2f} times"


def test_the_page_has_the_cost_of_an_exact_asteroids():
    assert f"Asteroids {ratios('revisions_zen4.md', 'asteroids')}" in " ".join(read("docs/speed.md").split())


TRAINING = tables("docs/speed.md", "## Training")[0]
NAMED = [next(row["machine"] for row in reversed(TRAINING[:place]) if row["machine"]) for place in range(1, len(TRAINING) + 1)]


@pytest.mark.parametrize(("machine", "row"), list(zip(NAMED, TRAINING, strict=True)),
                         ids=lambda one: one["precision"] if isinstance(one, dict) else re.search(r"\w+\.md", one).group())
def test_a_row_of_the_training_speeds_is_that_of_its_machines_results(machine, row):
    name, file = re.match(r"\[(.*?)\]\(\.\./benchmarks/results/(.*?)\)", machine).groups()
    assert MACHINES[name] == file
    there = next(one for one in result_rows(file) if one["precision"] == row["precision"])
    assert there["threads"] == "2" and all(there[column] == cell for column, cell in row.items() if column != "machine")


@pytest.mark.parametrize(("machine", "file"), MACHINES.items())
def test_the_trainers_page_has_the_ratio_of_the_products(machine, file):
    products = {row["precision"]: float(row["products only"].replace("M", "e6").replace("K", "e3"))
                for row in result_rows(file)}
    quoted = re.search(rf"([\d.]+) (?:times )?on \[{machine}\]\(\.\./benchmarks/results/{file}\)", read("docs/trainer.md"))
    assert quoted.group(1) == f"{products['bfloat16'] / products['float32']:.1f}"


BY_HAND = [pytest.param(heading, row, id=f"{heading[4:]}, {next(iter(row.values()))}")
           for heading in ("### Minibatches and threads", "### Waiting threads") for row in tables("docs/speed.md", heading)[0]]


@pytest.mark.parametrize(("heading", "row"), BY_HAND)
def test_a_row_measured_by_hand_stands_among_the_single_measurements(heading, row):
    assert row in tables("benchmarks/results/by_hand.md", heading.removeprefix("#"))[0]


def test_the_row_of_learning_breakout_by_hand_stands_among_the_single_measurements():
    (row,) = (row for row in tables("docs/speed.md", "## Learning")[0] if "by_hand.md#learning-breakout" in row.pop("machine"))
    assert [row] == tables("benchmarks/results/by_hand.md", "## Learning Breakout")[0]


def test_the_readmes_sample_is_the_training_of_breakout_by_hand():
    sample = read("README.md")
    part = read("benchmarks/results/by_hand.md").split("\n## Learning Breakout\n")[1].split("\n## ")[0]
    score, speed = re.search(r"step 45\.0M/45\.0M  score ([\d.]+)  sps (\d+K)", sample).groups()
    mean, low, high = re.search(r"sampled +0 +0 +100 +([\d.]+) +([\d.]+) to ([\d.]+) ", sample).groups()
    words = (f"a mean of {mean}, with an interval of {low} to {high} over the episodes. The training's last line had a score "
             f"of {score} and {speed} steps a second.")
    assert words in " ".join(part.split())


@pytest.mark.parametrize(("page", "quoted", "source"), [
    ("README.md", ["660K", "698K"], "## Minibatches and threads"),
    ("README.md", ["2 min 13 s", "1 min 19 s"], "## Set-up"),
    ("docs/speed.md", ["698K", "693K", "731K", "660K", "639K", "676K"], "## Minibatches and threads"),
    ("docs/speed.md", ["median of 72%", "51% to 78%", "175K to 272K"], "## Training on a Zen 4"),
    ("docs/speed.md", ["58%", "68%", "167", "116", "81%", "92%", "78%, 79%", "100%"], "## Processors without bfloat16"),
    ("docs/speed.md", ["27K"], "## Training from pictures"),
    ("docs/speed.md", ["37.5, 53.6", "55.8", "82.4, 107", "110", "0.89", "0.97"], "## Overlap"),
    ("docs/speed.md", ["11 ns", "3.2 ns"], "## A step of Pong"),
    ("docs/speed.md", ["1.15"], "## Gymnasium's interface"),
])
def test_a_figure_in_a_sentence_is_of_the_part_that_its_paragraph_links(page, quoted, source):
    part = " ".join(re.split(r"\n## ", read("benchmarks/results/by_hand.md").split(f"\n{source}\n")[1])[0].split())
    place = "#" + re.sub(r"[^\w-]", "", source[3:].lower().replace(" ", "-"))
    link = f"benchmarks/results/by_hand.md{'' if page == 'README.md' else place})"  # README is a package's page: no places
    text = " ".join(" ".join(block for block in read(page).split("\n\n") if link in block).split())
    # Not a part of a longer number.
    whole = {figure: re.compile(rf"(?<![\d.,]){re.escape(figure)}(?![.,]?\d)") for figure in quoted}
    assert [figure for figure in quoted if not (whole[figure].search(text) and whole[figure].search(part))] == []


VARIANTS = next(table for table in tables("docs/machines.md", "## Wheels") if "`v4`" in table[0])


@pytest.mark.parametrize(("row", "there"), list(zip(VARIANTS, result_rows("variants.md"), strict=True)),
                         ids=lambda row: row["game"])
def test_a_game_with_other_instructions_takes_the_time_of_the_results(row, there):
    assert row["game"] == there["game"]
    assert all(rounds_to(row[f"`{name}`"], number(there[f"{name}, us"])) for name in ("v2", "v3", "v4"))


def test_the_sample_of_self_play_is_the_training_by_hand():
    (games, ratings), sample = tables("benchmarks/results/by_hand.md", "## Self-play"), read("docs/self_play.md")
    shown = re.findall(r"against (\w+): won (\d+%)\nsampled +0 +0 +100 +(\S+) +(\S+ to \S+) ", sample)
    assert [dict(zip(games[0], one, strict=True)) for one in shown] == games
    players = re.findall(r"^((?:policy \d+|\w+)) +(\d+) +(\d*) +([\d,]+)(?: |$)", sample.split("player ")[1], re.MULTILINE)
    assert [dict(zip(ratings[0], one, strict=True)) for one in players if one[1]] == [
        row if row["error"] else row | {"error": ""} for row in ratings]


@pytest.mark.parametrize("page", ["README.md", *sorted(f"docs/{file.name}" for file in (ROOT / "docs").glob("*.md"))])
def test_no_page_says_that_the_source_of_a_figure_is_not_stored(page):
    assert re.findall(r"[^.]*\bnot stored\b[^.]*", flat(page)) == []


PEERS = tables("benchmarks/results/peers.md", "## Training on our Breakout's features")[0]


@pytest.mark.parametrize("row", PEERS, ids=lambda row: row[""])
def test_the_speed_of_a_package_is_that_of_the_results(row):
    quoted = {one[""]: one["steps a second"] for one in tables("docs/speed.md", "## Beside other packages")[0]}
    assert quoted[row[""]] == row["steps/s"] and len(quoted) == len(PEERS)


def test_learning_breakout_is_quoted_with_its_means_and_deviations():
    row = next(row for row in tables("docs/speed.md", "## Learning")[0] if "learning_breakout.md" in row["machine"])
    there = result_rows("learning_breakout.md")
    assert row["seeds"] == f"{there[0]['seed']} to {there[-2]['seed']}"
    wide = {name: [float(one[name]) for one in there[:-1]] for name in ("minutes", "minutes to 300", "evaluation mean")}
    (minutes, _), (first, _), (score, _) = spread = [(statistics.mean(one), statistics.stdev(one)) for one in wide.values()]
    assert row["training"] == f"{minutes:.1f} ± {spread[0][1]:.1f} minutes"
    assert row["300 points after"] == f"{60 * first:.0f} ± {60 * spread[1][1]:.0f} seconds"
    assert row["mean score at the end"] == f"{score:.0f} ± {spread[2][1]:.0f} (deviation of seeds)"


@pytest.mark.parametrize("row", result_rows("learning_breakout.md")[:-1], ids=lambda row: row["seed"])
def test_the_minutes_of_learning_breakout_are_those_of_its_curve(row):
    """The curve has every second rollout, so 300 points may have been reached a little before."""
    curve = json.loads(read("benchmarks/results/learning_breakout.json"))[row["seed"]]
    assert row["minutes"] == f"{curve[-1]['seconds'] / 60:.2f}"
    assert float(row["minutes to 300"]) <= 0.005 + next(one["seconds"] / 60 for one in curve if one["score_mean"] >= 300)
    assert 285 < next(one["score_mean"] for one in curve if one["seconds"] / 60 >= float(row["minutes to 300"])) < 315


PAGES = [(row["file"], name, row["command"]) for row in tables("benchmarks/results/README.md")[0]
         for name in re.findall(r"\]\((\w+\.md)\)", row["file"])]


@pytest.mark.parametrize(("name", "command"), [(name, command) for _, name, command in PAGES if name not in BY_PARTS])
def test_the_command_of_a_result_is_the_first_that_its_page_names(name, command):
    first, *others = MADE_BY.findall(read(f"benchmarks/results/{name}"))
    listed = MADE_BY.findall(command)
    assert first in listed
    whole = [one for one in listed if one.startswith("python -m benchmarks") and "FOLDER --add" not in one]
    assert [one for one in whole if one not in (first, *others)] == []


def test_every_page_of_results_has_a_command():
    assert sorted([*(name for _, name, _ in PAGES), "README.md"]) == sorted(file.name for file in RESULTS.glob("*.md"))


@pytest.mark.parametrize(("page", "says", "file", "constant", "unit"), [
    ("docs/an_update.md", r"at most (0\.0+\d), where", "tests/examples/test_one_file.py", r"VALUES, WEIGHTS = 1e-6, (\S+)", 1),
    ("docs/an_update.md", r"moves by more than (0\.003):", "tests/examples/test_one_file.py", r", WEIGHTS = 1e-6, (\S+)", 1000),
    ("docs/arcade.md", r"under (\d+) MB in all", "tests/envs_c/arcade/test_site.py", r"LARGEST = (\S+)", 1e-6),
    ("docs/trust.md", r"make fuzz +# ([\d,]+) cases;", "tools/fuzz/__main__.py", r"CASES = (\S+)", 1),
    ("docs/trust.md", r"cases; CI tries ([\d,]+)", ".ci/run", r"stage fuzz ARGS=\"--cases (\d+)\"", 1),
])
def test_a_page_promises_what_a_constant_holds(page, says, file, constant, unit):
    quoted = float(re.search(says, read(page)).group(1).replace(",", ""))
    assert quoted == pytest.approx(unit * float(re.search(constant, read(file)).group(1)))
