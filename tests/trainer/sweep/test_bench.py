"""Benches in one process: what is trained, resumed, tried again and refused, and the table. A class stands in for trainings."""

import csv
import json
import signal
import subprocess
import sys
import time

import numpy as np
import optuna
import pytest
from run_support import summary

import envs_c
from trainer.config import Config, no_ops
from trainer.config.config import overlay
from trainer.config.games import GameName
from trainer.errors import ConfigError, FileError, SweepError
from trainer.results import statistics
from trainer.runs import checkpoint
from trainer.sweep import bench as bench_module
from trainer.sweep.bench import Plan, run_bench
from trainer.sweep.storage import default_storage, open_storage
from trainer.sweep.trial import TrialFailed

TINY = ["--num-envs=8", "--horizon=16", "--minibatch=64", "--lstm-size=4", "--encoder-size=4", "--memory=none", "--device=cpu",
        "--eval-episodes=3", "--precision=float32"]


def config(game="cartpole", **run) -> Config:
    return overlay(Config(game), {"env": {"num_envs": 8}, "ppo": {"minibatch": 512}, "run": {"device": "cpu", **run}})


def score(name: str, greedy: bool) -> float:
    """The result of a stand-in, by the name of its task."""
    game, _, seed = name.rpartition("-s")
    return {"breakout": 20.0, "pong": -6.0}.get(game.partition("-")[0], 10.0) + int(seed) + 100 * ("0.25" in game) + greedy


class StandIn:
    """A training that ends after two looks at it."""

    started, live, most, failing, breaks_at = [], 0, 0, (), None

    def __init__(self, folder, arguments):
        cls = type(self)
        self.folder, self.looks = folder, 0
        cls.started.append((folder.name, "--resume" in arguments))
        cls.live += 1
        cls.most = max(cls.most, cls.live)
        (folder / "step_000000000512.safetensors").touch()
        (folder / "config.json").touch()
        (folder / "arguments").write_text(" ".join(map(str, arguments)))
        seconds = 3000.0 if folder.name.endswith("-s4") else 30.0  # one of four was disturbed
        (folder / "metrics.jsonl").write_text(json.dumps({"step": 512, "seconds": seconds}) + "\n")

    def ended(self, seconds):
        if type(self).breaks_at == len(type(self).started):
            raise KeyboardInterrupt
        self.looks += 1
        type(self).live -= self.looks == 2
        return self.looks == 2

    def interrupt(self):
        (self.folder / "interrupted").touch()

    def end(self):
        assert all((self.folder.parent / name / "interrupted").exists() for name, _ in type(self).started[-type(self).live:])

    def evaluations(self):
        if self.folder.name in type(self).failing:
            raise TrialFailed("boom")
        sticky = 0.25 * ("0.25" in self.folder.name)
        noop_max = 30 if sticky == 0 and "cartpole" not in self.folder.name else 0
        return [summary(score(self.folder.name, greedy), greedy=greedy, sticky=sticky, noop_max=noop_max)
                for greedy in (False, True)]


@pytest.fixture
def bench(tmp_path, monkeypatch):
    """Runs a bench of stand-ins in this process; returns the trainings that it started: names, and True for resumed ones."""
    def run(*games, seeds=3, jobs=2, stickies=(0.0, 0.25), failing=(), breaks_at=None, options=None, noop_max=30, **run):
        stand_in = type("Trained", (StandIn,), {"started": [], "failing": failing, "breaks_at": breaks_at})
        monkeypatch.setattr(bench_module, "Training", stand_in)
        configs = {game: overlay(config(game, **run), {"env": {"options": options or {}}}) for game in games or ("cartpole",)}
        try:
            run_bench(Plan(configs, stickies, seeds, jobs, tmp_path / "bench", noop_max=noop_max), "bench",
                      default_storage(tmp_path / "bench"))
        finally:
            run_again.most = stand_in.most
        return stand_in.started
    monkeypatch.setattr(bench_module, "_WAIT", 0.01)
    run_again = run
    run.folder = tmp_path / "bench"
    return run


def names(*middles, seeds):
    return [f"cartpole-sticky{middle}-s{seed}" for seed in seeds for middle in middles]


def test_every_seed_of_every_protocol_is_trained_once(bench, capsys):
    started = bench()
    assert started == [(name, False) for name in names("0", "0.25", seeds=(1, 2, 3))]
    assert bench.most == 2
    assert bench() == []
    assert "bench bench: 6 of 6 trainings done" in capsys.readouterr().out


def test_a_table_that_cannot_be_written_names_the_option(bench):
    bench(seeds=1)
    (bench.folder / "results.json").unlink()
    (bench.folder / "results.json").mkdir()
    with pytest.raises(FileError, match=r"cannot write .*results\.json: Is a directory; name a folder .* with --out"):
        bench(seeds=1)


def test_more_seeds_and_games_join_a_bench(bench):
    bench(seeds=1)
    assert bench(seeds=2) == [(name, False) for name in names("0", "0.25", seeds=(2,))]
    assert [name for name, _ in bench("cartpole", "pong", seeds=1)] == ["pong-sticky0-s1", "pong-sticky0.25-s1"]
    assert [name for name, _ in bench("gym:CartPole-v1", seeds=1)] == ["gym_CartPole-v1-s1"]


def test_the_table_has_the_statistics_of_each_protocol(bench, capsys):
    bench("breakout", "pong", seeds=4)
    rows = {(row["game"], row["sticky"], row["actions"]): row for row in csv.DictReader((bench.folder / "results.csv").open())}
    assert len(rows) == 8
    for (game, sticky, actions), row in rows.items():
        scores = [score(f"{game}-sticky{float(sticky):g}-s{seed}", actions == "greedy") for seed in range(1, 5)]
        assert float(row["iqm"]) == statistics.iqm([np.array(scores)]) and row["seeds"] == "1 2 3 4"
        assert [float(text) for text in row["scores"].split()] == scores
        assert row["iqm_interval"] == ""  # of four seeds
        assert [float(end) for end in row["mean_interval"].split()] == statistics.student_interval(np.array(scores))
        assert (float(row["minutes"]), float(row["steps"])) == (0.5, 512)
    facts = json.loads((bench.folder / "results.json").read_text())
    assert [row["iqm"] for row in facts["rows"]] == [float(row["iqm"]) for row in rows.values()]
    of_both = [(np.array([21, 22, 23, 24]) - 1.7) / (30.5 - 1.7), (np.array([-5, -4, -3, -2]) + 20.7) / (14.6 + 20.7)]
    assert facts["human_normalized"][0]["iqm"] == pytest.approx(statistics.iqm(of_both))
    printed = capsys.readouterr().out
    assert "human-normalized, 2 games, sticky 0, up to 30 no-ops, sampled actions: interquartile mean" in printed
    assert "protocol: greedy actions, sticky 0.25, 0 no-ops, raw scores to game over or step 27,000" in printed
    assert "protocol: greedy actions, sticky 0, up to 30 no-ops, raw scores to game over or step 27,000" in printed
    assert [(row["sticky"], row["noop_max"]) for row in facts["rows"][::2]] == [(0.0, 30), (0.25, 0)] * 2


@pytest.mark.parametrize(("seeds", "text"), [(4, "no interval: it needs 5 seeds or more of each game"), (5, "95% interval ")])
def test_the_interval_of_several_games_needs_five_seeds_of_each(bench, capsys, seeds, text):
    bench("breakout", "pong", seeds=seeds)
    facts = json.loads((bench.folder / "results.json").read_text())["human_normalized"]
    assert len(facts) == 4 and all((one["iqm_interval"] is None) == (seeds < 5) for one in facts)
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("human-normalized")]
    assert len(lines) == 4 and all(f"({text}" in line for line in lines)


def test_a_game_with_options_has_no_human_normalized_score(bench):
    bench("breakout", seeds=1, options={"lives": 1.0})
    assert [row["human_normalized"] for row in csv.DictReader((bench.folder / "results.csv").open())] == [""] * 4


def test_an_interrupt_ends_all_trainings_and_the_same_command_resumes_them(bench, capsys):
    with pytest.raises(KeyboardInterrupt):
        bench(breaks_at=4)
    assert "interrupted: 2 trainings write their checkpoints" in capsys.readouterr().out
    assert bench() == [(name, True) for name in names("0", "0.25", seeds=(2,))] + [
        (name, False) for name in names("0", "0.25", seeds=(3,))]
    name, = names("0", seeds=(2,))
    # The game is named, for its file may have moved.
    assert (bench.folder / name / "arguments").read_text() == f"cartpole --resume {bench.folder / name}"


def test_failed_trainings_are_named_and_tried_again_by_the_next_command_only(bench, capsys):
    bad = ("cartpole-sticky0-s1", "cartpole-sticky0.25-s2")
    with pytest.raises(SweepError, match=r"^2 of 6 trainings failed, such as cartpole-sticky0-s1: boom; the same"):
        bench(failing=bad)
    assert (bench.folder / "results.csv").exists()
    assert [name for name, _ in bench()] == list(bad)


def test_another_command_for_the_same_bench_is_refused(bench):
    bench(seeds=1)
    with pytest.raises(SweepError, match=r"cartpole had other settings \(--eval-episodes is 7 and was 100\): give the options"):
        bench(eval_episodes=7)
    with pytest.raises(SweepError, match="cartpole had other settings"):
        bench("pong", "cartpole", seeds=1, eval_episodes=7)
    assert len(bench("pong", seeds=1)) == 2  # the refused command did not fix its settings
    optuna.create_study(storage=open_storage(default_storage(bench.folder)), study_name="sweep").set_user_attr("facts", {})
    with pytest.raises(SweepError, match="'sweep' is no bench"):
        run_bench(Plan({GameName("cartpole"): config()}, (), 1, 1, bench.folder), "sweep", default_storage(bench.folder))


@pytest.mark.parametrize(("changes", "difference"), [
    ({"ppo": {"gamma": 0.5}}, "--gamma is 0.99 and was 0.5"), ({"run": {"seed": 2}}, "--seed is 1 and was 2"),
    ({"env": {"sticky": 0.25}}, "--sticky is 0.0 and was 0.25"),
    ({"ppo": {"total_steps": 512}}, "--total-steps is 10000000 and was 512"),
    ({"run": {"eval_episodes": 7}}, "--eval-episodes is 100 and was 7"),
    ({"run": {"init_from": "runs/a"}}, "--init-from is none and was runs/a"),
    ({}, None), ({"run": {"device": "cuda", "gif": False}, "env": {"num_threads": 3, "sim": "host"}}, None)])
def test_a_run_of_other_settings_is_refused_before_any_training_starts(bench, changes, difference):
    """Whatever is in the storage: the bench that made the run may have had another name."""
    saved = overlay(config(), changes)
    checkpoint.save(bench.folder / "cartpole-sticky0-s1", 512, {}, {"config": saved.to_dict()}, score=None)
    if difference is None:
        assert bench(seeds=1, stickies=(0.0,)) == [("cartpole-sticky0-s1", True)]
        return
    with pytest.raises(SweepError, match=rf"its run cartpole-sticky0-s1 goes on .* \({difference}\); give those, or name an"):
        bench(seeds=1)
    assert [path.name for path in bench.folder.iterdir()] == ["cartpole-sticky0-s1"]


def test_a_run_that_cannot_be_read_is_left_to_its_training_which_names_the_reason(bench):
    for seed, meta in ((1, {"config": {"of": "another version"}}), (2, {"config": config(seed=2).to_dict()})):
        path = checkpoint.save(bench.folder / f"cartpole-sticky0-s{seed}", 512, {}, meta, score=None)
    path.write_bytes(b"damaged")
    assert bench(seeds=2, stickies=(0.0,)) == [("cartpole-sticky0-s1", True), ("cartpole-sticky0-s2", True)]


def test_a_done_training_may_be_continued_by_hand(bench):
    bench(seeds=1, stickies=(0.0,))
    longer = overlay(config(), {"ppo": {"total_steps": 20_000_000}})
    checkpoint.save(bench.folder / "cartpole-sticky0-s1", 1024, {}, {"config": longer.to_dict()}, score=None)
    assert bench(seeds=1, stickies=(0.0,)) == []


def test_episodes_without_sticky_actions_begin_with_no_ops_if_the_game_has_them(tmp_path):
    configs = {GameName(game): overlay(config(game), {"env": {"noop_max": own}})
               for game, own in (("breakout", 0), ("pong", 7), ("snake", 0), ("gym:CartPole-v1", 0))}

    def made(noop_max):
        plan = Plan(configs, (0.0, 0.25), 1, 1, tmp_path, noop_max=noop_max)
        return [plan.config_of(task).env.noop_max for task in plan.tasks]
    assert made(30) == [30, 0, 30, 7, 0, 0, 0]
    assert made(0) == [0, 0, 0, 7, 0, 0, 0]
    assert made(None) == [0, 0, 7, 7, 0, 0, 0]


def test_a_game_in_self_play_has_no_no_ops(tmp_path, monkeypatch):
    monkeypatch.setattr(no_ops, "find_game", lambda game: envs_c.game("pong"))
    alone, both = (Plan({GameName("go"): overlay(config("go"), {"self_play": {"self_play": chosen}})}, (0.0,), 1, 1, tmp_path,
                        noop_max=30) for chosen in (False, True))
    assert [plan.config_of(plan.tasks[0]).env.noop_max for plan in (alone, both)] == [30, 0]


def test_a_bench_of_other_no_ops_is_not_mixed_with_this_one(bench):
    bench("breakout", "cartpole", seeds=1, noop_max=0)
    with pytest.raises(SweepError, match=r"breakout had other settings \(--noop-max is 30 and was 0\): give the options"):
        bench("breakout", seeds=2)
    assert len(bench("cartpole", seeds=2)) == 2  # it has no no-ops


def test_a_finished_bench_of_an_earlier_version_had_its_settings_no_ops(bench, monkeypatch, capsys):
    evaluations = StandIn.evaluations

    def unnoted(self):
        found = evaluations(self)
        for one in found:
            del one["protocol"]["noop_max"]
        return found
    monkeypatch.setattr(StandIn, "evaluations", unnoted)
    bench("breakout", seeds=1)
    printed = capsys.readouterr().out
    assert "protocol: sampled actions, sticky 0, up to 30 no-ops, raw" in printed and "sticky 0.25, 0 no-ops, raw" in printed


def test_two_games_with_one_folder_are_refused(bench):
    with pytest.raises(ConfigError, match="two of the games have the same name in a folder"):
        bench("gym:a/b", "gym:a_b", seeds=1)


@pytest.mark.parametrize(("jobs", "own", "threads"), [(0, 0, 1), (1, 0, 8), (2, 0, 4), (3, 0, 2), (16, 0, 1), (2, 3, 3)])
def test_trainings_share_the_cores(monkeypatch, tmp_path, jobs, own, threads):
    monkeypatch.setattr(bench_module, "cores", lambda: 8)
    plan = Plan({GameName("cartpole"): overlay(config(), {"env": {"num_threads": own}})}, (0.25,), 1, jobs, tmp_path)
    made = plan.config_of(plan.tasks[0])
    assert (made.env.num_threads, made.env.sticky, made.run.seed) == (threads, 0.25, 1)


@pytest.mark.slow
def test_ctrl_c_ends_real_trainings_with_checkpoints_and_the_same_command_finishes_them(tmp_path):
    command = [sys.executable, "-m", "trainer", "bench", "cartpole", "--seeds=2", "--jobs=2", "--sticky=0",
               f"--out={tmp_path / 'bench'}", "--total-steps=40_000", *TINY]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    metrics = [tmp_path / "bench" / name / "metrics.jsonl" for name in ("cartpole-sticky0-s1", "cartpole-sticky0-s2")]
    while process.poll() is None and not all(path.exists() and path.read_text() for path in metrics):
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    printed = process.communicate()[0]
    assert process.returncode == 130, printed
    assert "Traceback" not in printed
    for path in metrics:
        assert "interrupted at step" in (path.parent / "output.txt").read_text()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("goes on") == 2
    for path in metrics:
        assert len(json.loads((path.parent / "config.json").read_text())["sessions"]) == 2
