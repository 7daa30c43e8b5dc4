"""Many Python threads, each with environments of its own, with the GIL and without it (free-threaded Python, such as 3.14t)."""

import hashlib
import importlib.util
import sys
import sysconfig
import threading
import time

import numpy as np
import pytest
from Cython.Build import cythonize
from setuptools import Extension
from support import TOY, vector

import envs_c
from envs_c import flags, outside
from envs_c.testing.play import actions_of, bind, buffers

pytestmark = pytest.mark.threads
THREADS, STEPS = 8, 150
no_gil = pytest.mark.skipif(not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="needs a free-threaded Python")


def together(work, count: int = THREADS) -> list:
    """Call work(0) .. work(count - 1) in threads that begin at the same moment. Returns their results; raises their errors."""
    results, errors, start = [None] * count, [], threading.Barrier(count)

    def run(k):
        try:
            start.wait()
            results[k] = work(k)
        except Exception as error:
            errors.append(error)
    threads = [threading.Thread(target=run, args=(k,)) for k in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for error in errors:
        raise error
    return results


def played(game, seed: int, view: str, num_threads: int = 1) -> str:
    """A hash of everything that environments of this seed return, from making them to closing them."""
    tape = hashlib.blake2b(digest_size=8)
    env = vector(game, 5, view=view, seed=seed, num_threads=num_threads, time_limit=40, autoreset="same_step")
    tape.update(np.ascontiguousarray(env.reset()[0]))
    for actions in actions_of(game, STEPS, 5):
        for output in env.step(actions)[:4]:
            tape.update(np.ascontiguousarray(output))
    tape.update(env.core.get_state())
    tape.update(np.ascontiguousarray(env.core.render(0)))
    env.close()
    return tape.hexdigest()


@pytest.mark.parametrize("num_threads", [1, 2])
def test_many_threads_with_environments_of_their_own_get_what_one_thread_gets(each_kind, view, num_threads):
    alone = [played(each_kind, seed, view) for seed in range(THREADS)]
    assert len(set(alone)) > 1
    assert together(lambda k: played(each_kind, k, view, num_threads)) == alone


def test_threads_that_share_an_environment_are_refused_or_get_whole_results(toy):
    """Every call of 8 threads either raises Busy or is one of the calls that one thread would make."""
    env, single = vector(toy, 64, seed=1, num_threads=1), vector(toy, 64, seed=1, num_threads=1)
    actions = np.zeros(64, np.int32)
    env.reset(), single.reset()

    def step(k):
        count = 0
        for _ in range(STEPS):
            try:
                env.step(actions)
                count += 1
            except envs_c.Busy:
                pass
        return count
    for _ in range(sum(together(step))):
        single.step(actions)
    assert env.core.get_state() == single.core.get_state()


def test_batches_of_one_engine_are_reset_in_many_threads(toy):
    """No batch is taken for a started one because another one counts the environments that are not."""
    for seed in range(20):
        core = envs_c.VecEnv(toy, 8 * THREADS, seed=seed, num_threads=1)
        arrays = buffers(core)
        batches = [bind(core, arrays, 8 * k, 8 * k + 8) for k in range(THREADS)]

        def reset_half(k, batches=batches):
            if k % 2:
                batches[k].reset()
            else:
                with pytest.raises(envs_c.NotReset):
                    batches[k].step()
        together(reset_half)
        together(lambda k, batches=batches: batches[k].reset())
        assert sum(together(lambda k, batches=batches: batches[k].step())) == 0


def test_a_game_from_outside_is_initialised_by_one_thread(shared_folder, monkeypatch):
    monkeypatch.setenv("ENVS_C_CACHE", str(shared_folder / "toy"))
    module = outside.built(TOY)
    monkeypatch.delitem(sys.modules, f"envs_c_outside_{TOY.stem}_{module.parent.name}", raising=False)
    real, inside, most = importlib.util.module_from_spec, [], []

    def slow(spec):
        inside.append(spec)
        most.append(len(inside))
        time.sleep(0.02)  # another thread may come here
        inside.pop()
        return real(spec)
    monkeypatch.setattr(outside.importlib.util, "module_from_spec", slow)
    games = together(lambda k: outside.load(TOY))
    assert most == [1] and all(game is games[0] for game in games)


def test_compiled_modules_declare_that_they_need_no_gil(tmp_path):
    source = tmp_path / "small.pyx"
    source.write_text("def answer(): return 1\n", encoding="utf-8")
    cythonize([Extension("small", [str(source)])], build_dir=str(tmp_path), compiler_directives=flags.directives(), quiet=True)
    (emitted,) = tmp_path.rglob("small.c")
    assert "#define __Pyx_FREETHREADING_COMPATIBLE Py_MOD_GIL_NOT_USED" in emitted.read_text(encoding="utf-8")


@no_gil
def test_no_game_turns_the_gil_on():
    for name in envs_c.games():
        envs_c.game(name)
    assert not sys._is_gil_enabled()
