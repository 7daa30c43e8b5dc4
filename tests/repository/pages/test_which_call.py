"""docs/which_call.md: every call of its table works, and gives the observation that stands beside it."""

import contextlib
import importlib
import re

import gymnasium
import pytest
from setup_support import ROOT

import envs_c
import insertcoin

ROW = re.compile(r"^\| (?P<library>[^|]+) \| `(?P<call>\w[^`]*\(.*\))` \| (?P<wanted>\([\d, ]+\) \w+) \|", re.MULTILINE)
ROWS = list(ROW.finditer((ROOT / "docs" / "which_call.md").read_text(encoding="utf-8")))
NEEDED = {"sb3": "stable_baselines3", "torchrl": "torchrl"}  # a word of a call, and the package that it needs


def first_observation(env):
    """The observation of a reset, whatever the library's form of it."""
    if hasattr(env, "async_reset"):
        env.async_reset()
        return env.recv()[0]
    result = env.reset()
    if isinstance(result, tuple):
        return result[0]
    return result["observation"].numpy() if hasattr(result, "keys") else result


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["library"])
def test_a_call_gives_the_observation_beside_it(row):
    for word, package in NEEDED.items():
        if word in row["call"]:
            pytest.importorskip(package)
    names = {"insertcoin": insertcoin, "envs_c": envs_c, "gymnasium": gymnasium}
    if "torchrl" in row["call"]:
        importlib.import_module("torchrl.envs")
        names["torchrl"] = importlib.import_module("torchrl")
    if "sb3" in row["call"]:
        importlib.import_module("envs_c.sb3")
    with contextlib.closing(eval(row["call"], names)) as env:
        observation = first_observation(env)
        assert f"{observation.shape} {observation.dtype}" == row["wanted"]


def test_every_library_of_the_pages_has_a_row():
    named = " ".join(row["library"] for row in ROWS)
    assert len(ROWS) == 11
    assert all(name in named for name in ("NumPy", "Gymnasium", "stable-baselines3", "CleanRL", "EnvPool", "PufferLib", "ALE"))
