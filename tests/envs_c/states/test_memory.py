"""Memory of many environments: hardly more than their observations and states; too many are an error before they are made."""

import copy
import json
import os
import pickle
import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from gymnasium.vector.utils import batch_space
from support import TOY

import envs_c
from envs_c import machine, outside
from envs_c.gymnasium_env import batched, buffers
from envs_c.testing import play

COUNTING = pytest.mark.skipif(not buffers.COUNTED, reason="needs a Python that counts references")
PEAK = """
import json, resource, sys
import numpy as np
import envs_c
def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
def play(num_envs):
    env = envs_c.make("breakout", num_envs, view="pixels", copy=False, num_threads=1)
    observation, _ = env.reset(seed=1)
    env.step(np.zeros(num_envs, np.int32))
    return observation.nbytes + num_envs * env.core.stride
play(10)
before = peak()
size = play(int(sys.argv[1]))
print(json.dumps([peak() - before, size]))
"""


@pytest.mark.skipif(sys.platform != "linux" or "SANITIZE" in os.environ, reason="needs Linux's peak memory, and no sanitizer")
def test_many_environments_take_hardly_more_than_their_observations_and_states():
    done = subprocess.run([sys.executable, "-c", PEAK, "20000"], capture_output=True, text=True, check=True)
    taken, size = json.loads(done.stdout)
    assert size > 20_000 * 84 * 84
    assert taken < 1.3 * size


@pytest.mark.parametrize("settings", [{"view": "pixels"}, {"view": "pixels", "frame_stack": 3}, {}], ids=str)
def test_the_batched_space_is_gymnasiums(settings):
    env = envs_c.make("breakout", 5, **settings)
    ours, theirs = env.observation_space, batch_space(env.single_observation_space, 5)
    assert ours == theirs and theirs == ours and repr(ours) == repr(theirs)
    for name in ("low", "high", "bounded_below", "bounded_above"):
        assert np.array_equal(getattr(ours, name), getattr(theirs, name))
    assert ours.is_bounded() == theirs.is_bounded()
    ours.seed(3), theirs.seed(3)
    assert np.array_equal(ours.sample(), theirs.sample())
    assert pickle.loads(pickle.dumps(ours)) == theirs
    assert env.reset()[0] in ours


def test_the_batched_space_of_a_million_has_one_copy_of_the_bounds():
    space = batched(envs_c.make("breakout", view="pixels").single_observation_space, 1_000_000)
    assert space.shape == (1_000_000, 84, 84)
    assert space.is_bounded() and repr(space).startswith("Box(0, 255, (1000000, 84, 84)")
    assert not {"low", "high", "bounded_below", "bounded_above"} & vars(space).keys()


@pytest.mark.parametrize("name", ["low", "high"])
def test_a_bound_of_the_batched_space_can_be_written_like_gymnasiums(name):
    env = envs_c.make("breakout", 5)
    ours, theirs = env.observation_space, batch_space(env.single_observation_space, 5)
    for space in (ours, theirs):
        getattr(space, name)[1, 0] += 0.5
    assert ours == theirs and ours != envs_c.make("breakout", 5).observation_space
    ours.seed(3), theirs.seed(3)
    assert np.array_equal(ours.sample(), theirs.sample())
    assert not ours.contains(batch_space(env.single_observation_space, 4).low)
    for other in (pickle.loads(pickle.dumps(ours)), copy.deepcopy(ours)):
        assert other == theirs and np.array_equal(getattr(other, name), getattr(theirs, name))


@pytest.fixture
def little_memory(tmp_path, monkeypatch):
    """A machine with 100 MB of free memory."""
    file = tmp_path / "meminfo"
    file.write_text("MemTotal: 500000 kB\nMemAvailable: 97656 kB\n", encoding="utf-8")
    monkeypatch.setattr(machine, "MEMORY", file)
    monkeypatch.setattr(machine, "OWN_GROUPS", tmp_path / "none")


@pytest.mark.parametrize(("settings", "message"), [
    ({"num_envs": 1 << 24, "view": "pixels"}, r"16,777,216 environments of breakout need 12\d\.\d GB of memory \(states "
                                              r"[\d.]+ GB, observations 118\.4 GB\), but 100\.0 MB are free: make fewer"),
    ({"num_envs": 14_000, "view": "pixels"}, "14,000 environments of breakout need"),
    ({"num_envs": 8_000, "view": "pixels", "autoreset": "same_step"}, r"last observations 56\.4 MB"),
    ({"num_envs": 2_000, "view": "pixels", "frame_stack": 10}, r"stacked frames 141\.1 MB"),
    ({"num_envs": 1_200, "view": "pixels", "frame_stack": 6}, r"stacked frames 50\.8 MB, copies 50\.8 MB\)"),
    pytest.param({"num_envs": 4_000, "view": "pixels"}, r"observations 28\.2 MB, copies 84\.7 MB\)", marks=COUNTING),
    pytest.param({"num_envs": 3_000, "name": "go", "view": "pixels", "autoreset": "same_step"}, r"action masks 492\.0 kB\)",
                 marks=COUNTING),
], ids=str)
def test_what_does_not_fit_is_an_error_before_it_is_allocated(little_memory, settings, message):
    tracemalloc.start()
    try:
        with pytest.raises(MemoryError, match=message):
            envs_c.make(**{"name": "breakout", **settings})
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("settings", [{"num_envs": 4_000, "copy": False}, {"num_envs": 3_000}], ids=str)
def test_what_fits_is_made(little_memory, settings):
    envs_c.make("breakout", view="pixels", **settings).close()


def test_a_system_that_does_not_say_its_free_memory_refuses_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(machine, "MEMORY", tmp_path / "none")
    monkeypatch.setattr(machine, "OWN_GROUPS", tmp_path / "none")
    assert machine.free_memory() is None
    envs_c.make("breakout", 100).close()


MB = 1_000_000
NO_LIMIT = (1 << 63) - 4096  # of version 1


@pytest.mark.parametrize(("own", "groups", "free"), [
    ("0::/", {}, 100), ("0::/", {"": ("max", 30, 0)}, 100), ("0::/", {"": (70, 30, 0)}, 40), ("0::/", {"": (70, 60, 20)}, 30),
    ("0::/a/b", {"": ("max", 90, 0), "a": (80, 20, 0), "a/b": ("max", 10, 0)}, 60),
    ("0::/a/b", {"a": (80, 20, 0), "a/b": (30, 10, 5)}, 25), ("0::/a", {"a": (70, 75, 0)}, 0),
    ("0::/the/host's/name", {"": (70, 30, 0)}, 40),
    ("3:cpu,cpuacct:/\n2:memory:/docker/1\n0::/", {"memory": (60, 20, 5)}, 45),
    ("2:memory,hugetlb:/a", {"memory": (NO_LIMIT / MB, 90, 0), "memory/a": (80, 10, 0)}, 70),
    ("2:memory:/", {"memory": (NO_LIMIT / MB, 90, 0)}, 100), ("2:cpu:/", {"memory": (60, 20, 0)}, 100),
])
def test_the_free_memory_of_a_container_is_what_the_limits_of_its_control_groups_leave(
        little_memory, tmp_path, monkeypatch, own, groups, free):
    """groups: folder -> (limit, usage, cached pages of files of which half are active), in MB."""
    (tmp_path / "own").write_text(f"{own}\n", encoding="utf-8")
    monkeypatch.setattr(machine, "OWN_GROUPS", tmp_path / "own")
    monkeypatch.setattr(machine, "CONTROL_GROUPS", tmp_path / "groups")
    for folder, (limit, used, cached) in groups.items():
        first = folder.startswith("memory")
        files = {"memory.limit_in_bytes" if first else "memory.max": limit if limit == "max" else round(limit * MB),
                 "memory.usage_in_bytes" if first else "memory.current": used * MB, "memory.stat": "\n".join(
                     f"{'total_' if first else ''}{name} {cached * MB // 2}" for name in ("active_file", "inactive_file"))}
        (tmp_path / "groups" / folder).mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            (tmp_path / "groups" / folder / name).write_text(f"{content}\n", encoding="utf-8")
    assert machine.free_memory() == pytest.approx(free * MB, abs=1000)


@pytest.mark.skipif(not Path("/proc/meminfo").exists(), reason="needs Linux")
def test_the_free_memory_is_a_part_of_all():
    assert 1 << 20 < machine.free_memory() <= os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


@pytest.fixture(scope="module")
def many_actions(tmp_path_factory):
    """The toy with 4,096 actions, of which a mask has 4 written."""
    folder = tmp_path_factory.mktemp("many")
    path, old = folder / "many.pyx", 'actions=("NOOP", "LEFT", "RIGHT", "JUMP")'
    text = TOY.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, 'actions=[f"A{k}" for k in range(4096)]').replace('name="toy", title="Toy"',
                                                                                      'name="many", title="Many"'), "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ENVS_C_CACHE", str(folder / "cache"))
        return outside.load(path)


@pytest.mark.skipif(sys.platform != "linux", reason="needs a system that gives memory when it is touched")
@pytest.mark.parametrize("name", ["action_mask", "final_action_mask"])
def test_rows_of_a_mask_beyond_two_gigabytes_are_written_in_their_place(many_actions, name):
    """Behind as many bytes, in which a row of a wrapped number would lie."""
    num_envs, before = (1 << 19) + 1, 1 << 31
    core = envs_c.VecEnv(many_actions, num_envs, seed=1, autoreset="same_step", num_threads=1)
    arrays = {key: value for key, value in play.buffers(core).items() if "mask" not in key}
    core.bind(0, num_envs, **arrays).reset()
    mask = np.zeros(before + num_envs * 4096, np.uint8)[before:].reshape(num_envs, 4096)
    batch, last = core.bind(0, num_envs, **arrays, **{name: mask}), np.arange(num_envs) == num_envs - 1
    arrays["actions"][:] = 2  # to the right
    for _ in range(100):
        batch.step(last)
        if arrays["terminated"][-1]:
            break
    assert arrays["terminated"][-1] and mask[-1, :4].any()
