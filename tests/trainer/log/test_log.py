"""The log on disk: every iteration, also after kills and resumes; the run's folder, its config.json and its curves."""

import json
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest
from log_support import (
    CONFIG_OF_RUN,
    METRICS_OF_ITERATION,
    NOT_A_NUMBER,
    NOTHING,
    STEP,
    Clock,
    iterations,
    pipe,
    run_log,
    terminal,
)
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from trainer.config import RunConfig
from trainer.config.config import overlay
from trainer.errors import LearningError, RunError
from trainer.log import curves
from trainer.log.curves import draw_curves
from trainer.log.tensorboard import TAGS
from trainer.runs.folder import CONFIG, new_run_folder
from trainer.runs.metrics import METRICS, read_metrics


def events(folder):
    """TensorBoard's own reader of the folder's event files."""
    accumulator = EventAccumulator(str(folder))
    accumulator.Reload()
    return accumulator


def test_metrics_have_an_object_an_iteration(tmp_path):
    iterations(tmp_path, 1, 3)
    entries = [json.loads(line) for line in (tmp_path / METRICS).read_text().splitlines()]
    assert entries == [{"step": index * STEP, "seconds": index * 0.5, **METRICS_OF_ITERATION} for index in (1, 2, 3)]


def test_metrics_are_in_the_file_at_once(tmp_path):
    clock = Clock()
    with run_log(tmp_path, clock, pipe()) as log:
        log.iteration(STEP, METRICS_OF_ITERATION)
        assert len(read_metrics(tmp_path)) == 1


@pytest.mark.parametrize("metrics", [NOTHING, NOT_A_NUMBER, dict.fromkeys(METRICS_OF_ITERATION, math.inf), {}],
                         ids=["None", "NaN", "infinity", "no keys"])
@pytest.mark.parametrize("console", [terminal, pipe])
def test_values_that_are_no_numbers_are_null(tmp_path, metrics, console):
    iterations(tmp_path, 1, 3, metrics=metrics, dashboard=True, console=console())
    entry = read_metrics(tmp_path)[-1]
    assert entry["score_mean"] is None
    assert entry["length_mean"] is None
    assert {"step", "seconds", "sps"} <= entry.keys()
    assert draw_curves(tmp_path).stat().st_size > 0


@pytest.mark.parametrize("score", [0.001, -250_000.0, 999_999.0])
def test_labels_of_curves_stay_in_the_picture_and_beside_the_axes(tmp_path, monkeypatch, score):
    iterations(tmp_path, 1, 3, metrics=METRICS_OF_ITERATION | {"score_mean": score, "loss_value": score, "sps": 9.5e6})
    figures = []
    monkeypatch.setattr(curves, "_save", lambda figure, path: figures.append(figure))
    monkeypatch.setattr(curves, "_title", lambda folder: "cartpole, seed 1\nthe name of the run")
    draw_curves(tmp_path)
    figures[0].draw_without_rendering()
    boxes = [axes.get_tightbbox() for axes in figures[0].axes]
    assert all(figures[0].bbox.x0 <= box.x0 and box.x1 <= figures[0].bbox.x1 and box.y0 >= 0 for box in boxes)
    assert not any(one.overlaps(other) for index, one in enumerate(boxes) for other in boxes[:index])
    assert not any(box.overlaps(figures[0]._suptitle.get_window_extent()) for box in boxes)


@pytest.mark.parametrize("count", [1, 10, 25, 31])
def test_curves_of_a_long_run_are_thinned_and_reach_from_its_first_entry_to_its_last(tmp_path, monkeypatch, count):
    iterations(tmp_path, 1, count, seconds=30.0)
    figures = []
    monkeypatch.setattr(curves, "_MOST_POINTS", 10)
    monkeypatch.setattr(curves, "_save", lambda figure, path: figures.append(figure))
    draw_curves(tmp_path)
    across = [axes.lines[0].get_xdata() for axes in figures[0].axes]
    assert [(line[0], line[-1]) for line in across] == [(STEP, count * STEP), (0.5, count / 2), *[(STEP, count * STEP)] * 4]
    assert all(len(line) <= 11 for line in across)


def test_the_speed_is_measured_if_it_is_not_given(tmp_path):
    iterations(tmp_path, 1, 4, metrics={}, seconds=0.25)
    assert read_metrics(tmp_path)[-1]["sps"] == pytest.approx(STEP / 0.25)


@pytest.mark.parametrize("torn", [b"", b'{"step": 999', b'{"step": 1}', b"\0\0\0\0\n", b'{"step": 1}\n', b"[]\n"],
                         ids=["whole", "half a line", "no line end", "zeros", "no seconds", "no object"])
def test_a_resumed_run_continues_from_its_checkpoint(tmp_path, torn):
    iterations(tmp_path, 1, 5)
    with (tmp_path / METRICS).open("ab") as file:
        file.write(torn)
    assert len(read_metrics(tmp_path)) == 5
    iterations(tmp_path, 4, 6, resume_step=3 * STEP, start_seconds=1.5)
    entries = read_metrics(tmp_path)
    assert [entry["step"] for entry in entries] == [index * STEP for index in range(1, 7)]
    assert [entry["seconds"] for entry in entries] == [0.5, 1.0, 1.5, 2.0, 2.5, 3.0]
    assert not list(tmp_path.glob(".*"))


def test_the_seconds_never_decrease(tmp_path):
    iterations(tmp_path, 1, 3)
    iterations(tmp_path, 4, 5, resume_step=3 * STEP, start_seconds=1.25)
    assert [entry["seconds"] for entry in read_metrics(tmp_path)] == [0.5, 1.0, 1.5, 2.0, 2.5]


def test_a_resumed_run_without_metrics_starts_them(tmp_path):
    iterations(tmp_path, 4, 4, resume_step=3 * STEP)
    assert len(read_metrics(tmp_path)) == 1


def test_tensorboard_has_every_metric_under_its_tag(tmp_path):
    iterations(tmp_path, 1, 3)
    accumulator = events(tmp_path)
    tags = {key: TAGS[key] for key in METRICS_OF_ITERATION}
    assert set(accumulator.Tags()["scalars"]) == set(tags.values())
    for key, tag in tags.items():
        scalars = accumulator.Scalars(tag)
        assert [scalar.step for scalar in scalars] == [STEP, 2 * STEP, 3 * STEP]
        assert scalars[0].value == pytest.approx(METRICS_OF_ITERATION[key])


def test_tensorboard_gets_two_events_a_second_and_the_last_one(tmp_path):
    iterations(tmp_path, 1, 100, seconds=0.015625)
    steps = [scalar.step // STEP for scalar in events(tmp_path).Scalars("score/mean")]
    assert steps == [1, 33, 65, 97, 100]


def test_tensorboard_gets_a_metric_that_not_every_iteration_has_at_its_step(tmp_path):
    clock, judged = Clock(), {4: 2.5, 20: 3.5, 40: 4.5}
    with run_log(tmp_path, clock, pipe()) as log:
        for index in range(1, 41):
            clock.now += 0.015625
            sparse = {"score_judged": judged[index]} if index in judged else {"mine": float(index)} if index == 10 else {}
            log.iteration(index * STEP, METRICS_OF_ITERATION | sparse)
    written = events(tmp_path)
    assert [(one.step // STEP, one.value) for one in written.Scalars("score/judged")] == [*judged.items()]
    assert [(one.step // STEP, one.value) for one in written.Scalars("charts/mine")] == [(10, 10.0)]
    assert [one.step // STEP for one in written.Scalars("score/mean")] == [1, 4, 10, 20, 33, 40]


@pytest.mark.parametrize("error", [KeyboardInterrupt, LearningError])
def test_tensorboard_gets_the_last_event_of_a_training_that_is_interrupted_or_fails(tmp_path, error):
    clock = Clock()
    with pytest.raises(error), run_log(tmp_path, clock, pipe()) as log:
        for index in (1, 2):
            clock.now += 0.125
            log.iteration(index * STEP, METRICS_OF_ITERATION)
        raise error
    assert [scalar.step // STEP for scalar in events(tmp_path).Scalars("score/mean")] == [1, 2]


def test_tensorboard_hides_the_steps_that_a_resume_dropped(tmp_path):
    iterations(tmp_path, 1, 5)
    iterations(tmp_path, 4, 6, resume_step=3 * STEP, metrics=METRICS_OF_ITERATION | {"score_mean": 99.0})
    scalars = events(tmp_path).Scalars("score/mean")
    assert [scalar.step // STEP for scalar in scalars] == [1, 2, 3, 4, 5, 6]
    assert [scalar.value for scalar in scalars] == [12.25] * 3 + [99.0] * 3


def test_config_json_has_the_settings_and_each_session(tmp_path):
    iterations(tmp_path, 1, 2)
    iterations(tmp_path, 3, 4, resume_step=2 * STEP)
    saved = json.loads((tmp_path / CONFIG).read_text())
    assert saved["config"] == CONFIG_OF_RUN.to_dict()
    assert [session["from_step"] for session in saved["sessions"]] == [0, 2 * STEP]
    facts = saved["sessions"][0]["facts"]
    assert facts.keys() >= {"machine", "cpu", "python", "torch", "numpy", "gymnasium", "command", "device", "precision"}
    assert all(isinstance(fact, str) for fact in facts.values())


def test_a_folder_with_a_run_is_refused(tmp_path):
    iterations(tmp_path, 1, 1)
    with pytest.raises(RunError, match="ended before its first checkpoint; remove it"):
        iterations(tmp_path, 1, 1)
    (tmp_path / "step_000000000001.safetensors").touch()
    with pytest.raises(RunError, match="holds a run already; go on with it by --resume"):
        iterations(tmp_path, 1, 1)
    assert len(read_metrics(tmp_path)) == 1


def test_a_damaged_config_json_is_refused(tmp_path):
    (tmp_path / CONFIG).write_text("{")
    with pytest.raises(RunError, match=r"config.json is damaged; move it away"):
        iterations(tmp_path, 1, 1, resume_step=0)


def test_a_folder_in_use_is_refused_until_its_process_ends(tmp_path):
    script = ("import sys; from pathlib import Path; from trainer.runs.folder import locked\n"
              "with locked(Path(sys.argv[1])): print(flush=True); sys.stdin.read()")
    holder = subprocess.Popen([sys.executable, "-c", script, str(tmp_path)], cwd=Path(__file__).parents[3],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    holder.stdout.readline()
    with pytest.raises(RunError, match="another process is training in"):
        iterations(tmp_path, 1, 1)
    holder.kill()
    holder.communicate()
    iterations(tmp_path, 1, 1)


@pytest.mark.parametrize("count", [0, 1, 2, 5000])
def test_curves_are_drawn_of_any_number_of_iterations(tmp_path, count):
    line = json.dumps({"step": STEP, "seconds": 1.0, **METRICS_OF_ITERATION}) + "\n"
    (tmp_path / METRICS).write_text(line * count)
    assert draw_curves(tmp_path).read_bytes().startswith(b"\x89PNG")


def test_score_speed_policy_loss_value_loss_and_entropy_have_axes_of_their_own(tmp_path, monkeypatch):
    drawn = []
    monkeypatch.setattr(curves, "_save", lambda figure, path: drawn.append(figure))
    iterations(tmp_path, 1, 3)
    draw_curves(tmp_path)
    lines = {axes.get_title(): list(axes.lines[0].get_ydata()) for axes in drawn[0].axes if len(axes.lines) == 1}
    assert len(lines) == 6
    for title, key in (("Policy loss", "loss_policy"), ("Value loss", "loss_value"), ("Entropy of the policy", "entropy")):
        assert lines[title] == [METRICS_OF_ITERATION[key]] * 3


def test_curves_are_drawn_without_metrics(tmp_path):
    assert draw_curves(tmp_path) == tmp_path / "curves.png"


def test_new_folders_are_named_after_the_run_and_unique(tmp_path):
    config = overlay(CONFIG_OF_RUN, {"run": {"seed": 7}})
    folders = [new_run_folder(config.game, config.run, tmp_path / "runs") for _ in range(3)]
    assert len(set(folders)) == 3
    assert all(folder.is_dir() and folder.name.startswith("breakout-20") and "-s7" in folder.name for folder in folders)


def test_a_named_folder_is_made_or_taken_if_it_has_no_run(tmp_path):
    folder = tmp_path / "a" / "b"
    config = overlay(CONFIG_OF_RUN, {"run": {"run_dir": str(folder)}})
    assert new_run_folder(config.game, config.run) == folder
    assert new_run_folder(config.game, config.run) == folder
    iterations(folder, 1, 1)
    with pytest.raises(RunError, match="holds a run"):
        new_run_folder(config.game, config.run)


def test_a_folder_that_cannot_be_made_is_refused(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(RunError, match=r"--run-dir must be a folder .*not .*file"):
        new_run_folder("breakout", RunConfig(run_dir=str(tmp_path / "file")))
    with pytest.raises(RunError, match="name one with --run-dir"):
        new_run_folder(CONFIG_OF_RUN.game, CONFIG_OF_RUN.run, tmp_path / "file")


def test_a_link_to_a_folder_that_is_gone_is_no_endless_search_for_a_name(tmp_path):
    (tmp_path / "runs").symlink_to(tmp_path / "unmounted")
    with pytest.raises(RunError, match=r"runs: it is a link to a folder that does not exist; name one with --run-dir"):
        new_run_folder(CONFIG_OF_RUN.game, CONFIG_OF_RUN.run, tmp_path / "runs")


def test_importing_the_log_loads_no_torch_and_no_matplotlib():
    script = "import sys, trainer.log.run_log; sys.exit('torch' in sys.modules or 'matplotlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], cwd=Path(__file__).parents[3], env=os.environ, check=False)
    assert done.returncode == 0
