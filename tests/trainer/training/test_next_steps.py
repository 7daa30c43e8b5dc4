"""The last lines of a training name a page that exists and commands that work, also after an early end."""

import shlex
import signal
from contextlib import nullcontext
from dataclasses import replace

import foreign
import pytest
from trainer_support import ROLLOUT, config

import trainer
from trainer.__main__ import main
from trainer.config.config import overlay
from trainer.config.games import GameName
from trainer.errors import FilmError
from trainer.play import evaluate
from trainer.play.agent_game import AgentGame
from trainer.runs import checkpoint


def last_lines(printed) -> dict[str, str]:
    """The last lines of a training: by their first word, what follows it. printed: the text, or pytest's capsys."""
    lines = (printed if isinstance(printed, str) else printed.readouterr().out).splitlines()
    begin = max(i for i, line in enumerate(lines) if line.startswith("open "))
    return {line.split()[0]: line.partition(" ")[2].strip() for line in lines[begin:]}


def command(text: str) -> list[str]:
    """The arguments of the command with which a line ends."""
    words = shlex.split(text)
    begin = max(i for i, word in enumerate(words) if word == "trainer")
    assert words[begin - 2: begin] == ["python", "-m"]
    return words[begin + 1:]


def reached(folder) -> int:
    """The step of the newest checkpoint."""
    return checkpoint.load(checkpoint.latest(folder)).meta["iteration"] * ROLLOUT


def test_a_finished_run_is_evaluated_watched_and_continued_as_its_last_lines_say(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    folder = trainer.train(config("my runs/a b", iterations=2))
    lines = last_lines(capsys)
    assert list(lines) == ["open", "watch", "evaluate", "go"]
    assert lines["open"] == "my runs/a b/report.html" and (tmp_path / lines["open"]).is_file()
    assert main([*command(lines["evaluate"]), "--episodes", "2"]) == 0
    assert "mean" in capsys.readouterr().out
    assert main([*command(lines["watch"]), "--terminal"]) == 2
    assert "--terminal needs" in capsys.readouterr().err  # a terminal: the run itself was found
    assert main(command(lines["go"])) == 0
    assert reached(folder) == 4 * ROLLOUT
    assert last_lines(capsys)["go"].endswith(f" --total-steps {8 * ROLLOUT}")


def test_a_run_that_asked_for_less_than_one_rollout_is_continued_as_its_last_line_says(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    folder = trainer.train(overlay(config("short"), {"ppo": {"total_steps": ROLLOUT // 4}}))
    assert main(command(last_lines(capsys)["go"])) == 0
    assert reached(folder) == 2 * ROLLOUT


def test_a_run_that_stopped_early_goes_on_to_its_end_as_its_last_line_says(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    folder = trainer.train(config("cartpole", stop_at=ROLLOUT, iterations=3))
    lines = last_lines(capsys)
    assert list(lines) == ["open", "watch", "evaluate", "stopped"] and (tmp_path / lines["open"]).is_file()
    assert lines["watch"].endswith(" play ./cartpole")  # not the game
    assert lines["stopped"].startswith(f"at step {ROLLOUT}; go on with ")
    assert main(command(lines["stopped"])) == 0
    assert reached(folder) == 3 * ROLLOUT


def test_an_interrupted_run_has_the_same_lines_and_goes_on(tmp_path, capsys):
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores SIGINT
    try:
        with pytest.raises(KeyboardInterrupt):
            trainer.train(config(tmp_path / "a", iterations=3),
                          on_rollout=lambda session: signal.raise_signal(signal.SIGINT))
    finally:
        signal.signal(signal.SIGINT, before)
    lines = last_lines(capsys)
    assert list(lines) == ["open", "watch", "evaluate", "interrupted"] and (tmp_path / "a" / "report.html").is_file()
    assert main([*command(lines["evaluate"]), "--episodes", "2"]) == 0
    assert main(command(lines["interrupted"])) == 0
    assert reached(tmp_path / "a") == 3 * ROLLOUT


def test_an_interrupt_of_the_evaluation_has_these_lines_too(tmp_path, monkeypatch, capsys):
    def interrupted(*_, **__):
        raise KeyboardInterrupt
    with monkeypatch.context() as early, pytest.raises(KeyboardInterrupt):
        early.setattr(evaluate, "play", interrupted)
        trainer.train(config(tmp_path / "a b", iterations=2, eval_episodes=3, judge_episodes=0))
    out = capsys.readouterr().out
    lines = last_lines(out)
    assert list(lines) == ["open", "watch", "evaluate", "go"] and (tmp_path / "a b" / "report.html").is_file()
    again = next(line for line in out.splitlines() if line.startswith("the evaluation was interrupted; make it again with "))
    assert main(command(again)) == 0
    assert reached(tmp_path / "a b") == 2 * ROLLOUT and (tmp_path / "a b" / "evaluation.json").is_file()


def test_the_report_has_what_was_evaluated_before_an_interrupt(tmp_path, monkeypatch):
    real = evaluate.play

    def interrupted(*given, greedy=False, **more):
        if greedy:
            raise KeyboardInterrupt
        return real(*given, **more)
    monkeypatch.setattr(evaluate, "play", interrupted)
    with pytest.raises(KeyboardInterrupt):
        trainer.train(config(tmp_path / "a", iterations=2, eval_episodes=3, judge_episodes=0))
    page = (tmp_path / "a" / "report.html").read_text()
    assert "sampled actions" in page and ">finished<" in page and "There is no evaluation yet" not in page


@pytest.mark.parametrize("modes", [[], ["rgb_array"]])
def test_an_environment_without_pictures_is_not_to_be_watched(tmp_path, monkeypatch, capsys, modes):
    monkeypatch.setattr(foreign.Toy, "metadata", {"render_modes": modes})
    with foreign.registered():
        trainer.train(foreign.config(tmp_path / "a"))
    assert ("watch" in last_lines(capsys)) == bool(modes)


@pytest.mark.parametrize("vectorization", ["auto", "sync", "native"])
def test_an_environment_with_a_vector_class_of_its_own_is_watched_if_play_shows_it(tmp_path, capsys, vectorization):
    settings = replace(foreign.config(tmp_path / "a"), game=GameName("gym:CartPole-v1"))
    settings = overlay(settings, {"env": {"vectorization": vectorization}})
    policy, _ = trainer.load(trainer.train(settings))
    assert ("watch" in last_lines(capsys)) == (vectorization != "native")
    with nullcontext() if vectorization != "native" else pytest.raises(FilmError, match="cannot be watched"):
        AgentGame(settings.game, settings.env, policy, seed=1).close()
