"""Our console and ale-py with the same cartridge and the same actions, compared after each frame."""

import random
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from ale_py import Action, ALEInterface, LoggerMode

from envs_c.console import cartridges, starts
from envs_c.engine.vecenv import VecEnv
from envs_c.game import Game

PARTS = ("RAM", "picture", "reward", "lives", "end")
PICTURES = 7      # frames from one compared picture to the next: odd, for many games draw things in every second frame only
SHORTEST = 60     # frames of a part at least
STICKY = 0.25
HELD = {"random": (1, 1), "held": (1, 8), "long": (10, 120), "sticky": (1, 1)}  # frames that an action is held
WAYS = tuple(HELD)


class Trial(NamedTuple):
    """A part of a comparison, on a fresh console."""

    way: str          # one of WAYS
    frames: int
    mode: int
    difficulty: int
    first: bool       # mode and difficulty are the game's first ones

    def __str__(self) -> str:
        return self.way + ("" if self.first else f", mode {self.mode}, difficulty {self.difficulty}")


class Console:
    """Our console with one cartridge, played frame by frame with ALE's 18 actions."""

    def __init__(self, game: Game, **options: int):
        self.env = VecEnv(game, 1, frame_skip=1, autoreset="disabled", options={"full_action_space": 1, **options},
                          count_lives=True)
        self.action, self.ram = np.zeros(1, np.int32), np.zeros((1, 128), np.uint8)
        self.reward, self.terminated, self.truncated = np.zeros((3, 1), np.float32)
        self.batch = self.env.bind(0, 1, actions=self.action, observation=self.ram, reward=self.reward,
                                   terminated=self.terminated, truncated=self.truncated)
        self.batch.reset()

    def act(self, action: int):
        """Play one frame with the ALE action of this number."""
        self.action[0] = action
        self.batch.step()


def ale_of(name: str, mode: int | None = None, difficulty: int | None = None) -> ALEInterface:
    """ale-py with the same cartridge, without frame skip and without sticky actions. None: the game's first one."""
    ALEInterface.setLoggerMode(LoggerMode.Error)
    ale = ALEInterface()
    ale.setInt("random_seed", 0)
    ale.setInt("frame_skip", 1)
    ale.setFloat("repeat_action_probability", 0.0)
    ale.loadROM(cartridges.present()[name])
    if mode is not None:
        ale.setMode(mode)
    if difficulty is not None:
        ale.setDifficulty(difficulty)
    ale.reset_game()
    return ale


def trials(name: str, frames: int) -> list[Trial]:
    """The parts of a game's comparison, `frames` in all: more if there are many modes."""
    row = cartridges.table()[name]
    modes, difficulties = [mode for mode, *_ in starts.modes(row)], row["difficulties"]
    pairs = [(mode, difficulty) for mode in modes for difficulty in difficulties]
    if difficulties[0] != 0:  # ale-py begins with 0 nevertheless
        pairs.insert(0, (modes[0], 0))
    most = frames if len(pairs) == 1 else frames // 2
    parts = [Trial(way, max(SHORTEST, most // len(WAYS)), *pairs[0], True) for way in WAYS]
    return parts + [Trial(WAYS[k % len(WAYS)], max(SHORTEST, most // (len(pairs) - 1)), *pair, False)
                    for k, pair in enumerate(pairs[1:])]


def actions(trial: Trial, seed: int) -> Iterator[int]:
    """ALE's number of each frame's action."""
    draw, last = random.Random(f"{seed} {trial.way} {trial.mode} {trial.difficulty}"), 0
    while True:
        if trial.way != "sticky" or draw.random() >= STICKY:
            last = draw.randrange(18)
        for _ in range(draw.randint(*HELD[trial.way])):
            yield last


def differences(ours: Console, ale: ALEInterface, reward: float, with_picture: bool) -> list[str]:
    """The PARTS that differ after a frame. reward: ale-py's."""
    equal = {"RAM": ours.ram.tobytes() == ale.getRAM().tobytes(), "reward": ours.reward[0] == reward,
             "lives": ours.env.lives[0] == ale.lives(), "end": bool(ours.terminated[0]) == bool(ale.game_over()),
             "picture": not with_picture or np.array_equal(ours.env.render(), ale.getScreenRGB())}
    return [part for part in PARTS if not equal[part]]


def play(name: str, trial: Trial, seed: int = 0) -> dict:
    """Play both sides; returns the frames played, the ends seen, and the first frame of each difference by its part."""
    ours = Console(cartridges.cartridge(cartridges.PREFIX + name), mode=trial.mode, difficulty=trial.difficulty)
    ale = ale_of(name, *((None, None) if trial.first else (trial.mode, trial.difficulty)))
    first: dict[str, int] = {} if np.array_equal(ours.ram[0], ale.getRAM()) else {"RAM": 0}
    frame = ends = 0
    for action in actions(trial, seed):
        if frame == trial.frames or "RAM" in first:
            break
        reward, frame = ale.act(Action(action)), frame + 1
        ours.act(action)
        for part in differences(ours, ale, reward, frame % PICTURES == 0):
            first.setdefault(part, frame)
        if ale.game_over() or ours.terminated[0]:
            ends += 1
            ale.reset_game()
            ours.batch.reset()
    return {"frames": frame, "ends": ends, "first": first}


def compare(name: str, frames: int, seed: int = 0) -> dict:
    """A game's row: its name, the frames, ends and pairs of mode and difficulty, and the first difference by its part."""
    row = {"game": name, "frames": 0, "ends": 0, "modes": 0, "first": {}}
    for trial in trials(name, frames):
        found = play(name, trial, seed)
        row["frames"] += found["frames"]
        row["ends"] += found["ends"]
        row["modes"] += not trial.first or trial.way == WAYS[0]
        for part, frame in found["first"].items():
            row["first"].setdefault(part, f"{frame:,} {trial}")
    return row
