"""Objects used against their purpose: unfinished, made twice, or used by two threads at once. Each is an error, no crash."""

import contextlib
import math
import threading
import time

import numpy as np
import pytest
from support import vector

import envs_c
from envs_c import Batch, Busy, Closed, ContractError, InvalidArgument, VecEnv
from envs_c.engine.engine import Engine
from envs_c.engine.vecenv import BUFFERS
from envs_c.game import Game
from envs_c.new import new
from envs_c.testing.play import bind, buffers

N = 5


class Silent:
    """A value whose repr raises."""

    def __repr__(self):
        raise ZeroDivisionError


def test_a_game_without_its_compiled_functions_is_refused():
    bare = Game(name="bare", title="Bare", summary="A game.", version=1, actions=("GO",), feature_shape=(1,))
    for game in (bare, Game.__new__(Game)):
        with pytest.raises(ContractError, match=r"must have compiled functions.*\.bind\(chunk"):
            VecEnv(game, N)


def test_a_finished_game_is_not_described_again(toy):
    with pytest.raises(ContractError, match="finished game 'toy'"):
        toy.__init__(name="bare", title="Bare", summary="A game.", version=1, actions=("GO",), feature_shape=(1,))
    assert toy.name == "toy"


@pytest.mark.parametrize("game", [Game.__new__(Game), 5, None, "breakout", np.uint8(1)], ids=range(5))
def test_only_a_described_game_is_registered(game):
    before = envs_c.games()
    with pytest.raises(InvalidArgument, match="game must be a Game"):
        envs_c.register(game)
    assert envs_c.games() == before


@pytest.mark.parametrize("use", [lambda: envs_c.load("~nosuchuser/mine.pyx"), lambda: new("homeless", "~nosuchuser")],
                         ids=["load", "new"])
def test_the_home_of_an_unknown_user_is_an_error(use):
    with pytest.raises(InvalidArgument, match="must not name the home of an unknown user"):
        use()


def test_a_name_without_a_repr_is_an_unknown_game():
    with pytest.raises(envs_c.UnknownGame, match="of type Silent that cannot be shown"):
        envs_c.game(Silent())


@pytest.mark.parametrize(("lo", "hi"), [(2**40, N), (0, 10**400), (0.5, N), (0, math.inf), (None, N), ("0", N), (True, N)],
                         ids=lambda value: repr(value)[:9])
def test_a_batch_lies_between_integers(toy, lo, hi):
    core = VecEnv(toy, N)
    with pytest.raises(InvalidArgument, match=r"^(lo|hi) must be an integer from"):
        core.bind(lo, hi, **buffers(core))


@pytest.mark.parametrize(("lo", "hi"), [(0, N + 1), (-1, 2), (3, 2), (2, 2), (0, 2**31 - 1)])
def test_a_batch_made_by_hand_lies_among_the_environments(toy, lo, hi):
    with pytest.raises(InvalidArgument, match=rf"of 0 \.\. 4, not {lo} \.\. {hi - 1}"):
        Batch(VecEnv(toy, N), lo, hi, *buffers(VecEnv(toy, max(1, min(hi - lo, 10)))).values())


@pytest.mark.parametrize("cls", [VecEnv, Engine])
@pytest.mark.parametrize("use", ["seed", "over", "render", "get_state", "bind"])
def test_environments_that_were_never_initialised_are_an_error(toy, cls, use):
    env = cls.__new__(cls)
    if not hasattr(env, use):
        return
    arguments = (0, N) if use == "bind" else ()
    with pytest.raises(InvalidArgument, match="must be initialised"):
        getattr(env, use)(*arguments, **buffers(VecEnv(toy, N)) if use == "bind" else {})
    env.close()


@pytest.mark.parametrize("use", ["reset", "step", "observe", "_step_unchecked"])
def test_a_batch_that_was_never_initialised_is_an_error(use):
    with pytest.raises(InvalidArgument, match=r"VecEnv\.bind"):
        getattr(Batch.__new__(Batch), use)()


def test_a_batch_whose_making_failed_is_an_error(toy):
    batch = Batch.__new__(Batch)
    arrays = {**buffers(VecEnv(toy, N)), "truncated": None}
    with pytest.raises(InvalidArgument, match="buffer truncated"):
        batch.__init__(VecEnv(toy, N), 0, N, *arrays.values())
    with pytest.raises(InvalidArgument, match=r"VecEnv\.bind"):
        batch.step()


def test_a_second_init_is_an_error_and_changes_nothing(toy):
    core = VecEnv(toy, N, seed=1)
    arrays = buffers(core)
    batch = bind(core, arrays, 0, N)
    batch.reset()
    before = core.get_state()
    with pytest.raises(InvalidArgument, match="__init__ must be called once"):
        core.__init__(toy, 1)
    with pytest.raises(InvalidArgument, match="__init__ must be called once"):
        batch.__init__(core, 0, N, *arrays.values())
    batch.observe()
    assert core.get_state() == before
    core.close()
    with pytest.raises(InvalidArgument, match="__init__ must be called once"):
        core.__init__(toy, 1)


@pytest.mark.parametrize("first", BUFFERS)
def test_buffers_that_overlap_are_refused(toy, first):
    core = VecEnv(toy, N, **({"view": "both", "picture_size": 3} if "picture" in first else {}))
    arrays = buffers(core)
    memory = np.zeros(2000, np.uint8)
    second = next(name for name in BUFFERS if name != first)
    for name, at in ((first, 0), (second, arrays[first].nbytes - 4 & ~3)):
        size = arrays[name].nbytes
        arrays[name] = memory[at : at + size].view(arrays[name].dtype).reshape(arrays[name].shape)
    with pytest.raises(InvalidArgument, match=f"buffers {first} and {second} must not overlap"):
        core.bind(0, N, **arrays)


def in_another_thread(work):
    """Begin `work` in a thread, and return it when the work has begun."""
    thread = threading.Thread(target=work)
    thread.start()
    return thread


USES = {
    "close": lambda env, core, batch: core.close(),
    "seed": lambda env, core, batch: core.seed(1),
    "over": lambda env, core, batch: core.over(),
    "render": lambda env, core, batch: core.render(0),
    "get_state": lambda env, core, batch: core.get_state(),
    "step": lambda env, core, batch: batch.step(),
    "reset": lambda env, core, batch: batch.reset(),
    "observe": lambda env, core, batch: batch.observe(),
    "a batch that overlaps": lambda env, core, batch: bind(core, buffers(core), 10, 20).step(),
}


def long_core(toy, num_threads=1):
    """Environments whose step takes tens of milliseconds without the GIL."""
    core = VecEnv(toy, 4096, frame_skip=100, num_threads=num_threads, seed=1, options={"length": 20, "wind": 0})
    batch = bind(core, buffers(core), 0, 4096)
    batch.reset()
    return core, batch


@pytest.mark.threads
@pytest.mark.parametrize("num_threads", [1, 2])
def test_every_use_during_a_step_of_another_thread_is_an_error(toy, num_threads):
    core, batch = long_core(toy, num_threads)
    stop, refused = threading.Event(), {}

    def step():
        while not stop.is_set():
            try:
                batch.step()
            except Busy:
                refused["step in the other thread"] = 1

    thread = in_another_thread(step)
    deadline = time.monotonic() + 120
    try:
        for name, use in USES.items():
            if name == "close":
                continue
            while name not in refused and time.monotonic() < deadline:
                try:
                    use(None, core, batch)
                except Busy as error:
                    refused[name] = str(error)
    finally:
        stop.set()
        thread.join()
    assert set(USES) - {"close"} <= set(refused)
    assert "toy environments are in use by another thread: wait" in refused["seed"]


@pytest.mark.threads
def test_close_during_a_step_of_another_thread_frees_nothing(toy):
    core, batch = long_core(toy)
    stop, message = threading.Event(), None

    def step():
        while not stop.is_set():
            batch.step()

    thread = in_another_thread(step)
    while message is None and thread.is_alive():
        with pytest.raises(Busy) as caught:
            core.close()
        message = str(caught.value)
    stop.set()
    thread.join()
    assert not core.closed
    assert "in use by another thread" in message
    core.close()
    with pytest.raises(Closed):
        batch.step()


@pytest.mark.threads
def test_after_a_busy_error_the_environments_go_on(toy):
    core, batch = long_core(toy)
    thread = in_another_thread(lambda: [batch.step() for _ in range(3)])
    while thread.is_alive():
        with contextlib.suppress(Busy):
            core.over()
        time.sleep(0.001)
    core.get_state()
    batch.step()
    core.close()


@pytest.mark.threads
def test_two_threads_never_mix_their_actions(toy):
    """Each step of the Gymnasium interface is whole: its results are those of its own actions."""
    env = vector(toy, 2000, frame_skip=200, num_threads=1, seed=1, copy=True, autoreset="next_step")
    env.reset()
    together, refused, mixed = threading.Barrier(4), [], []

    def play(action):
        together.wait()
        played = 0
        while played < 20 and len(refused) < 10_000:
            try:
                (_, _, last), (frames, _, _) = env.step(np.full(2000, action))[0].transpose(1, 2, 0)
            except Exception as error:
                refused.append(error)
                time.sleep(0.001)
            else:
                played += 1
                mixed.extend((action, other) for other in set(last[frames > 0].tolist()) - {action})  # 0 frames: just reset

    threads = [in_another_thread(lambda a=action: play(a)) for action in range(4)]
    for thread in threads:
        thread.join()
    assert mixed == []
    assert refused
    assert all(isinstance(error, Busy) for error in refused)
    env.step(np.zeros(2000, int))


def test_the_marks_of_dropped_batches_are_used_again(toy):
    core = VecEnv(toy, N, seed=1)
    for _ in range(1000):
        batch = bind(core, buffers(core), 0, N)
    batch.reset()
    batch.step()
