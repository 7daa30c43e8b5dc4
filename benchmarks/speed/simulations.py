"""The CartPole simulations that `python -m benchmarks.speed.scaling` compares. All have one interface.

`work` multiplies the arithmetic of a step, without a change of its result. The cost of writes, copies, launches and processes
stays the same. On a device and in our games it is a loop within the step (a second CartPole is compiled with such a loop).
Gymnasium's step, which is NumPy calls on all environments, is called several times. In stable-baselines3's processes each
environment steps several times before it answers.
"""

import functools
import importlib.util
import multiprocessing
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import gymnasium
import numpy as np
import torch

import envs_c
from bridge import Pipeline, open_device, why_no_gpu
from bridge.on_device.cartpole import CartPoleKernel
from bridge.on_device.cartpole_tensors import CartPoleTensors
from envs_c import outside

ROLL = 16             # steps for which random actions are drawn in advance
BATCHED = 4096        # number of environments from which the pipeline uses several batches
BATCHES = 4           # number of these batches
# Appended to cartpole.pyx: a second game whose step has a loop.
WORKED = '''

from envs_c.game import Option

ctypedef struct Worked:
    CartPole pole
    int work


cdef void reset_worked(void* state, const double* options, Rng* rng) noexcept nogil:
    reset(state, options, rng)
    (<Worked*>state).work = <int>options[0]


cdef float step_worked(void* state, int action, Rng* rng, bint* over) noexcept nogil:
    """An extra round adds its values, times zero, to the angle. So the compiler cannot remove it."""
    cdef Worked* worked = <Worked*>state
    cdef CartPole again
    cdef int _round
    for _round in range(worked.work - 1):
        again = worked.pole
        step(&again, action, rng, over)
        worked.pole.theta += 0.0 * (again.x + again.x_dot + again.theta + again.theta_dot)
    return step(state, action, rng, over)


cdef void chunk_worked(char* states, Io* io, int lo, int hi) noexcept nogil:
    run_chunk(reset_worked, step_worked, observe, draw, NULL, sizeof(Worked), states, io, lo, hi)


GAME = Game(
    name="cartpole_worked", title="CartPoleWorked", version=1, summary="CartPole with repeated arithmetic.",
    actions=("LEFT", "RIGHT"), feature_shape=(4,), screen=(WIDTH, HEIGHT), time_limit=500,
    options={"work": Option(1, 1, 1_000_000, "how many times a step does its arithmetic")},
).bind(chunk_worked, backdrop, draw, sizeof(Worked))
'''


@functools.cache
def worked_game():
    """Return our CartPole with the option `work`. Compiles it on the first call."""
    source = Path(envs_c.__file__).parent / "games" / "cartpole.pyx"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cartpole_worked.pyx"
        path.write_text(source.read_text(encoding="utf-8") + WORKED, encoding="utf-8")
        return outside.load(path)


def game_env(num_envs: int, work: int) -> envs_c.VecEnv:
    """Make our compiled game, on all cores."""
    if work == 1:
        return envs_c.VecEnv(envs_c.game("cartpole"), num_envs, seed=1)
    return envs_c.VecEnv(worked_game(), num_envs, seed=1, options={"work": work})


class Simulation:
    """Base class: N environments.

    steps: steps of all environments in one call of `step`.
    """

    steps = 1

    def step(self):
        """Step all environments `steps` times."""
        raise NotImplementedError

    def finish(self):
        """Wait for the end of the steps, if `step` does not."""

    def close(self):
        """Free the environments."""


class OnDevice(Simulation):
    """CartPole on a torch device.

    kind: CartPoleKernel or CartPoleTensors.
    graph: capture ROLL steps (one step if work > 1) as a CUDA graph and replay them in each call.
    """

    def __init__(self, kind: type, device: str, num_envs: int, work: int, graph: bool = False):
        self.simulation = kind(num_envs, device, 1, work=work)
        self.out = [torch.zeros(num_envs, *shape, device=device) for shape in ((4,), (), (), ())]
        generator = torch.Generator(device).manual_seed(0)
        self.rolls = [torch.randint(0, 2, (num_envs,), dtype=torch.int32, device=device, generator=generator)
                      for _ in range(ROLL)]
        self.taken = 0
        self.simulation.reset(*self.out)
        if graph:
            self._capture(ROLL if work == 1 else 1)

    def step(self):
        self.simulation.step(self.rolls[self.taken % ROLL], *self.out)
        self.taken += 1

    def finish(self):
        if self.simulation.device.type == "cuda":
            torch.cuda.synchronize()

    def _capture(self, steps: int):
        for _ in range(2):
            self.step()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for _ in range(steps):
                self.step()
        self.steps, self.step = steps, graph.replay


class Games(Simulation):
    """Our games on the CPU, which write to the caller's buffers."""

    def __init__(self, num_envs: int, work: int):
        env = game_env(num_envs, work)
        outputs = np.zeros((3, num_envs), np.float32)
        self.actions = np.zeros(num_envs, np.int32)
        self.batch = env.bind(0, num_envs, actions=self.actions, observation=np.zeros((num_envs, 4), np.float32),
                              reward=outputs[0], terminated=outputs[1], truncated=outputs[2])
        self.rolls = np.random.default_rng(0).integers(0, 2, (ROLL, num_envs)).astype(np.int32)
        self.taken = 0
        self.batch.reset()

    def step(self):
        self.actions[:] = self.rolls[self.taken % ROLL]
        self.taken += 1
        self.batch.step()


class Bridged(Simulation):
    """Our games on the CPU. Observations are copied to the device, and actions computed there are copied back."""

    def __init__(self, device: str, num_envs: int, work: int):
        self.pipeline = Pipeline(game_env(num_envs, work), BATCHES if num_envs >= BATCHED else 1, open_device(device))
        self.works = [functools.partial(lean, self.pipeline.slab(batch)) for batch in self.pipeline.batches]
        self.pipeline.reset()

    def step(self):
        for batch in self.pipeline.batches:
            self.pipeline.turn(batch, self.works[batch.index])

    def finish(self):
        self.pipeline.settle()

    def close(self):
        self.pipeline.close()


def lean(slab):
    """Push each cart to the side to which its pole leans."""
    slab.actions.copy_(slab.observation[:, 2] > 0)


class GymnasiumVector(Simulation):
    """Gymnasium's own CartPole in NumPy, with all environments in each operation."""

    def __init__(self, num_envs: int, work: int):
        self.env = gymnasium.make_vec("CartPole-v1", num_envs, vectorization_mode="vector_entry_point")
        self.rolls = np.random.default_rng(0).integers(0, 2, (ROLL, num_envs))
        self.work, self.taken = work, 0
        self.env.reset(seed=1)

    def step(self):
        actions, poles = self.rolls[self.taken % ROLL], self.env.unwrapped
        self.taken += 1
        for _ in range(self.work - 1):
            state, steps, ended = poles.state, poles.steps.copy(), poles.prev_done
            self.env.step(actions)
            poles.state, poles.steps, poles.prev_done = state, steps, ended
        self.env.step(actions)

    def close(self):
        self.env.close()


class Repeated(gymnasium.Wrapper):
    """Repeats the arithmetic of a step `work` times, with the same result."""

    def __init__(self, env: gymnasium.Env, work: int):
        super().__init__(env)
        self.work = work

    def step(self, action):
        pole = self.env.unwrapped
        state = pole.state
        for _ in range(self.work - 1):
            pole.step(action)
            pole.state, pole.steps_beyond_terminated = state, None
        return self.env.step(action)


def repeated(work: int) -> gymnasium.Env:
    """Make Gymnasium's CartPole with repeated arithmetic."""
    return Repeated(gymnasium.make("CartPole-v1", disable_env_checker=True), work)


class Processes(Simulation):
    """The vector environment of stable-baselines3 with one process per environment."""

    def __init__(self, num_envs: int, work: int):
        from stable_baselines3.common.vec_env import SubprocVecEnv
        # imported once, not in each process
        multiprocessing.set_forkserver_preload([__name__, "stable_baselines3.common.vec_env"])
        self.env = SubprocVecEnv([functools.partial(repeated, work)] * num_envs)
        self.rolls = np.random.default_rng(0).integers(0, 2, (ROLL, num_envs))
        self.taken = 0
        self.env.reset()

    def step(self):
        self.env.step(self.rolls[self.taken % ROLL])
        self.taken += 1

    def close(self):
        self.env.close()


class Way(NamedTuple):
    """One kind of simulation."""

    name: str
    make: Callable[[int, int], Simulation]  # (num_envs, work)
    most: int = 1 << 24                     # largest number of environments


def ways(device: str, processes: int) -> tuple[list[Way], list[str]]:
    """Return the simulations that this machine can run, and a sentence for each one that it cannot run.

    device: "auto", "cpu" or "cuda".
    processes: most processes of stable-baselines3.
    Raises DeviceError if device is "cuda" and no GPU can be used.
    """
    if device == "cuda":
        open_device(device)
    found, missing = [], []
    problem = "--device is cpu" if device == "cpu" else why_no_gpu()
    if problem:
        missing.append(f"Not measured: torch tensors, the kernel and our games through the bridge on a GPU: {problem}.")
    else:
        found += [Way("torch tensors, GPU", functools.partial(OnDevice, CartPoleTensors, "cuda")),
                  Way("torch tensors, GPU graph", functools.partial(OnDevice, CartPoleTensors, "cuda", graph=True)),
                  Way("kernel, GPU", functools.partial(OnDevice, CartPoleKernel, "cuda")),
                  Way("kernel, GPU graph", functools.partial(OnDevice, CartPoleKernel, "cuda", graph=True)),
                  Way("our games, bridge to GPU", functools.partial(Bridged, "cuda"))]
    found += [Way("our games, CPU", Games), Way("torch tensors, CPU", functools.partial(OnDevice, CartPoleTensors, "cpu")),
              Way("Gymnasium vector, CPU", GymnasiumVector)]
    if importlib.util.find_spec("stable_baselines3") is None:
        missing.append("Not measured: stable-baselines3, which is not installed (pip install stable-baselines3).")
    else:
        found.append(Way("stable-baselines3 Subproc, CPU", Processes, processes))
        missing.append("stable-baselines3's Subproc starts one process per environment. Not measured: more than "
                       f"{processes} (--processes).")
    return found, missing
