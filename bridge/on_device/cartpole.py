"""CartPole on the device: the learner's stream steps the games, and nothing is copied.

Two implementations give the same bits as `envs_c.VecEnv` with the same seed: `CartPoleKernel`, one kernel with one thread per
environment (cartpole.cu), and `CartPoleTensors` (cartpole_tensors.py), about a hundred operations on torch tensors per step.
Their `step` allocates nothing and does not wait, and all counters are in the device's memory, so a step can be captured in a
CUDA graph.
"""

from pathlib import Path

import numpy as np
import torch

import envs_c
from bridge.actions import discrete
from bridge.errors import DeviceError
from bridge.nvrtc import CudaModule
from bridge.on_device.recent import RECENT, newest
from bridge.on_device.snapshots import as_tensor, pack, unpack
from bridge.on_device.tensors import require_tensor
from envs_c.engine import checks

MODULE = CudaModule(Path(__file__).parent / "cartpole.cu")
BLOCKS = (32, 64, 128, 256, 512, 1024)  # sizes of a thread block to choose from
MULTIPLIER = 6364136223846793005        # of PCG32; see envs_c/rng.pxd


class CartPole:
    """N environments of CartPole on a device. Base class of both implementations.

    num_envs: N, 1 to 2^24.
    device: a torch device.
    seed: environment i draws from the generator (seed, first + i).
    time_limit: steps after which an episode is truncated; None for the game's own limit (500), 0 for no limit.
    reward_clip: c to clip rewards to [-c, c], or (low, high), or None.
    sticky: probability of repeating the action of the previous step.
    work: how many times a step does its arithmetic; the result stays the same (benchmarks.speed.scaling).
    first: number of the first environment.

    Attributes:
    ended: (N,) uint8, 1 if the last step ended an episode.
    ended_return, ended_length: (N,) float32 and (N,) int32, raw return and length in steps of the last ended episode of each
        environment.

    Raises envs_c.InvalidArgument if a setting is out of range.
    """

    device_types: tuple[str, ...] = ("cpu", "cuda")  # where it can run
    saves = True          # `state` holds the environments
    action_mask_size = 0  # there is no action mask

    def __init__(self, num_envs: int, device, seed: int, *, time_limit: int | None = None, reward_clip=None,
                 sticky: float = 0.0, work: int = 1, first: int = 0):
        game = envs_c.game("cartpole")
        self.num_envs = checks.integer("num_envs", num_envs, 1, 1 << 24)
        self.device = torch.device(device)
        self.actions, self.num_actions = game.actions, len(game.actions)
        self.action_space = discrete(self.num_actions)
        self.observation_shape, self.observation_dtype = game.feature_shape, game.feature_dtype
        self.time_limit = checks.time_limit(time_limit, game)
        self.sticky = checks.number("sticky", sticky, 0.0, 1.0)
        self.work = checks.integer("work", work, 1, 1_000_000)
        low, high = checks.reward_clip(reward_clip)
        self.step_reward = max(min(1.0, high), low)  # after clipping; the raw reward of a step is 1
        self.ended = self._zeros(torch.uint8)
        self.ended_return, self.ended_length = self._zeros(torch.float32), self._zeros(torch.int32)
        self._poles = self._zeros(torch.float64, 4)  # x (m), x_dot (m/s), theta (rad), theta_dot (rad/s)
        self.device = self._poles.device             # now with its index
        key, self._first = checks.integer("seed", seed, 0, (1 << 64) - 1), checks.integer("first", first, 0, 1 << 30)
        self._rng = torch.from_numpy(seeded(key, self.num_envs, self._first)).to(self.device)
        self._length, self._last_action = self._zeros(torch.int32), self._zeros(torch.int32)
        self._over = self._zeros(torch.uint8)
        self._totals = self._zeros(torch.int64, 2)   # number of ended episodes, and sum of their steps
        self._recent = self._zeros(torch.int32, RECENT)  # lengths of the newest episodes
        self._started = False

    def _zeros(self, dtype: torch.dtype, *before: int) -> torch.Tensor:
        return torch.zeros(*before, self.num_envs, dtype=dtype, device=self.device)

    @property
    def episodes(self) -> torch.Tensor:
        """(1,) int64: number of episodes ended since `clear_totals`."""
        return self._totals[0].sum(0, keepdim=True)

    @property
    def length_sum(self) -> torch.Tensor:
        """(1,) int64: sum of their lengths in steps, which is also the sum of their raw returns."""
        return self._totals[1].sum(0, keepdim=True)

    def reset(self, observation, reward, terminated, truncated):
        """Begin new episodes. Write observation (N, 4), and zeros to reward, terminated and truncated (N,).

        All are contiguous float32 tensors on the device. Raises ValueError before writing if one is not.
        """
        self._check(observation, reward, terminated, truncated)
        self._reset(observation, reward, terminated, truncated)
        self._started = True

    def step(self, actions, observation, reward, terminated, truncated):
        """Step all environments. After the end of an episode, the next step only resets ("next_step" autoreset).

        actions: (N,) int32, 0 LEFT or 1 RIGHT. Not checked, since a check would wait for the device.
        observation, reward, terminated, truncated: written, as in `reset`.
        Raises envs_c.NotReset before the first reset, and ValueError as `reset`.
        """
        if not self._started:
            raise envs_c.NotReset("these environments of cartpole were never reset: call reset() first")
        self._check(observation, reward, terminated, truncated)
        require_tensor("actions", actions, torch.int32, (self.num_envs,), self.device)
        self._step(actions, observation, reward, terminated, truncated)

    def _check(self, observation, reward, terminated, truncated):
        require_tensor("observation", observation, torch.float32, (self.num_envs, 4), self.device)
        require_tensor("reward", reward, torch.float32, (self.num_envs,), self.device)
        require_tensor("terminated", terminated, torch.float32, (self.num_envs,), self.device)
        require_tensor("truncated", truncated, torch.float32, (self.num_envs,), self.device)

    def take_ended(self) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return the episodes that ended since `clear_totals`, up to RECENT of each environment, and clear the totals.

        Returns returns (float64), lengths (int32) and numbers of the environments (int64). Waits for the device.
        """
        ended = newest(self._totals[0], self._recent, self._recent)  # each step has the raw reward 1
        self.clear_totals()
        return ended

    def clear_totals(self):
        """Set the counters of ended episodes to zero."""
        self._totals.zero_()

    def state(self) -> dict[str, torch.Tensor]:
        """Return the environments for a checkpoint, as bridge.source.GameSource does."""
        return {"environments": as_tensor(pack(self.arrays()))}

    def restore(self, state: dict[str, torch.Tensor]):
        """Put back the result of `state`, also that of a GameSource. Raises envs_c.InvalidState if it does not fit."""
        for name, tensor in unpack(state["environments"].numpy().tobytes(), self.num_envs).items():
            self.arrays()[name].copy_(tensor)
        self._started = True

    def reseed(self, seed: int):
        """Seed the environments as new ones with this seed are; it acts at their next reset."""
        self._rng.copy_(torch.from_numpy(seeded(seed, self.num_envs, self._first)))

    def environment_dims(self) -> dict[str, int | str]:
        """Names in `state`, with their environment dimension."""
        return {"environments": "snapshot"}

    def arrays(self) -> dict[str, torch.Tensor]:
        """Return all tensors needed to go on from here, by name. A step changes them."""
        return {"poles": self._poles, "rng": self._rng, "length": self._length, "last_action": self._last_action,
                "over": self._over, "totals": self._totals, "ended": self.ended, "ended_return": self.ended_return,
                "ended_length": self.ended_length}


class CartPoleKernel(CartPole):
    """CartPole with one kernel per step.

    block: threads in a block; None searches `BLOCKS` for the fastest one on this GPU.
    module: launches the kernels.
    settings: as for CartPole.

    Attributes:
    block_seconds: seconds per step by block size, if they were searched.

    Raises DeviceError if the device is not a GPU.
    """

    device_types: tuple[str, ...] = ("cuda",)

    def __init__(self, num_envs: int, device, seed: int, *, block: int | None = None, module=MODULE, **settings):
        super().__init__(num_envs, device, seed, **settings)
        if module is MODULE and self.device.type != "cuda":
            raise DeviceError(f"the kernel needs a GPU, but device is '{self.device}': use CartPoleTensors")
        self.module = module
        self.block_seconds: dict[int, float] = {}
        self.block = checks.integer("block", 128 if block is None else block, 1, 1024)
        if block is None and self.device.type == "cuda":
            self.block_seconds = self._search()
            self.block = min(self.block_seconds, key=self.block_seconds.get)

    def _reset(self, observation, reward, terminated, truncated):
        self.module.launch("cartpole_reset", self.num_envs, self._poles, self._rng, self._length, self._last_action, self._over,
                           observation, reward, terminated, truncated, self.ended, self.num_envs, block=self.block)

    def _step(self, actions, observation, reward, terminated, truncated):
        self.module.launch("cartpole_step", self.num_envs, self._poles, self._rng, self._length, self._last_action, self._over,
                           actions, observation, reward, terminated, truncated, self.ended, self.ended_return,
                           self.ended_length, self._totals, self._recent, RECENT, self.num_envs, self.time_limit, self.work,
                           self.sticky, self.step_reward, block=self.block)

    def _search(self, rounds: int = 3, steps: int = 20) -> dict[int, float]:
        """Return the seconds per step with each block size, the least of several rounds. Leaves the environments unchanged."""
        before = {name: tensor.clone() for name, tensor in self.arrays().items()}
        out = [self._zeros(torch.float32) for _ in range(3)]
        out.insert(0, torch.zeros(self.num_envs, 4, device=self.device))
        actions = torch.zeros(self.num_envs, dtype=torch.int32, device=self.device)
        self.reset(*out)
        seconds = dict.fromkeys(BLOCKS, float("inf"))
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        for _ in range(rounds):
            for block in BLOCKS:
                self.block = block
                self.step(actions, *out)
                begin.record()
                for _ in range(steps):
                    self.step(actions, *out)
                end.record()
                end.synchronize()
                seconds[block] = min(seconds[block], begin.elapsed_time(end) / 1000 / steps)
        for name, tensor in before.items():
            self.arrays()[name].copy_(tensor)
        self._started = False
        return seconds


def seeded(seed: int, num_envs: int, first: int = 0) -> np.ndarray:
    """(2, N) int64: states and streams of the generators (seed, first + i), as rng_seed in envs_c/rng.pxd sets them."""
    def mix(z):
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))

    key = mix(np.array([(seed + 0x9E3779B97F4A7C15) % (1 << 64)], np.uint64))
    stream = (mix(key ^ np.arange(first, first + num_envs, dtype=np.uint64)) << np.uint64(1)) | np.uint64(1)
    state = mix(key + stream) * np.uint64(MULTIPLIER) + stream
    return np.stack([state, stream]).view(np.int64)
