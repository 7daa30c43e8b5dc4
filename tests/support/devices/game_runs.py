"""Plays a game's kernels (bridge/on_device/games.py) beside the CPU's engine and compares every output."""

import numpy as np
import torch

import envs_c
from bridge.on_device.games import DeviceGame
from bridge.on_device.recent import RECENT

OUTPUTS = ("observation", "reward", "terminated", "truncated")


def buffers(env: envs_c.VecEnv) -> dict[str, torch.Tensor]:
    """Tensors for the outputs, whose contents no game writes."""
    dtype = getattr(torch, str(env.observation_dtype))
    made = {"observation": torch.full((env.num_envs, *env.observation_shape), 77, dtype=dtype)}
    made |= {name: torch.full((env.num_envs,), 7.0) for name in OUTPUTS[1:]}
    if env.game.has_mask:
        made["action_mask"] = torch.full((env.num_envs, len(env.actions)), 9, dtype=torch.uint8)
    return made


class Pair:
    """A game on the device and on the CPU.

    module: launches the kernels with CPU tensors.
    settings: of VecEnv.
    """

    def __init__(self, game, num_envs: int, module, **settings):
        self.device = DeviceGame(game, num_envs, "cpu", module=module, **settings)
        self.env = envs_c.VecEnv(game, num_envs, num_threads=1, count_lives=True, **settings)
        self.actions = np.zeros(num_envs, np.int32)
        self.ours, self.theirs = buffers(self.env), buffers(self.env)
        if self.env.autoreset == "same_step":
            named = [("final_observation", self.device.final_observation), ("final_action_mask", self.device.final_action_mask)]
            self.finals = {name: (one, one.clone()) for name, one in named if one is not None}
        else:
            self.finals = {}
        arrays = {name: one.numpy() for name, one in (*self.theirs.items(), *((n, two) for n, (_, two) in self.finals.items()))}
        self.batch = self.env.bind(0, num_envs, actions=self.actions, **arrays)
        self.episodes = 0
        self.ended: list[list[tuple[float, int]]] = [[] for _ in range(num_envs)]  # return and length of each episode

    def reset(self, selected: np.ndarray | None = None):
        """Begin new episodes on both, and compare. selected: (N,) bool; None: all."""
        given = None if selected is None else torch.from_numpy(selected.astype(np.uint8))
        self.device.reset(**self.ours, selected=given)
        self.batch.reset(selected)
        self.compare("reset")

    def step(self, random: np.random.Generator, selected: np.ndarray | None = None):
        """A step with random actions on both; compares all outputs. selected: (N,) bool, False holds an environment."""
        self.actions[:] = random.integers(0, len(self.env.actions), len(self.actions))
        if self.env.game.has_mask:
            legal = self.theirs["action_mask"].numpy()
            self.actions[:] = [random.choice(np.flatnonzero(row)) if row.any() else 0 for row in legal]
        given = None if selected is None else torch.from_numpy(selected.astype(np.uint8))
        self.device.step(torch.from_numpy(self.actions.copy()), **self.ours, selected=given)
        self.batch.step(selected)
        self.episodes += int(self.env.ended.sum())
        for i in np.flatnonzero(self.env.ended):
            self.ended[i].append((self.env.ended_return[i], self.env.ended_length[i]))
        self.compare("step")

    def compare(self, what: str):
        """Assert that all outputs and states are equal, bit for bit."""
        pairs = {name: (one, self.theirs[name]) for name, one in self.ours.items()} | self.finals
        device, env, ended = self.device, self.env, self.env.ended != 0
        if what == "step":
            pairs["ended"] = device.ended, torch.from_numpy(env.ended)
        for name in ("ended_return", "ended_length"):
            pairs[name] = getattr(device, name)[ended], torch.from_numpy(getattr(env, name)[ended])
        if env.lives is not None:
            pairs["lives"] = device.lives, torch.from_numpy(env.lives)
        for name, (one, other) in pairs.items():
            one, other = (np.ascontiguousarray(side.numpy()).tobytes() for side in (one, other))
            assert one == other, (what, name)
        assert device.get_state() == env.get_state(), (what, "states")

    def compare_episodes(self):
        """Assert that the device gives the newest episodes of each environment, in their order, and each of them once."""
        taken = [[] for _ in self.ended]
        for score, length, i in zip(*(part.tolist() for part in self.device.take_ended()), strict=True):
            taken[i].append((score, length))
        assert taken == [episodes[-RECENT:] for episodes in self.ended]
        assert not len(self.device.take_ended()[0])

    def swap(self):
        """Exchange the snapshots: each side goes on from the other's."""
        ours, theirs = self.device.get_state(), self.env.get_state()
        self.device.states.fill_(0)
        self.device.set_state(theirs)
        self.env.set_state(ours)


def played(game, module, num_envs: int, steps: int, **settings) -> int:
    """Play, with an exchange of snapshots in the middle, and return the number of ended episodes."""
    pair, random = Pair(game, num_envs, module, **{"seed": 3} | settings), np.random.default_rng(5)
    pair.reset()
    for k in range(steps):
        pair.step(random)
        if k == steps // 2:
            pair.swap()
    pair.compare_episodes()
    return pair.episodes
