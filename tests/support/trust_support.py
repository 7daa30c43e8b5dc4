"""Runs that name code, for tests of trainer/runs/trust.py. The code leaves a line in the file MARKER when it runs."""

import os
import sys
from pathlib import Path

import gymnasium
from support import TOY
from verb_support import rewrite

from envs_c import catalog
from trainer.config.games import whole

MARK = 'import os\nwith open(os.environ["MARKER"], "a") as marker:\n    marker.write("{}\\n")\n'
MODULE = MARK.format("crafted") + """
import crafted_helper
import gymnasium
from own_encoders import Small
from own_learning import Deep, doubled, same, small_memory
from own_memories import Exported


class Tracker:
    def __init__(self, folder, settings, resume_step):
        pass

    def write(self, step, metrics):
        pass

    def close(self):
        pass


def unchanged(env):
    return env


if "Crafted-v0" not in gymnasium.registry:
    gymnasium.register("Crafted-v0", "gymnasium.envs.classic_control:CartPoleEnv", max_episode_steps=50)
"""

# A setting that names code: its section (None for the game) and its value. The game's path is relative.
NAMES = {"game": (None, "crafted.pyx"), "environment": (None, "gym:crafted:Crafted-v0"),
         "file": (None, "gym:crafted.py:Crafted-v0"), "wrap": ("env", "crafted:unchanged"),
         "encoder": ("policy", "crafted:Small"),
         "memory": ("policy", "crafted:Exported"), "heads": ("policy", "crafted:Deep"),
         "observation_transform": ("policy", "crafted:same"), "reward_transform": ("ppo", "crafted:doubled"),
         "loss": ("ppo", "crafted:small_memory"), "track": ("run", "crafted:Tracker")}
OF_TRAININGS = {"track", "loss", "reward_transform"}  # other verbs do not load them
# The options of a small training.
CODE = ("--num-envs 32 --horizon 64 --minibatch 1024 --total-steps 4096 --encoder-size 8 --lstm-size 8 --num-threads 1 "
        "--device cpu --no-dashboard --no-gif --eval-episodes 2 --track none")


def write_code(folder: Path) -> None:
    """Write a game of its own, crafted.pyx, and the modules crafted and crafted_helper, into `folder`."""
    (folder / "crafted.pyx").write_text(f"{TOY.read_text()}# {folder}\n" + MARK.format("game"))
    (folder / "crafted.py").write_text(MODULE)
    (folder / "crafted_helper.py").write_text(MARK.format("helper"))


def name_code(run: Path, kind: str) -> str:
    """Let the checkpoints of a run name code, with damaged weights; returns the name. kind: a key of NAMES."""
    section, name = NAMES[kind]
    name = whole(name) if section is None else name
    rewrite(run, lambda config: config.update(game=name) if section is None else config[section].update({kind: name}))
    for path in run.glob("*.safetensors"):
        data = bytearray(path.read_bytes())
        data[-1] ^= 1
        path.write_bytes(data)
    return name


def forget() -> None:
    """Forget what this process has loaded, as if the next command ran in a new process."""
    for name in [name for name in sys.modules if name.startswith(("crafted", "envs_c_outside_crafted_"))]:
        del sys.modules[name]
    catalog._registered.pop("toy", None)
    for name in ("Arcade/Toy-v0", "Crafted-v0"):
        gymnasium.registry.pop(name, None)


def ran() -> list[str]:
    """The code that ran since the last call."""
    marker = Path(os.environ["MARKER"])
    lines = marker.read_text().splitlines() if marker.exists() else []
    marker.unlink(missing_ok=True)
    return lines
