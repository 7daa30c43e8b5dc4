"""Any game on the GPU, compiled from its one source (envs_c/bare/device.py): a thread for each environment, and a block of
threads for each picture.

The states lie in the device's memory with the bytes of the CPU's engine, so snapshots go from one to the other.
"""

import math
from typing import Any

import numpy as np
import torch

import envs_c
from bridge.actions import discrete
from bridge.errors import DeviceError
from bridge.nvrtc import CudaModule
from bridge.on_device.cartridge import InsertedCartridge
from bridge.on_device.recent import RECENT, newest
from bridge.on_device.snapshots import as_tensor
from bridge.on_device.tensors import require_tensor
from envs_c.bare import device as compiler
from envs_c.bare.cartridge import is_cartridge
from envs_c.engine import painter
from envs_c.engine.state import memory_of, with_memory
from envs_c.game import Game

AUTORESET = ("next_step", "same_step", "disabled")
GOES_ON, FLAGGED, ENDS = range(3)  # LifeLoss of envs_c/io.pxd
VIEWS = {"features": False, "ram": False, "pixels": True}  # whether they are pictures
PAINTERS = 128  # threads that make a picture


class GameModule(CudaModule):
    """The kernels of one game.

    pixels: with grey pictures as observations in place of features.
    """

    def __init__(self, game: Game, pixels: bool) -> None:
        super().__init__(compiler.HEADER)
        self.game, self.pixels = game, pixels

    def image(self, capability: str) -> bytes:
        """Return the game's PTX, which the GPU's driver compiles.

        Raises envs_c.CompileFailed, and DeviceError for an old GPU.
        """
        if int(capability) < int(compiler.ARCH.removeprefix("sm_")):
            raise DeviceError(f"games need compute capability 7.5, and the GPU has {capability[:-1]}.{capability[-1]}")
        return compiler.ptx(self.game, pixels=self.pixels).encode()


class DeviceGame:
    """N environments of a game on a device. Its interface is that of bridge.on_device.cartpole.CartPole.

    game: a Game.
    num_envs: N.
    device: a torch device.
    module: launches the kernels; default: the game's on the GPU.
    settings: of envs_c.VecEnv, with view "features" or "pixels" (84x84).

    Attributes:
    states: (N, stride) uint8, as in a snapshot of the CPU's engine.
    ended: (N,) uint8, 1 if the last step ended an episode.
    ended_return, ended_length: (N,) float64 and (N,) int32, raw return and length of the last ended episode.
    lives: (N,) int32 in a game with lives, else None.
    final_observation, final_action_mask, final_lives: at an episode's end under autoreset "same_step", else None.

    Raises envs_c.InvalidArgument if a setting is out of range, and envs_c.CompileFailed without a compiler.
    """

    saves = True  # `state` holds the environments

    def __init__(self, game: Game, num_envs: int, device, *, module=None, **settings):
        view, views = settings.get("view"), [name for name in VIEWS if name != "ram" or game.has_ram]
        if view is not None and view not in views:
            raise envs_c.InvalidArgument(f"view must be {' or '.join(views)} on the device, not {view!r}")
        self.env = env = envs_c.VecEnv(game, num_envs, **{"num_threads": 1, "count_lives": True} | settings)
        self.device, self.num_envs = torch.device(device), env.num_envs
        pixels = VIEWS[env.view]
        if pixels and env.picture_size != (compiler.SMALL, compiler.SMALL):
            raise envs_c.InvalidArgument(f"picture_size must be {compiler.SMALL} on the device, not {env.picture_size}")
        if module is None and self.device.type != "cuda":
            raise DeviceError(f"a game on the device needs a GPU, but device is '{self.device}'")
        self.module = GameModule(game, pixels) if module is None else module
        self.actions, self.num_actions = env.actions, len(env.actions)
        self.action_space = discrete(self.num_actions)
        self.action_mask_size = self.num_actions if game.has_mask else 0
        self.observation_shape, self.observation_dtype = env.observation_shape, env.observation_dtype
        self.states = self._from_host(np.frombuffer(memory_of(env.get_state()), np.uint8).reshape(env.num_envs, env.stride))
        self.ended, self.ended_return = self._zeros(torch.uint8), self._zeros(torch.float64)
        self.ended_length = self._zeros(torch.int32)
        self.lives = self._zeros(torch.int32) if game.has_lives else None
        same_step = env.autoreset == "same_step"
        dtype = getattr(torch, str(self.observation_dtype))
        self.final_observation = self._zeros(dtype, *self.observation_shape) if same_step else None
        self.final_action_mask = self._zeros(torch.uint8, self.action_mask_size) if same_step and game.has_mask else None
        self.final_lives = self._zeros(torch.int32) if same_step and game.has_lives else None
        self._totals = torch.zeros(2, self.num_envs, dtype=torch.int64, device=self.device)  # episodes, and their steps
        self._recent = [torch.zeros(RECENT, self.num_envs, dtype=dtype, device=self.device)  # returns and lengths
                        for dtype in (torch.float64, torch.int32)]
        self._options = self._from_host(np.array([*env.options.values(), 0.0]))
        self._backdrop, self._sums, self._edges = self._prepare(game, pixels)
        pictures = (1 + same_step) * env.num_envs if pixels else 0
        self._cartridge = InsertedCartridge(self.module, game, pictures, self.device) if is_cartridge(game) else None
        self._kept = self._zeros(torch.uint8, (1 + same_step) * env.stride) if pixels else None  # what `draw` paints
        self._painters = (self.num_envs, PAINTERS) if self._cartridge is None else self._cartridge.painters
        self._numbers = self._settings()
        self._started = False

    def _zeros(self, dtype: torch.dtype, *shape: int) -> torch.Tensor:
        return torch.zeros(self.num_envs, *shape, dtype=dtype, device=self.device)

    def _from_host(self, array: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(array.copy()).to(self.device)

    def _prepare(self, game: Game, pixels: bool) -> tuple[torch.Tensor | None, ...]:
        """Fill the module's tables; with pictures return the backdrop in greys, its sums, and the edges."""
        if not pixels:
            self.module.launch("prepare", 1, self._options, None, None, block=1)
            return None, None, None
        width, height = game.screen
        x, y = (painter.axis(length, compiler.SMALL) for length in (width, height))
        edges = np.zeros((4, max(width, height) + 1), np.int16)
        for row, values in zip(edges, (x.cells, x.parts, y.cells, y.parts), strict=True):
            row[:len(values)] = values
        rgb, on_device = torch.zeros(height, width, 3, dtype=torch.uint8, device=self.device), self._from_host(edges)
        self.module.launch("prepare", 1, self._options, rgb, on_device, block=1)
        sums, grey = painter.average(rgb.cpu().numpy(), x, y)
        return self._from_host(grey), self._from_host(sums), on_device

    def _settings(self) -> list[int | float]:
        """The last arguments of the kernels, but the number of environments."""
        env = self.env
        low, high = env.frame_skip if isinstance(env.frame_skip, tuple) else (env.frame_skip, env.frame_skip + 1)
        life_loss = ENDS if env.episodic_life else FLAGGED if env.life_loss_info else GOES_ON
        size = math.prod(self.observation_shape) * self.observation_dtype.itemsize
        return [size, self.num_actions, low, high - low, env.noop_max, env.time_limit, AUTORESET.index(env.autoreset),
                life_loss, float(env.sticky), float(env.reward_clip[0]), float(env.reward_clip[1])]

    def reset(self, observation, reward, terminated, truncated, action_mask=None, selected=None):
        """Begin new episodes. Writes the observations and action masks of all, and zeros for the new episodes.

        observation: (N, *observation_shape); reward, terminated, truncated: (N,) float32; action_mask: (N, A) uint8 or None.
        selected: (N,) uint8, 1 begins a new episode; None: all.
        Raises ValueError before writing if a tensor does not fit.
        """
        self._check(observation, reward, terminated, truncated, action_mask, selected)
        self._launch("reset", None, selected, observation, reward, terminated, truncated, action_mask)
        self._started = True

    def step(self, actions, observation, reward, terminated, truncated, action_mask=None, selected=None):
        """Step all environments as the CPU's engine does.

        actions: (N,) int32. Not checked, since a check would wait for the device.
        selected: (N,) uint8, 0 holds an environment; None: none is held.
        observation, reward, terminated, truncated, action_mask: written, as in `reset`.
        Raises envs_c.NotReset before the first reset, and ValueError as `reset`.
        """
        if not self._started:
            raise envs_c.NotReset(f"these environments of {self.env.game.name} were never reset: call reset() first")
        self._check(observation, reward, terminated, truncated, action_mask, selected)
        require_tensor("actions", actions, torch.int32, (self.num_envs,), self.states.device)
        self._launch("step", actions, selected, observation, reward, terminated, truncated, action_mask)

    def observe(self, observation, action_mask=None):
        """Write the observations and the action masks; no state changes."""
        unused = self._zeros(torch.float32)
        self._check(observation, unused, unused, unused, action_mask)
        self._launch("observe", None, None, observation, unused, unused, unused, action_mask)

    def _launch(self, name: str, actions, selected, observation, reward, terminated, truncated, action_mask):
        self.module.launch(name, self.num_envs, self.states, actions, selected, observation, reward, terminated, truncated,
                           action_mask, self.final_observation, self.final_action_mask, self.ended, self.ended_return,
                           self.ended_length, self.lives, self.final_lives, self._totals, *self._recent, self._options,
                           self._kept, *self._numbers, RECENT, self.num_envs)
        if self._kept is not None:
            blocks, threads = self._painters
            self.module.launch("draw", blocks * threads, self._kept, observation, self.final_observation,
                               self._backdrop, self._sums, self._edges, self.num_envs, block=threads)

    def _check(self, observation, reward, terminated, truncated, action_mask, selected=None):
        dtype = getattr(torch, str(self.observation_dtype))
        require_tensor("observation", observation, dtype, (self.num_envs, *self.observation_shape), self.states.device)
        for name, tensor in (("reward", reward), ("terminated", terminated), ("truncated", truncated)):
            require_tensor(name, tensor, torch.float32, (self.num_envs,), self.states.device)
        for name, tensor, shape in (("action_mask", action_mask, (self.num_envs, self.action_mask_size)),
                                    ("selected", selected, (self.num_envs,))):
            if tensor is not None:
                require_tensor(name, tensor, torch.uint8, shape, self.states.device)

    def take_ended(self) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return the episodes that ended since `clear_totals`, up to RECENT of each environment, and clear the totals.

        Returns returns (float64), lengths (int32) and numbers of the environments (int64). Waits for the device.
        """
        ended = newest(self._totals[0], *self._recent)
        self.clear_totals()
        return ended

    def clear_totals(self):
        """Set the counters of ended episodes to zero."""
        self._totals.zero_()

    def get_state(self) -> bytes:
        """Return a snapshot of all environments, which an envs_c.VecEnv takes too. Waits for the device."""
        return with_memory(self.env.get_state(), self.states.cpu().numpy().tobytes())

    def set_state(self, state: bytes):
        """Put back a snapshot, of these environments or of an envs_c.VecEnv. Raises envs_c.InvalidState."""
        self.env.set_state(state)
        self._take_from_host()
        self._started = True

    def _take_from_host(self):
        """Copy the states of `env` to the device."""
        self.states.copy_(as_tensor(memory_of(self.env.get_state())).view_as(self.states))

    def state(self) -> dict[str, torch.Tensor]:
        """Return the environments for a checkpoint, as bridge.source.GameSource does."""
        return {"environments": as_tensor(self.get_state())}

    def restore(self, state: dict[str, Any]):
        """Put back the result of `state`."""
        self.set_state(state["environments"].numpy().tobytes())

    def reseed(self, seed: int):
        """Seed the environments as new ones with this seed are; it acts at their next reset."""
        self.env.set_state(self.get_state())
        self.env.seed(seed, anew=True)
        self._take_from_host()

    def environment_dims(self) -> dict[str, int | str]:
        """Names in `state`, with their environment dimension."""
        return {"environments": "snapshot"}
