"""Trainings whose environment is faulty end with an error that has its number, the cause and the line, and a checkpoint."""

import re
import sys
from dataclasses import replace

import gymnasium
import numpy as np
import pytest
from counting import Counting
from foreign import config
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from bridge import EnvironmentFailed, Pipeline
from trainer.__main__ import main
from trainer.config import EnvConfig
from trainer.config.games import GameName
from trainer.environments import make_source
from trainer.errors import ConfigError, SettingError
from trainer.imports import load, user_errors
from trainer.runs import checkpoint
from trainer.training import train

TEXT = '''
import os, signal, sys
from counting import Counting

class Env(Counting):
    def step(self, action):
        result = super().step(action)
        if self.total > 20:
            {fault}
        return result
'''


@pytest.fixture
def environment(tmp_path):
    """A function that writes a file with an environment which fails in step 21, and returns the environment's name."""
    def write(fault):
        (tmp_path / "faulty_env.py").write_text(TEXT.format(fault=fault))
        return GameName(f"gym:{tmp_path}/faulty_env.py:Env")
    return write


def run_of(folder, game, **env):
    return replace(config(folder / "run"), game=game, env=EnvConfig(num_envs=4, num_threads=1, num_batches=1, **env))


@pytest.mark.filterwarnings("ignore:.*ERROR")  # Gymnasium's own report
@pytest.mark.parametrize(("vectorization", "fault", "sentence"), [
    ("sync", "sys.exit()", r"environment 0 \(Env\) called sys.exit\(\) in step \(.*faulty_env.py, line 9\): let the env"),
    ("sync", "sys.exit(3)", r"environment 0 \(Env\) called sys.exit\(3\) in step \(.*faulty_env.py, line 9\)"),
    ("sync", "{}['boom']", r"environment 0 \(Env\) raised KeyError in step: 'boom' \(.*faulty_env.py, line 9\)$"),
    ("sync", "raise OSError", r"environment 0 \(Env\) raised OSError in step \(.*faulty_env.py, line 9\)$"),
    ("async", "{}['boom']", r"environments 0 to 3 \(Env\) raised KeyError in step: 'boom' \(.*faulty_env.py, line 9\)$"),
    ("async", "sys.exit(3)", r"environments 0 to 3 \(Env\) called sys.exit\(3\) in step \(.*_env.py, line 9\)"),
    ("async", "result = result[0][:1], *result[1:]", r"returned an observation of shape \(1,\), but it must have the sh"),
    ("async", "os._exit(7)", r"the process of environment \d \(Env\) ended with exit code 7: what it printed may say why"),
    ("async", "os.kill(os.getpid(), signal.SIGKILL)", r"the process of environment \d \(Env\) was ended by SIGKILL: what"),
])
def test_a_fault_ends_a_training_with_its_cause_its_line_and_a_checkpoint(tmp_path, environment, recwarn, vectorization, fault,
                                                                          sentence):
    with pytest.raises(EnvironmentFailed, match=sentence):
        train.train(run_of(tmp_path, environment(fault), vectorization=vectorization))
    assert checkpoint.latest(tmp_path / "run").name == "step_000000000096.safetensors"  # 24 steps, 3 of which reset
    assert not [str(one.message) for one in recwarn if "in close" in str(one.message)]


def test_the_command_line_says_that_an_environment_called_sys_exit(tmp_path, environment, capsys):
    words = ["--num-envs=4", "--horizon=8", "--minibatch=32", "--total-steps=128", "--device=cpu", "--eval-episodes=0",
             "--no-gif", f"--run-dir={tmp_path / 'a run'}", "--no-dashboard", "--track=none"]
    assert main([environment("sys.exit(0)"), *words]) == 2
    out, err = capsys.readouterr()
    assert f"an environment failed; saved at step 96, go on with python -m trainer --resume '{tmp_path}/a run'\n" in out
    assert err.splitlines()[-1].startswith("error: environment 0 (Env) called sys.exit(0) in step (")


def test_a_file_that_calls_sys_exit_is_an_error_of_its_line(tmp_path, capsys):
    (tmp_path / "leaving.py").write_text("import sys\nsys.exit(0)\n")
    assert main([f"{tmp_path}/leaving.py:Env", "--num-envs=4"]) == 2
    assert re.search(r"running the file called sys\.exit\(0\) \(.*leaving.py, line 2\)$", capsys.readouterr().err.strip())


def test_so_is_a_module_and_code_of_other_settings(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "leaving_module.py").write_text("import sys\nsys.exit('no licence')\n")
    with pytest.raises(SettingError, match=r"importing leaving_module called sys\.exit\('no licence'\)"):
        load("loss", "leaving_module:f", "leaving_module")
    with pytest.raises(SettingError, match=r"calling it called sys\.exit\(\) \(.*test_faulty.py, line \d+\)$"), \
         user_errors("loss", "m:f", "calling it", __file__):
        sys.exit()


def test_ctrl_c_is_no_fault_of_an_environment(tmp_path, environment):
    with pytest.raises(KeyboardInterrupt):
        train.train(run_of(tmp_path, environment("raise KeyboardInterrupt")))


SHARED = Counting()


class Two(VectorEnv):
    """A vector environment that makes two environments whatever it is asked for."""

    metadata = {"autoreset_mode": AutoresetMode.NEXT_STEP}

    def __init__(self, num_envs=1):
        self.num_envs = 2
        self.single_observation_space, self.single_action_space = Counting.observation_space, gymnasium.spaces.Discrete(2)
        self.observation_space = batch_space(self.single_observation_space, 2)

    def reset(self, *, seed=None, options=None):
        return np.zeros((2, 2)), {}

    def step(self, actions):
        return np.zeros((2, 2)), np.zeros(2), np.zeros(2, bool), np.zeros(2, bool), {}


class Stuck(Counting):
    def close(self):
        raise OSError("the door is stuck")


def leaving():
    sys.exit(5)


@pytest.mark.parametrize(("name", "sentence"), [
    ("shared", "environments 0 and 1 are the same one: the function that makes an environment must make a new one in each"),
    ("Two", "gym:test_faulty:Two must make as many environments as its argument num_envs says, 4 here, but made 2: correct"),
    ("leaving", "gym:test_faulty:leaving cannot be made: called sys.exit(5)"),
])
def test_what_makes_the_environments_must_make_those_asked_for(monkeypatch, name, sentence):
    monkeypatch.setitem(sys.modules, "test_faulty", sys.modules[__name__])
    monkeypatch.setattr(sys.modules[__name__], "shared", lambda: SHARED, raising=False)
    with pytest.raises(ConfigError, match=re.escape(sentence)):
        make_source(GameName(f"gym:test_faulty:{name}"), EnvConfig(), 4, 0)


@pytest.mark.parametrize("vectorization", ["sync", "async"])
def test_an_environment_that_cannot_be_closed_is_a_warning_however_it_is_stepped(monkeypatch, vectorization):
    monkeypatch.setitem(sys.modules, "test_faulty", sys.modules[__name__])
    game = GameName("gym:test_faulty:Stuck")
    with pytest.warns(RuntimeWarning, match="an environment of Stuck raised OSError in close: the door is stuck"):
        source = make_source(game, EnvConfig(vectorization=vectorization), 2, 0)
        Pipeline(source).close()
