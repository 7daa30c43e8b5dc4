"""The console beside ale-py, frame by frame: `python -m benchmarks.console`, `python -m benchmarks.console qbert seaquest`.

Both sides play the same actions: random ones of ALE's 18, each held for some frames. After every frame RAM, reward, lives and
end are compared, and every tenth picture. After an end both begin a new game and go on. A row of the table is a game: the
frames played, and the first one that differs in each of these; a dash is none. A game is left after a frame with another RAM.
"""

import random
from pathlib import Path

import numpy as np
from ale_py import Action, ALEInterface, LoggerMode

from benchmarks.common import head, new_parser, publish
from envs_c.console import cartridges
from envs_c.engine.vecenv import VecEnv
from envs_c.game import Game
from trainer.log.text import markdown

PARTS = ("RAM", "picture", "reward", "lives", "end")
PICTURES = 10  # frames from one compared picture to the next
HELD = 8       # frames for which an action is held at most


class Console:
    """Our console with one cartridge, played frame by frame with ALE's 18 actions."""

    def __init__(self, game: Game):
        self.env = VecEnv(game, 1, frame_skip=1, autoreset="disabled", options={"full_action_space": 1}, count_lives=True)
        self.action, self.ram = np.zeros(1, np.int32), np.zeros((1, 128), np.uint8)
        self.reward, self.terminated, self.truncated = np.zeros((3, 1), np.float32)
        self.batch = self.env.bind(0, 1, actions=self.action, observation=self.ram, reward=self.reward,
                                   terminated=self.terminated, truncated=self.truncated)
        self.batch.reset()

    def act(self, action: int):
        """Play one frame with the ALE action of this number."""
        self.action[0] = action
        self.batch.step()


def ale_of(name: str) -> ALEInterface:
    """ale-py with the same cartridge, without frame skip and without sticky actions."""
    ALEInterface.setLoggerMode(LoggerMode.Error)
    ale = ALEInterface()
    ale.setInt("random_seed", 0)
    ale.setInt("frame_skip", 1)
    ale.setFloat("repeat_action_probability", 0.0)
    ale.loadROM(cartridges.present()[name])
    ale.reset_game()
    return ale


def differences(ours: Console, ale: ALEInterface, reward: float, with_picture: bool) -> list[str]:
    """The PARTS that differ after a frame. reward: ale-py's."""
    equal = {"RAM": np.array_equal(ours.ram[0], ale.getRAM()), "reward": ours.reward[0] == reward,
             "lives": ours.env.lives[0] == ale.lives(), "end": bool(ours.terminated[0]) == bool(ale.game_over()),
             "picture": not with_picture or np.array_equal(ours.env.render(), ale.getScreenRGB())}
    return [part for part in PARTS if not equal[part]]


def compare(name: str, frames: int, seed: int = 0) -> dict:
    """Play both sides; returns the frames played, the ends seen, and the first frame of each difference by its part."""
    ours, ale, draw = Console(cartridges.cartridge(cartridges.PREFIX + name)), ale_of(name), random.Random(seed)
    first: dict[str, int] = {} if np.array_equal(ours.ram[0], ale.getRAM()) else {"RAM": 0}
    frame = ends = held = action = 0
    while frame < frames and "RAM" not in first:
        if held == 0:
            action, held = draw.randrange(18), draw.randint(1, HELD)
        reward = ale.act(Action(action))
        ours.act(action)
        frame, held = frame + 1, held - 1
        for part in differences(ours, ale, reward, frame % PICTURES == 0):
            first.setdefault(part, frame)
        if ale.game_over() or ours.terminated[0]:
            ends += 1
            ale.reset_game()
            ours.batch.reset()
    return {"frames": frame, "ends": ends, "first": first}


def main():
    parser = new_parser("console", __doc__)
    parser.add_argument("games", nargs="*", metavar="GAME", help="names such as qbert (default: all whose cartridge is there)")
    parser.add_argument("--frames", type=int, default=2_000, help="a game (default: 2,000)")
    parser.add_argument("--out", type=Path, help="file to write the table to")
    options = parser.parse_args()
    there = cartridges.present()
    for name in options.games:
        if name not in there:
            parser.error(f"GAME must be one whose cartridge is there, not {name}: {', '.join(there) or 'none'}; "
                         f"{cartridges.how_to_get()}")
    if not options.frames >= 1:
        parser.error(f"--frames must be at least 1, not {options.frames}")
    rows, same = [], dict.fromkeys(PARTS, 0)
    for name in options.games or there:
        found = compare(name, options.frames)
        rows.append([name, f"{found['frames']:,}", found["ends"], *(found["first"].get(part, "-") for part in PARTS)])
        same = {part: same[part] + (part not in found["first"]) for part in PARTS}
        print("  ".join(map(str, rows[-1])), flush=True)
    total = ", ".join(f"{part} {count}" for part, count in same.items())
    publish(head("The console beside ale-py") + "\n" + markdown(["game", "frames", "ends", *PARTS], rows)
            + f"\nOf {len(rows)} games nothing differs in: {total}.\n", options.out)


if __name__ == "__main__":
    main()
