"""CartPole played on the device itself: nothing is copied, and the learner's stream steps the games.

Two ways to the bits that `envs_c.VecEnv` gives with the same seed: `CartPoleKernel`, one kernel with a thread an environment
(cartpole.cu), and `CartPoleTensors` (cartpole_tensors.py), some hundred operations on torch tensors a step. Neither allocates
nor waits in `step`, and all counters lie in the device's memory, so that it can be captured in a CUDA graph.
"""

from pathlib import Path

import numpy as np
import torch

import envs_c
from bridge.errors import DeviceError
from bridge.nvrtc import CudaModule
from envs_c import checks

MODULE = CudaModule(Path(__file__).parent / "cartpole.cu")
BLOCKS = (32, 64, 128, 256, 512, 1024)  # threads a block to choose from
MULTIPLIER = 6364136223846793005        # of PCG32; see envs_c/rng.pxd


class CartPole:
    """N environments of CartPole on a device; the base of both ways.

    num_envs: N, 1 to 2^24. device: a torch device. seed: environment i draws from (seed, first + i).
    time_limit: steps after which an episode is truncated; None is the game's own (500), 0 none.
    reward_clip: None, c for rewards clipped to [-c, c], or (low, high). sticky: probability that a step repeats the action of
        the step before. work: how many times a step does its arithmetic, for the same result (benchmarks.scaling).

    ended (N,) uint8: 1 where the last step ended an episode; ended_return (N,) float32 and ended_length (N,) int32: the raw
    return and the length in steps of each environment's last ended episode. Raises envs_c.InvalidArgument for a setting that
    is out of range.
    """

    saves = True    # whether `state` holds the environments
    num_masked = 0  # there are no action masks

    def __init__(self, num_envs: int, device, seed: int, *, time_limit: int | None = None, reward_clip=None,
                 sticky: float = 0.0, work: int = 1, first: int = 0):
        game = envs_c.game("cartpole")
        self.num_envs = checks.whole("num_envs", num_envs, 1, 1 << 24)
        self.device = torch.device(device)
        self.actions, self.num_actions = game.actions, len(game.actions)
        self.observation_shape, self.observation_dtype = game.feature_shape, game.feature_dtype
        self.time_limit = checks.time_limit(time_limit, game)
        self.sticky = checks.real("sticky", sticky, 0.0, 1.0)
        self.work = checks.whole("work", work, 1, 1_000_000)
        low, high = checks.reward_clip(reward_clip)
        self.step_reward = max(min(1.0, high), low)  # as the learner gets it; raw it is 1
        self.ended = self._zeros(torch.uint8)
        self.ended_return, self.ended_length = self._zeros(torch.float32), self._zeros(torch.int32)
        self._poles = self._zeros(torch.float64, 4)  # x (m), x_dot (m/s), theta (rad), theta_dot (rad/s)
        self.device = self._poles.device             # with its index
        key, first = checks.whole("seed", seed, 0, (1 << 64) - 1), checks.whole("first", first, 0, 1 << 30)
        self._rng = torch.from_numpy(seeded(key, self.num_envs, first)).to(self.device)
        self._length, self._last_action = self._zeros(torch.int32), self._zeros(torch.int32)
        self._over = self._zeros(torch.uint8)
        self._totals = self._zeros(torch.int64, 2)   # each environment's episodes, and their steps
        self._started = False

    def _zeros(self, dtype: torch.dtype, *before: int) -> torch.Tensor:
        return torch.zeros(*before, self.num_envs, dtype=dtype, device=self.device)

    @property
    def episodes(self) -> torch.Tensor:
        """(1,) int64: how many episodes ended since `clear_totals`."""
        return self._totals[0].sum(0, keepdim=True)

    @property
    def length_sum(self) -> torch.Tensor:
        """(1,) int64: their steps."""
        return self._totals[1].sum(0, keepdim=True)

    @property
    def return_sum(self) -> torch.Tensor:
        """(1,) float64: their raw returns; a step gives 1."""
        return self.length_sum.double()

    def reset(self, observation, reward, terminated, truncated):
        """Begin new episodes; writes observation (N, 4) and reward and flags (N,) of 0.

        All are contiguous float32 tensors on the device; raises ValueError, before anything is written, where one is not.
        """
        self._check(observation, reward, terminated, truncated)
        self._reset(observation, reward, terminated, truncated)
        self._started = True

    def step(self, actions, observation, reward, terminated, truncated):
        """Take actions (N,) int32, 0 LEFT or 1 RIGHT (not checked: that would wait for the device), and write what comes of
        them as `reset` does. The step after an episode's end only resets, with reward 0 ("next_step" autoreset).

        Raises envs_c.NotReset before the first reset.
        """
        if not self._started:
            raise envs_c.NotReset("these environments of cartpole were never reset; call reset() first")
        self._check(observation, reward, terminated, truncated)
        self._fits("actions", actions, torch.int32, (self.num_envs,))
        self._step(actions, observation, reward, terminated, truncated)

    def _check(self, observation, reward, terminated, truncated):
        self._fits("observation", observation, torch.float32, (self.num_envs, 4))
        self._fits("reward", reward, torch.float32, (self.num_envs,))
        self._fits("terminated", terminated, torch.float32, (self.num_envs,))
        self._fits("truncated", truncated, torch.float32, (self.num_envs,))

    def _fits(self, name: str, tensor: torch.Tensor, dtype: torch.dtype, shape: tuple[int, ...]):
        if tensor.shape != shape or tensor.dtype != dtype or tensor.device != self.device or not tensor.is_contiguous():
            raise ValueError(f"{name} is {tuple(tensor.shape)} {tensor.dtype} on {tensor.device}, strides {tensor.stride()}; "
                             f"it must be a contiguous {shape} {dtype} on {self.device}")

    def take_ended(self) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return (float64), length (int32) and number (int64) of the last episode of every environment that ended one since
        the totals were cleared, and clear them. Waits for the device."""
        which = torch.nonzero(self._totals[0]).squeeze(1)
        self.clear_totals()
        return self.ended_return[which].double(), self.ended_length[which], which

    def clear_totals(self):
        """Count episodes anew."""
        self._totals.zero_()

    def state(self) -> dict[str, torch.Tensor]:
        """Everything that the future depends on, and the episodes counted, as copies for a checkpoint."""
        return {name: tensor.clone() for name, tensor in self._kept().items()}

    def restore(self, state: dict[str, torch.Tensor]):
        """Put back what `state` gave, here or for another object of as many environments.

        Raises ValueError, and changes nothing, where a tensor is missing or of another shape or dtype.
        """
        for name, mine in self._kept().items():
            theirs = state.get(name)
            if theirs is None or theirs.shape != mine.shape or theirs.dtype != mine.dtype:
                what = "missing" if theirs is None else f"{tuple(theirs.shape)} {theirs.dtype}"
                raise ValueError(f"{name} is {what}; {self.num_envs} environments have {tuple(mine.shape)} {mine.dtype}")
        for name, mine in self._kept().items():
            mine.copy_(state[name])
        self._started = True

    def _kept(self) -> dict[str, torch.Tensor]:
        return {"poles": self._poles, "rng": self._rng, "length": self._length, "last_action": self._last_action,
                "over": self._over, "totals": self._totals, "ended": self.ended, "ended_return": self.ended_return,
                "ended_length": self.ended_length}


class CartPoleKernel(CartPole):
    """As CartPole, one kernel a step.

    block: threads a block; None searches `BLOCKS` for the fastest on this GPU (block_seconds has what each took a step).
    module: what launches the kernels. Raises DeviceError where the device is no GPU.
    """

    def __init__(self, num_envs: int, device, seed: int, *, block: int | None = None, module=MODULE, **settings):
        super().__init__(num_envs, device, seed, **settings)
        if module is MODULE and self.device.type != "cuda":
            raise DeviceError(f"device is '{self.device}', but the kernel runs on a GPU alone; CartPoleTensors runs here, too")
        self.module = module
        self.block_seconds: dict[int, float] = {}
        self.block = checks.whole("block", 128 if block is None else block, 1, 1024)
        if block is None and self.device.type == "cuda":
            self.block_seconds = self._search()
            self.block = min(self.block_seconds, key=self.block_seconds.get)

    def _reset(self, observation, reward, terminated, truncated):
        self.module.launch("cartpole_reset", self.num_envs, self._poles, self._rng, self._length, self._last_action, self._over,
                           observation, reward, terminated, truncated, self.ended, self.num_envs, block=self.block)

    def _step(self, actions, observation, reward, terminated, truncated):
        self.module.launch("cartpole_step", self.num_envs, self._poles, self._rng, self._length, self._last_action, self._over,
                           actions, observation, reward, terminated, truncated, self.ended, self.ended_return,
                           self.ended_length, self._totals, self.num_envs, self.time_limit, self.work, self.sticky,
                           self.step_reward, block=self.block)

    def _search(self, rounds: int = 3, steps: int = 20) -> dict[int, float]:
        """Seconds a step with each block size, the least of some rounds of play; leaves the environments as they were."""
        before = self.state()
        out = [self._zeros(torch.float32) for _ in range(3)]
        out.insert(0, torch.zeros(self.num_envs, 4, device=self.device))
        actions = torch.zeros(self.num_envs, dtype=torch.int32, device=self.device)
        self.reset(*out)
        seconds = dict.fromkeys(BLOCKS, float("inf"))
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        for _ in range(rounds):
            for self.block in BLOCKS:
                self.step(actions, *out)
                begin.record()
                for _ in range(steps):
                    self.step(actions, *out)
                end.record()
                end.synchronize()
                seconds[self.block] = min(seconds[self.block], begin.elapsed_time(end) / 1000 / steps)
        self.restore(before)
        self._started = False
        return seconds


def seeded(seed: int, num_envs: int, first: int = 0) -> np.ndarray:
    """(2, N) int64: the generators' states and streams as rng_seed of envs_c/rng.pxd starts them for (seed, first + i)."""
    def mix(z):
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))

    key = mix(np.array([(seed + 0x9E3779B97F4A7C15) % (1 << 64)], np.uint64))
    stream = (mix(key ^ np.arange(first, first + num_envs, dtype=np.uint64)) << np.uint64(1)) | np.uint64(1)
    state = mix(key + stream) * np.uint64(MULTIPLIER) + stream
    return np.stack([state, stream]).view(np.int64)
