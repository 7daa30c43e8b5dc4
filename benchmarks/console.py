"""The console beside ale-py, frame by frame: `python -m benchmarks.console`, `python -m benchmarks.console qbert seaquest`.

Both sides play the same actions. After every frame RAM, reward, lives and end are compared, and every PICTURES-th picture.
After an end both begin a new game and go on. Half of a game's frames are played in its first mode and difficulty, the other
half in all others, in parts of equal length; each part begins on a fresh console. The parts take turns in how actions are
drawn, the same for both sides:

    random   one of ALE's 18 actions, another one each frame
    held     each held for 1 to 8 frames
    long     each held for 10 to 120 frames
    sticky   as random, but the last action is repeated with probability 0.25

A row of the table is a game: the frames played, the ends seen, the pairs of mode and difficulty, and the first difference in
each of RAM, picture, reward, lives and end: the frame of its part, how actions were drawn, mode and difficulty unless they are
the first ones. A dash is none. A part is left after a frame with another RAM.
"""

import json
import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from ale_py import Action, ALEInterface, LoggerMode

from benchmarks.common import head, new_parser, publish
from envs_c.console import cartridges, starts
from envs_c.engine.vecenv import VecEnv
from envs_c.game import Game
from trainer.log.text import markdown
from trainer.results.published import PLAYERS

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


def rows_in(path: Path | None) -> dict[str, dict]:
    """The rows of a file of JSON lines by game; none if there is no file."""
    lines = path.read_text(encoding="utf-8").splitlines() if path is not None and path.exists() else []
    return {row["game"]: row for row in map(json.loads, lines)}


def table(rows: list[dict]) -> str:
    """The rows as Markdown, with the number of games without a difference in each part."""
    shown = [[row["game"], f"{row['frames']:,}", row["ends"], row["modes"], *(row["first"].get(part, "-") for part in PARTS)]
             for row in rows]
    text = markdown(["game", "frames", "ends", "modes", *PARTS], shown)
    for group, chosen in (("games", rows), ("games of the literature", [row for row in rows if row["game"] in PLAYERS])):
        same = ", ".join(f"{part} {sum(part not in row['first'] for row in chosen)}" for part in PARTS)
        whole = sum(not row["first"] for row in chosen)
        text += f"\nOf {len(chosen)} {group} nothing differs in: {same}; all five {whole}.\n"
    return text + f"\n{sum(row['frames'] for row in rows):,} frames and {sum(row['ends'] for row in rows):,} ends in all.\n"


def main():
    parser = new_parser("console", __doc__)
    parser.add_argument("games", nargs="*", metavar="GAME", help="names such as qbert (default: all whose cartridge is there)")
    parser.add_argument("--frames", type=int, default=10_000, help="a game, or more if it has many modes (default: 10,000)")
    parser.add_argument("--keep", type=Path, help="file for each game's row as it comes; games in it are not played again")
    parser.add_argument("--out", type=Path, help="file to write the table to")
    options = parser.parse_args()
    there = cartridges.present()
    for name in options.games:
        if name not in there:
            parser.error(f"GAME must be one whose cartridge is there, not {name}: {', '.join(there) or 'none'}; "
                         f"{cartridges.how_to_get()}")
    if not options.frames >= 1:
        parser.error(f"--frames must be at least 1, not {options.frames}")
    os.environ.setdefault("ENVS_C_RECOMPILE", "0")  # compilers in the background would take the time
    rows = []
    for name in options.games or there:
        row = rows_in(options.keep).get(name) or compare(name, options.frames)
        if options.keep is not None and name not in rows_in(options.keep):
            with options.keep.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
        rows.append(row)
        print("  ".join(map(str, row.values())), flush=True)
    publish(head("The console beside ale-py") + "\n" + table(rows), options.out)


if __name__ == "__main__":
    main()
