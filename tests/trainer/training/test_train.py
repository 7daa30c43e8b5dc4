"""Whole runs: all files are in their folder, the same seed gives the same bits, and stopping loses nothing."""

import itertools
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from trainer_support import ROLLOUT, config, same, wait_for

from bridge import DeviceError
from trainer.__main__ import main
from trainer.errors import ConfigError
from trainer.log.curves import draw_curves
from trainer.log.numbers import count
from trainer.play import evaluate
from trainer.ranks import Ranks
from trainer.runs import checkpoint
from trainer.training import train
from trainer.training.build import build, decide, make_session
from trainer.training.callbacks import Callbacks


def weights(folder) -> dict[str, torch.Tensor]:
    """All tensors of the newest checkpoint: weights, optimizer, environments, LSTM states, random numbers."""
    return checkpoint.load(checkpoint.latest(folder))[0]


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_one_seed_gives_the_same_bits_and_another_does_not(tmp_path, precision):
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        train.train(config(tmp_path / name, iterations=4, seed=seed, precision=precision))
    same(weights(tmp_path / "a"), weights(tmp_path / "b"))
    assert not torch.equal(weights(tmp_path / "a")["policy.heads.weight"], weights(tmp_path / "c")["policy.heads.weight"])


@pytest.mark.parametrize("game", ["cartpole", "breakout"])
def test_a_run_stopped_and_resumed_equals_one_that_never_stopped(tmp_path, game):
    train.train(config(tmp_path / "whole", game=game))
    train.train(config(tmp_path / "parts", game=game, stop_at=3 * ROLLOUT))
    assert len((tmp_path / "parts" / "metrics.jsonl").read_text().splitlines()) == 3
    train.train(config(tmp_path / "parts", game=game, resume=str(tmp_path / "parts")))
    same(weights(tmp_path / "whole"), weights(tmp_path / "parts"))
    whole, parts = ([json.loads(line) for line in (tmp_path / name / "metrics.jsonl").read_text().splitlines()]
                    for name in ("whole", "parts"))
    assert [one["step"] for one in whole] == [ROLLOUT * (k + 1) for k in range(8)]
    for name in whole[0].keys() - {"seconds", "sps", "score_judged"}:  # where a session stops, its policy is judged once more
        if not name.startswith("time_"):
            assert [one[name] for one in parts] == [one[name] for one in whole], name
    assert whole[-1]["episodes"] > whole[2]["episodes"] > 0
    assert all(one["seconds"] <= later["seconds"] for one, later in itertools.pairwise(parts))


def test_resuming_an_older_checkpoint_goes_the_same_way_again(tmp_path):
    train.train(config(tmp_path))
    wanted = weights(tmp_path)
    older = sorted(tmp_path.glob("step_*.safetensors"))[0]
    train.train(config(tmp_path, resume=str(older)))
    same(wanted, weights(tmp_path))


def test_a_run_leaves_everything_in_its_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(train, "draw_curves", draw_curves)
    folder = train.train(config(tmp_path / "run", eval_episodes=5, gif=True))
    names = {path.name for path in folder.iterdir()}
    assert {"config.json", "metrics.jsonl", "curves.png", "report.html", "episode.gif", "evaluation.json",
            "best.safetensors"} <= names
    assert any("tfevents" in name for name in names)
    assert (folder / "curves.png").read_bytes().startswith(b"\x89PNG")
    assert sum(name.startswith("step_") for name in names) == 3
    last = json.loads((folder / "metrics.jsonl").read_text().splitlines()[-1])
    assert {"step", "seconds", "sps", "score_mean", "time_env", "time_learn"} <= last.keys()
    assert last["step"] == 8 * ROLLOUT
    assert sum(last[name] for name in last if name.startswith("time_")) == pytest.approx(ROLLOUT / last["sps"])  # seconds
    assert json.loads((folder / "evaluation.json").read_text())["episodes"] == 5


def test_eval_with_the_seed_of_a_run_repeats_the_evaluation_at_its_end(tmp_path):
    folder = train.train(config(tmp_path / "run", iterations=2, seed=3, eval_episodes=6))
    written = json.loads((folder / "evaluation.json").read_text())
    again = evaluate.evaluate_run(folder, episodes=6, seed=3, device="cpu", greedy=None, out=None)
    assert again["others"] and {name: again[name] for name in again.keys() - {"path", "missing"}}.items() <= written.items()
    assert evaluate.evaluate_run(folder, episodes=6, seed=0, device="cpu", greedy=None, out=None)["mean"] != written["mean"]


def test_checkpoints_are_as_many_seconds_apart_as_asked_for(tmp_path, monkeypatch):
    """Each rollout takes 10 seconds here."""
    now, saved = [0.0], []
    monkeypatch.setattr(train, "time", SimpleNamespace(perf_counter=lambda: now[0]))

    def rollout(_):
        now[0] += 10

    def watch(session):
        session.callbacks = Callbacks(on_rollout=rollout, on_checkpoint=lambda session, path: saved.append(session.iteration))
        return session
    train.train(config(tmp_path / "run", checkpoint_seconds=25.0, judge_episodes=0), watch)
    assert saved == [3, 6, 8]


def test_stop_at_changes_no_schedule(tmp_path):
    train.train(config(tmp_path / "whole"))
    train.train(config(tmp_path / "short", stop_at=2 * ROLLOUT))
    rates = [[json.loads(line)["learning_rate"] for line in (tmp_path / name / "metrics.jsonl").read_text().splitlines()]
             for name in ("whole", "short")]
    assert rates[1] == rates[0][:2]
    assert rates[0][1] < rates[0][0]


def test_a_training_that_stops_earlier_shows_the_way_to_its_stop(tmp_path, capsys):
    train.train(config(tmp_path, stop_at=2 * ROLLOUT))
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("step ")]
    goal = count(2 * ROLLOUT)
    assert lines and all(line.startswith(f"step {count(ROLLOUT)}/{goal} ") for line in lines[:-1])
    assert lines[-1].startswith(f"step {goal}/{goal} ") and "left 0s" in lines[-1]


def test_a_checkpoint_of_another_network_is_refused(tmp_path):
    train.train(config(tmp_path, iterations=2))
    tensors, meta, _ = checkpoint.load(checkpoint.latest(tmp_path))
    tensors["policy.heads.weight"] = torch.zeros(7, 7)
    path = checkpoint.save(tmp_path / "other", 1, tensors, meta, score=None)
    with pytest.raises(checkpoint.CheckpointError, match="does not fit"):
        make_session(config(tmp_path), resume=path)


def test_a_run_that_cannot_be_built_leaves_no_folder(tmp_path):
    settings = config(tmp_path / "run")
    with pytest.raises(ConfigError, match="encoder"):
        train.train(replace(settings, policy=replace(settings.policy, encoder="conv")))
    assert not (tmp_path / "run").exists()


class Counted(Ranks):
    """Counts the broadcasts."""

    broadcasts = 0

    def broadcast(self, call):
        self.broadcasts += 1
        return call()


def test_all_decisions_are_one_broadcast(tmp_path):
    ranks = Counted()
    plan = decide(config(tmp_path / "run"), ranks)
    assert (plan.folder, plan.checkpoint, plan.precision) == (tmp_path / "run", None, torch.float32)
    path = build(plan, ranks).save(plan.folder)
    assert ranks.broadcasts == 1
    resumed = decide(config(tmp_path / "run", resume=str(tmp_path / "run"), precision="bfloat16"), ranks)
    assert (resumed.folder, resumed.checkpoint, resumed.precision) == (tmp_path / "run", path, torch.float32)
    assert ranks.broadcasts == 2


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has a GPU")
def test_a_device_that_is_not_there_is_named(tmp_path):
    with pytest.raises(DeviceError, match=r"'cuda'.*--device cpu"):
        train.train(config(tmp_path, device="cuda"))


COMMAND = [sys.executable, "-m", "trainer"]
SMALL = ["--num-envs", "16", "--horizon", "32", "--minibatch", "512", "--total-steps", "1000000000", "--device", "cpu",
         "--encoder-size", "16", "--lstm-size", "12", "--num-threads", "1", "--no-dashboard", "--no-gif",
         "--eval-episodes", "0", "--checkpoint-seconds", "0"]


def start(arguments) -> subprocess.Popen:
    return subprocess.Popen([*COMMAND, *arguments], cwd=Path(__file__).parents[3], text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            env={**os.environ, "OMP_NUM_THREADS": "1"})


def newest_step(folder) -> int:
    """The step in the name of the newest checkpoint, or -1."""
    return max((int(re.sub(r"\D", "", path.stem)) for path in folder.glob("step_*.safetensors")), default=-1)


def kill_and_resume(folder, times: int):
    """Train, kill at a random moment, resume, several times; each time the run goes on from its newest checkpoint."""
    chance = random.Random(7)
    process = start(["cartpole", "--run-dir", str(folder), *SMALL])
    for _ in range(times):
        before = newest_step(folder)
        wait_for(lambda before=before: newest_step(folder) > before, process)
        time.sleep(chance.random() * 0.3)
        process.kill()
        process.communicate()
        reached = newest_step(folder)
        checkpoint.load(checkpoint.latest(folder))  # never torn
        process = start(["--resume", str(folder), "--no-dashboard", "--checkpoint-seconds", "0"])
        wait_for(lambda reached=reached: newest_step(folder) > reached, process)
    process.send_signal(signal.SIGINT)
    output = process.communicate(timeout=60)[0]
    assert process.returncode == 130, output
    steps = [json.loads(line)["step"] for line in (folder / "metrics.jsonl").read_text().splitlines()]
    assert steps == [512 * (k + 1) for k in range(len(steps))]  # each step once
    assert steps[-1] == newest_step(folder)


@pytest.mark.parametrize("times", [1, pytest.param(200, marks=pytest.mark.slow)])
def test_a_killed_run_always_resumes(tmp_path, times):
    kill_and_resume(tmp_path / "run", times)


@pytest.mark.parametrize("number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow),
                                    pytest.param(signal.SIGHUP, marks=pytest.mark.slow)])
def test_an_interrupt_ends_with_a_checkpoint_and_the_command_to_resume(tmp_path, number):
    process = start(["cartpole", "--run-dir", str(tmp_path / "run"), *SMALL[:-1], "1000"])
    metrics = tmp_path / "run" / "metrics.jsonl"
    wait_for(lambda: metrics.exists() and len(metrics.read_text().splitlines()) > 2, process)
    assert newest_step(tmp_path / "run") == 0
    process.send_signal(number)
    output = process.communicate(timeout=60)[0]
    assert process.returncode == 130, output
    assert f"--resume {tmp_path / 'run'}" in output.splitlines()[-1]  # and no line of the log after it
    assert "Traceback" not in output
    assert newest_step(tmp_path / "run") == json.loads(metrics.read_text().splitlines()[-1])["step"]


@pytest.mark.slow
def test_a_run_under_nohup_outlives_its_terminal(tmp_path):
    command = ["nohup", *COMMAND, "cartpole", "--run-dir", str(tmp_path / "run"), *SMALL[:-1], "1000"]
    process = subprocess.Popen(command, cwd=Path(__file__).parents[3], text=True, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env={**os.environ, "OMP_NUM_THREADS": "1"})
    metrics = tmp_path / "run" / "metrics.jsonl"

    def iterations():
        return len(metrics.read_text().splitlines()) if metrics.exists() else 0
    wait_for(lambda: iterations() > 2, process)
    process.send_signal(signal.SIGHUP)
    reached = iterations()
    wait_for(lambda: iterations() > reached + 5, process)
    process.send_signal(signal.SIGINT)
    assert "interrupted at step" in process.communicate(timeout=60)[0]


def test_an_interrupt_ends_the_evaluation_at_once(tmp_path, monkeypatch, capsys):
    def interrupted(*_, **__):
        signal.raise_signal(signal.SIGINT)
        pytest.fail("the evaluation went on")
    monkeypatch.setattr(evaluate, "play", interrupted)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores SIGINT
    try:
        with pytest.raises(KeyboardInterrupt):
            train.train(config(tmp_path / "run", eval_episodes=3, judge_episodes=0))
    finally:
        signal.signal(signal.SIGINT, before)
    assert re.search("the evaluation was interrupted; .*\n(.*\n)*evaluate  python -m trainer eval", capsys.readouterr().out)


class Late(Ranks):
    """Raises an interrupt just after the ranks have agreed that there is none."""

    calls, number = 0, signal.SIGINT

    def any(self, *flags):
        self.calls += 1
        if self.calls == 3:
            signal.raise_signal(self.number)
        return flags


def test_an_interrupt_while_ranks_wait_for_each_other_is_not_lost(tmp_path, monkeypatch):
    monkeypatch.setattr(train, "join", Late)
    with pytest.raises(KeyboardInterrupt):
        train.train(config(tmp_path / "run"))
    assert checkpoint.read_meta(checkpoint.latest(tmp_path / "run"))["iteration"] == 3


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_one_signal_ends_a_training_with_its_checkpoint_and_the_code_130(tmp_path, monkeypatch, number):
    monkeypatch.setattr(train, "join", Late)
    monkeypatch.setattr(Late, "number", number)
    before = signal.signal(number, lambda *_: None)  # who does not ask for the signal does not get it
    try:
        assert main(["cartpole", "--run-dir", str(tmp_path / "run"), *SMALL, "--total-steps", str(8 * ROLLOUT)]) == 130
    finally:
        signal.signal(number, before)
    assert newest_step(tmp_path / "run") == 3 * ROLLOUT
