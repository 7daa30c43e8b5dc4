"""Figures of docs/gpu.md are those of benchmarks/results, or of the table that tests/device/test_counts.py holds."""

import re

import pytest
from pages_support import flat, number, result_rows, rounds_to, tables
from setup_support import ROOT, load

H100 = {(row["environments"], row["games on"]): row for row in result_rows("h100.md", heading="## Training")}
MEASURED = tables("docs/gpu.md", "## The model of its time")[0]


@pytest.mark.parametrize("row", MEASURED, ids=lambda row: row["environments"])
def test_a_measured_speed_of_the_h100_is_that_of_its_page(row):
    there = H100[row["environments"], "CPU"]
    quoted = re.findall(r"([\d.]+)M", row["measured: LSTM, minGRU"])
    assert all(rounds_to(speed, number(there[memory])) for speed, memory in zip(quoted, ("LSTM", "minGRU"), strict=True))


@pytest.mark.parametrize(("says", "environments", "games_on", "memory"), [
    (r"trained at (\d+)M steps a second with the games on the GPU", "65,536", "GPU", "LSTM"),
    (r"GPU \((\d+)M with minGRU", "65,536", "GPU", "minGRU"),
    (r"at (\d+)M with the games on 16 cores", "65,536", "CPU", "LSTM"),
    (r"Breakout with (\d+)M to \d+M", "8,192", "GPU", "LSTM"), (r"Breakout with \d+M to (\d+)M", "65,536", "GPU", "minGRU"),
    (r"modelled, ([\d.]+)M measured", "65,536", "GPU", "LSTM"),
])
def test_a_speed_of_the_h100_in_a_sentence_is_that_of_its_page(says, environments, games_on, memory):
    assert rounds_to(re.search(says, flat("docs/gpu.md")).group(1), number(H100[environments, games_on][memory]))


@pytest.mark.parametrize("rows", ["512", "65,536"])
def test_the_lstms_products_on_the_h100_are_those_of_its_page(rows):
    there = next(row for row in result_rows("h100.md", heading="## Parts of a step") if row["environments"] == rows)
    two, one = there["the LSTM's two products"], there["one product of twice the length"]
    assert re.search(rf"{one} (us )?in place of {two} with {rows}( rows)?[ ;]", flat("docs/gpu.md"))


def test_the_times_of_launches_on_the_h100_are_those_of_its_page():
    there, text = flat("benchmarks/results/h100.md"), flat("docs/gpu.md")
    launch = re.search(r"A launch takes ([\d.]+)", there).group(1)
    assert rounds_to(re.search(r"a launch took (\d+) us", text).group(1), float(launch))
    row = next(row for row in result_rows("h100.md", 1, "## Parts of a step") if row["sequences"] == "512")
    assert f"An H100 took [{row['forward, backward'].split(',')[0]} us]" in text


H200 = {row["environments"]: row for row in result_rows("h200.md", heading="## The console's speed on the GPU")}


@pytest.mark.parametrize(("says", "game", "environments"), [
    (r"Pong makes ([\d.]+)K, \d+K and \d+K steps", "Pong, RAM", ["64"]),
    (r"Pong makes [\d.]+K, (\d+)K and (\d+)K steps", "Pong, RAM", ["8,192", "32,768"]),
    (r"Pong's stay at (\d+)K", "Pong, pictures", ["32,768"]),
    (r"Seaquest makes ([\d.]+)K, (\d+)K and (\d+)K", "Seaquest, RAM", ["64", "8,192", "32,768"]),
])
def test_the_console_on_the_h200_is_as_fast_as_its_page_says(says, game, environments):
    quoted = re.search(says, flat("docs/gpu.md")).groups()
    assert all(rounds_to(one, float(H200[many][game].split()[0])) for one, many in zip(quoted, environments, strict=True))


def test_a_step_of_the_console_on_the_h200_takes_the_milliseconds_of_its_page():
    times = [number(re.search(r"\((.*)\)", H200[many][f"{game}, RAM"]).group(1))
             for game in ("Pong", "Seaquest") for many in ("64", "1,024", "8,192", "32,768")]
    low, high = re.search(r"takes (\d+) to (\d+) ms there", flat("docs/gpu.md")).groups()
    assert [int(low), int(high)] == [round(end, -1) for end in (min(times), max(times))]


def test_a_core_with_a_compiled_cartridge_is_as_fast_as_the_consoles_table_says():
    frames = {row["game"]: float(row["compiled"].split()[0]) for row in result_rows("console_speed.md")}
    quoted = re.search(r"makes (\d+)K steps of Pong and (\d+)K of Seaquest", flat("docs/gpu.md")).groups()
    assert all(rounds_to(one, frames[game] / 4) for one, game in zip(quoted, ("pong", "seaquest"), strict=True))


def test_learning_takes_the_part_of_a_training_that_the_h200s_rows_have():
    parts = []
    for row in result_rows("h200.md", heading="## Cartridges from pictures, games on the CPU"):
        games, learning = ([number(one) for one in row[name].split(", ")] for name in ("games and policy", "learning"))
        parts += [learned / (learned + played) for played, learned in zip(games, learning, strict=True)]
    assert len(parts) == 14 and f"learning took {min(parts):.0%} to {max(parts):.0%} of" in flat("docs/gpu.md")


COUNTED = load(ROOT / "tests" / "device" / "test_counts.py").TABLE
STEP, MINIBATCH, UPDATE = tables("docs/gpu.md", "## The device without a GPU")[0]


def first(cell: str) -> int:
    """The number a cell begins with; what was before stands in brackets behind it."""
    return int(re.match(r"\d+", cell).group())


@pytest.mark.parametrize(("row", "column", "expected"), [
    (STEP, "kernels", lambda lstm: lstm.step[0]), (STEP, "copies", lambda lstm: lstm.step[1]),
    (STEP, "waits of the host", lambda lstm: lstm.rollout[3] // 4),
    (STEP, "launches of graphs", lambda lstm: lstm.rollout[0] // 5),
    (MINIBATCH, "kernels", lambda lstm: lstm.minibatch[0]), (MINIBATCH, "copies", lambda lstm: lstm.minibatch[1]),
    (MINIBATCH, "launches of graphs", lambda lstm: (lstm.update[0] - 2 - 1) // 4),  # two epochs, and one at the end
    (UPDATE, "kernels", lambda lstm: lstm.update[1]), (UPDATE, "waits of a stream", lambda lstm: lstm.update[2]),
    (UPDATE, "waits of the host", lambda lstm: lstm.update[3]),
], ids=lambda one: one.get("") if isinstance(one, dict) else None)
def test_an_operation_is_quoted_as_often_as_the_tests_of_the_device_count_it(row, column, expected):
    assert first(row[column]) == expected(COUNTED["LSTM"][1])


def test_the_kernels_of_muon_are_those_that_the_tests_of_the_device_count():
    more = COUNTED["Muon"][1].minibatch[0] - COUNTED["LSTM"][1].minibatch[0]
    assert f"Muon's {more} kernels of a minibatch" in flat("docs/gpu.md")


GAMES = result_rows("device_games.md")


@pytest.mark.parametrize("view", ["features", "pixels"])
def test_the_registers_of_the_games_are_the_fewest_and_the_most_of_the_results(view):
    registers = [int(row[f"registers, {view}"]) for row in GAMES]
    words = {"features": "registers in features", "pixels": "in pictures, no spill"}[view]
    assert f"{min(registers)} to {max(registers)} {words}" in flat("docs/gpu.md")
    assert {row[f"spills, {view}"] for row in GAMES} == {"0"}


def test_the_games_with_sums_of_their_own_are_those_with_a_large_stack_in_the_results():
    large = {row["game"].capitalize(): number(row["stack, pixels"]) for row in GAMES if number(row["stack, pixels"]) > 10_000}
    *others, last = large
    assert f"{', '.join(others)} and {last} add up their own sums, on" in flat("docs/gpu.md")
    assert f"on {min(large.values()) / 1000:.0f} to {max(large.values()) / 1000:.0f} KB of" in flat("docs/gpu.md")


MODEL = result_rows("gpu_model.md", heading="## H100 SXM, modelled")
SYSTEMS = {row["system"]: row for row in result_rows("gpu_model.md", heading="## Measured systems beside the model")}
OF_GAMES = result_rows("gpu_model_games.md", heading="## Games on the cores and on the GPU, modelled")
USUAL = {"environments": "1024", "minibatch": "8192", "batches": "2", "cores": "16"}


def modelled(**changed: str) -> str:
    """The model's steps a second on an H100 with the usual sizes, some of them changed."""
    wanted = USUAL | changed
    return next(row["steps/s, modelled"] for row in MODEL if all(row[name] == value for name, value in wanted.items()))


@pytest.mark.parametrize("row", MEASURED, ids=lambda row: row["environments"])
def test_a_speed_of_our_own_and_the_models_are_those_of_the_models_page(row):
    memories = ("LSTM", "minGRU")
    found = [SYSTEMS[f"insertcoin, H100, {row['environments']} environments, {memory}"] for memory in memories]
    assert row["modelled: LSTM, minGRU"] == ", ".join(one["modelled"] for one in found)
    assert [number(one["measured, steps/s"].rstrip("M")) for one in found] == [
        number(H100[row["environments"], "CPU"][memory].strip("*")) for memory in memories]


def test_the_model_is_as_far_from_other_systems_as_its_page_says():
    ratios = {name: float(row["modelled / measured"]) for name, row in SYSTEMS.items() if not name.startswith("insertcoin")}
    fast, slow = [one for name, one in ratios.items() if "2080" not in name], ratios["C++ on PyTorch, RTX 2080, 8 batches"]
    says = f"too fast by {min(fast):.1f} to {max(fast):.1f} (RTX 4090, 5090), and too slow by {1 / slow:.1f} for an RTX 2080"
    assert says in flat("docs/gpu.md")


@pytest.mark.parametrize(("question", "answers"), [
    ("How many batches?", [{"batches": one} for one in ("1", "2", "4", "8")]),
    ("Which sizes?", [{"minibatch": one} for one in ("8192", "16384", "32768", "65536")])])
def test_the_models_answers_are_those_of_its_page(question, answers):
    row = next(row for row in tables("docs/gpu.md", "## The model of its time")[1] if row["question"] == question)
    assert ", ".join(modelled(**one) for one in answers) in row["model"]


def test_few_cores_give_the_share_of_the_models_page():
    few, many = (number(modelled(cores=cores).rstrip("M")) for cores in ("4", "16"))
    assert f"4 give {few / many:.0%} of what 16 give" in flat("docs/gpu.md")


def test_the_share_of_the_games_on_the_gpu_is_that_of_the_models_page():
    shares = {row["game"]: {name: cell for name, cell in row.items() if name.endswith(": games")} for row in OF_GAMES}
    all_of_them = [number(cell.rstrip("%")) for row in shares.values() for cell in row.values()]
    breakout = next(row for row in OF_GAMES if row["game"] == "breakout")
    says = (f"Breakout's games take {shares['breakout']['H100 SXM: games']} of an iteration with 65,536 environments "
            f"({breakout['H100 SXM: on the GPU']} steps/s modelled,")
    assert says in flat("docs/gpu.md") and f"others {min(all_of_them):.0f} to {max(all_of_them):.0f}%" in flat("docs/gpu.md")
