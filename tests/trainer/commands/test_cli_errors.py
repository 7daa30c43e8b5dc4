"""The command line: errors."""

import sys
from types import SimpleNamespace

import pytest

import envs_c
from trainer.__main__ import main
from trainer.runs import checkpoint


@pytest.mark.parametrize(("argv", "sentence"), [
    ("breakot", "unknown game 'breakot'; did you mean breakout?"),
    ("evaluate x", "did you mean eval?"),
    ("xyzzy", "unknown game 'xyzzy'; GAME must be one of asterix"),
    ("--seed 3", "GAME is missing: write python -m trainer GAME, where GAME is one of asterix"),
    ("--resum last", "; did you mean --resume?"),
    ("breakout --device tpu", "--device must be auto, cpu, cuda, or cuda:1 for the second GPU, not 'tpu'"),
    ("profile", "GAME is missing: write python -m trainer profile GAME"),
    ("profile breakot", "did you mean breakout? GAME must be one of asterix"),
    ("sweep evol", "unknown game 'evol'; GAME must be one of asterix"),
    ("profile breakout --iterations 0", "--iterations must be an integer of at least 1, not 0"),
    ("profile breakout --out trace.txt", "--out must be a file that ends in .json or .json.gz, not 'trace.txt'"),
    ("profile breakout --out nowhere/trace.json", "--out must be in a folder that exists, not 'nowhere': make it first"),
    ("profile breakout --resume last", "--resume is no option of profile"),
    ("profile breakout --stop_at 100", "--stop-at is no option of profile"),
    ("breakout --num-envs 0", "--num-envs must be an integer from 1 to 1,048,576, not 0"),
    ("breakout --gamma 1.5", "--gamma must be a number from 0 to 1, not 1.5"),
    ("cartpole --preset tests", "--preset must be a .toml file of settings, such as a sweep's best.toml; 'tests' is a folder"),
    ("breakout --minibatch 1000", "--minibatch must be "),
    ("breakout --minibatch 512 --num-envs 63", "--minibatch must be "),
    ("breakout --num-envs 63", "--num-envs must fit the minibatch of "),
    ("breakout --horizon 100", "rollout, not 100: choose another, or set minibatch to "),
    ("breakout --learning-rate -1", "--learning-rate must be a number above 0, not -1\n"),
    ("play cartpole --foo", "unknown option --foo; `python -m trainer play --help` lists the arguments"),
    ("list --root=", "--root must be a folder that you may read, not '': name another"),
    ("breakout --resume nowhere", "no run at nowhere"),
    ("--resume=nowhere", "no run at nowhere"),
    ("--resume", "--resume needs a RUN, such as last; `python -m trainer list` shows all runs"),
    ("eval x --episodes 0", "--episodes must be an integer from 1 to 16,777,216, not 0"),
    ("record x --episodes 20000000", "--episodes must be an integer from 1 to 16,777,216, not 20000000"),
    ("eval x --seed -1", "--seed must be an integer from 0 to 9,223,372,036,854,775,807, not -1"),
    ("eval x --seed 9223372036854775808", "--seed must be an integer from 0 to 9,223,372,036,854,775,807, not 92233720"),
    ("eval x --out film.txt", "--out must be none, or a file that ends in .gif or .mp4, not 'film.txt'"),
    ("breakout --num-env 3", "unknown option --num-env; did you mean --num-envs? `python -m trainer breakout --help all`"),
    ("breakout --num_env=3", "unknown option --num-env; did you mean --num-envs?"),
    ("breakout -- --seed 3", "unexpected argument '--' before --seed; `python -m trainer breakout --help all` lists"),
    ("breakout -x", "unknown option -x; `python -m trainer breakout --help all` lists the options"),
    ("breakout --dashboard yes", "unexpected argument 'yes'; `python -m trainer breakout --help all` lists the options"),
    ("breakout --seed", "--seed needs a value; `python -m trainer breakout --help all` lists the options"),
    ("breakout --seed --gamma 0.9", "--seed needs a value"),
    ("breakout --num-envs x", "--num-envs must be an integer from 1 to 1,048,576, not 'x'"),
    ("breakout --frame-skip x", "--frame-skip must be none, or an integer from 1 to 1,000, not 'x'"),
    ("breakout --gamma x", "--gamma must be a number from 0 to 1, not 'x'"),
    ("breakout --view pixel", "--view must be features, pixels or ram, not 'pixel'"),
    ("breakout --options lives", "names of options, each once and with a value, such as lives=3 or map_name=8x8, not 'lives'"),
    ("breakout --options", "such as lives=3 or map_name=8x8, not ''"),
    ("breakout --options lives=3 --options lives=2", "must be names of options, each once and with a value"),
    ("gym:CartPole-v1 --sticky 0.25 --frame_skip 2", "--frame-skip and --sticky must be left out for gym:CartPole-v1"),
    ("breakout --preset nowhere.toml", "--preset must be a .toml file of settings"),
    ("breakout --clip 1e39", "--clip must be a number above 0 and at most 1e+38, not 1e+39"),
    ("breakout --value-clip 1e300", "--value-clip must be a number from 0 to 1e+38, not 1e+300"),
    ("breakout --entropy-coef 1e39", "--entropy-coef must be a number from 0 to 1e+38, not 1e+39"),
    ("breakout --entropy-final 1e300", "--entropy-final must be none, or a number from 0 to 1e+38, not 1e+300"),
    ("breakout --eval-episodes 20000000", "--eval-episodes must be an integer from 0 to 16,777,216, not 20000000"),
    ("breakout --options lives=3 speed", "such as lives=3 or map_name=8x8, not 'lives=3 speed'"),
    ("profile breakout --iteration 3", "did you mean --iterations? `python -m trainer profile --help` and `python -m trainer "),
    ("eval", "RUN is missing; `python -m trainer eval --help` lists the options"),
    ("eval x --episodes", "--episodes needs a value; `python -m trainer eval --help` lists the options"),
    ("eval x y", "unexpected argument 'y'"),
    ("eval x --episode 3", "unknown option --episode; did you mean --episodes?"),
    ("eval --episodse 4 last", "unknown option --episodse; did you mean --episodes? `python -m trainer eval --help` lists"),
    ("eval -x --episodes 2", "unknown option -x; `python -m trainer eval --help` lists the options"),
    ("eval --no-greedy", "RUN is missing; `python -m trainer eval --help` lists the options"),
    ("breakout --gama --seed", "unknown option --gama; did you mean --gamma?"),
    ("eval x --run y", "unknown option --run; `python -m trainer eval --help` lists the options"),
    ("export x --format pt", "--format must be auto, onnx, safetensors or both, not 'pt'"),
    ("games --fast", "unknown option --fast; `python -m trainer games --help` lists the arguments"),
    ("check", "the following arguments are required: GAME; `python -m trainer check --help` lists the arguments"),
    ("check breakot", "unknown game 'breakot': did you mean breakout?"),
])
def test_an_error_is_one_line_and_exit_code_2(refused, trained, evaluated, argv, sentence):
    assert sentence in refused(*argv.split())
    assert trained == evaluated == []


@pytest.mark.parametrize(("option", "sentence"), [
    ("--noop-max=30", "--noop-max must be 0, not 30: the first action of cartpole is LEFT, not NOOP"),
    ("--life-loss-info", "--life-loss-info must be False, not True: cartpole has no lives"),
])
def test_a_setting_that_the_game_refuses_is_named_as_the_option(refused, tmp_path, option, sentence):
    assert refused("cartpole", option, "--device=cpu", f"--run-dir={tmp_path / 'run'}") == f"error: {sentence}\n"
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("error", [checkpoint.CheckpointError, envs_c.EnvsError])
def test_errors_of_the_training_are_printed_without_a_traceback(refused, monkeypatch, error):
    def train(config):
        raise error("torn")

    monkeypatch.setitem(sys.modules, "trainer.training.train", SimpleNamespace(train=train))
    assert refused("breakout") == "error: torn\n"


@pytest.mark.parametrize(("error", "sentence"), [
    (PermissionError(13, "Permission denied", "runs/x"), "error: Permission denied (runs/x)\n"),
    (OSError(28, "No space left on device"), "error: No space left on device (the output of this command)\n"),
])
def test_errors_of_the_system_are_printed_without_a_traceback(refused, monkeypatch, error, sentence):
    def train(config):
        raise error

    monkeypatch.setitem(sys.modules, "trainer.training.train", SimpleNamespace(train=train))
    assert refused("breakout") == sentence


def test_ctrl_c_exits_with_130(monkeypatch):
    def train(config):
        raise KeyboardInterrupt

    monkeypatch.setitem(sys.modules, "trainer.training.train", SimpleNamespace(train=train))
    assert main(["breakout"]) == 130
