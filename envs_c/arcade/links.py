"""Links that replay a game: `insertcoin replay LINK`. page/replay.js reads and writes the same links.

A link is any URL whose fragment has these fields, joined by "&":

    replay=1                     the format
    game=pong, version=2         the game, and the version of its rules
    seed=7                       the game was reset with this seed, one environment
    frame_skip, sticky, noop_max, time_limit   settings; left out: those of the game, and 0
    o.NAME=VALUE                 an option of the game; left out: its default
    steps=400                    the number of actions; left out in older links
    actions=...                  all actions, in base64url without padding

The bytes of `actions` are integers in LEB128 (7 bits a byte, the lowest first; 128 is added to all bytes but the last): first
the number A of the game's actions, then (r - 1) * A + a for each run of r equal actions a.
"""

import base64
import binascii
import contextlib
import re
import zlib
from itertools import groupby
from typing import NamedTuple
from urllib.parse import parse_qsl, urlencode

import envs_c
from envs_c.engine import checks
from envs_c.errors import InvalidArgument
from envs_c.testing.play import bind, buffers

FORMAT = "1"
MOST_STEPS = 1_000_000
SETTINGS = {"frame_skip": int, "sticky": float, "noop_max": int, "time_limit": int}
OPTION = "o."
NUMBER = re.compile(r"-?\d+(\.\d+)?(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)


class Replay(NamedTuple):
    """A recorded game.

    settings: those of SETTINGS that the link names.
    options: of the game, those that the link names.
    num_actions: of the game.
    """

    game: str
    version: int
    seed: int
    settings: dict[str, float]
    options: dict[str, float]
    num_actions: int
    actions: list[int]


class Played(NamedTuple):
    """The result of a replay.

    episodes: scores of the episodes that ended.
    score, length: of the episode that has not ended; length 0 if the last step has ended one, which had this score.
    checksum: eight hexadecimal digits over all features, rewards and flags; replay.js computes the same.
    """

    steps: int
    episodes: list[float]
    score: float
    length: int
    checksum: str

    def line(self) -> str:
        """The result as one line of text."""
        scores = " and ".join(f"{score:g}" for score in self.episodes)
        ended = f", {len(self.episodes)} ended with score {scores}" if self.episodes else ""
        rest = "" if self.episodes and not self.length else f", score {self.score:g} after {self.length} steps"
        return f"{self.steps} steps{ended}{rest}, checksum {self.checksum}"


def parse(link: str) -> Replay:
    """The replay in a link, or in its fragment. Raises InvalidArgument, which names the wrong part."""
    pairs = parse_qsl(link.partition("#")[2] or link, keep_blank_values=True)
    fields = dict(pairs)
    if fields.pop("replay", None) != FORMAT:
        raise InvalidArgument(f"the link must have replay={FORMAT} behind its #, as links that the arcade copies do")
    if len(fields) != len(pairs) - 1:
        raise InvalidArgument("each part of the link must stand there once: copy the link again")
    options = {name.removeprefix(OPTION): number(name, fields.pop(name), float)
               for name in list(fields) if name.startswith(OPTION)}
    settings = {name: number(name, fields.pop(name), kind) for name, kind in SETTINGS.items() if name in fields}
    try:
        game, version, seed, coded = (fields.pop(name) for name in ("game", "version", "seed", "actions"))
    except KeyError as error:
        raise InvalidArgument(f"the link must have {error.args[0]}=: it was cut off, copy it again") from None
    steps = number("steps", fields.pop("steps"), int) if "steps" in fields else None
    if fields:
        raise InvalidArgument(f"the link must have known parts only, not {checks.shown(next(iter(fields)))}")
    num_actions, actions = decode(coded)
    if steps is not None and steps != len(actions):
        raise InvalidArgument(f"actions of the link must be {steps} steps, not {len(actions)}: it was cut off, copy it again")
    return Replay(game, number("version", version, int), number("seed", seed, int), settings, options, num_actions, actions)


def number(name: str, text: str, kind: type) -> float:
    """A number of the link, written as replay.js takes it: Python's own underscores, spaces and other digits are refused."""
    if NUMBER.fullmatch(text):
        with contextlib.suppress(ValueError):
            return kind(text)
    raise InvalidArgument(f"{name} of the link must be {'an integer' if kind is int else 'a number'}, not {checks.shown(text)}")


def decode(coded: str) -> tuple[int, list[int]]:
    """The number of the game's actions, and the actions of a link. Raises InvalidArgument."""
    if len(coded) % 4 == 1 and coded.replace("-", "a").replace("_", "a").isalnum():
        raise InvalidArgument("actions of the link must be complete: it was cut off, copy it again")
    try:
        data = base64.b64decode(coded + "=" * (-len(coded) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raise InvalidArgument("actions of the link must be in base64url: the link was changed, copy it again") from None
    numbers, value, shift = [], 0, 0
    for byte in data:
        value, shift = value | (byte & 127) << shift, shift + 7
        if byte < 128:
            numbers.append(value)
            value = shift = 0
        elif shift > 49:
            raise InvalidArgument(f"actions of the link must be at most {MOST_STEPS:,} steps")
    if shift or not numbers or not numbers[0]:
        raise InvalidArgument("actions of the link must be complete: it was cut off, copy it again")
    kinds, actions = numbers[0], []
    for run in numbers[1:]:
        if len(actions) + run // kinds >= MOST_STEPS:
            raise InvalidArgument(f"actions of the link must be at most {MOST_STEPS:,} steps")
        actions += [run % kinds] * (run // kinds + 1)
    return kinds, actions


def encode(num_actions: int, actions) -> str:
    """The opposite of `decode`."""
    runs = ((len(list(run)) - 1) * num_actions + int(action) for action, run in groupby(actions))
    data = bytearray()
    for value in (num_actions, *runs):
        while value > 127:
            data.append(value & 127 | 128)
            value >>= 7
        data.append(value)
    return base64.urlsafe_b64encode(bytes(data)).decode().rstrip("=")


def link_of(replay: Replay) -> str:
    """The fragment of a replay, with "#"."""
    options = {OPTION + name: f"{value:.0f}" if float(value).is_integer() else repr(value)
               for name, value in replay.options.items()}
    return "#" + urlencode({"replay": FORMAT, "game": replay.game, "version": replay.version, "seed": replay.seed,
                            **replay.settings, **options, "steps": len(replay.actions),
                            "actions": encode(replay.num_actions, replay.actions)})


def play(replay: Replay, game=None) -> Played:
    """Replay it natively.

    game: the `Game`, if it is not one of `envs_c.games()`. The link cannot name a file: a .pyx is code.

    Raises InvalidArgument if the game, its version, options or actions are others.
    """
    if game is None and replay.game not in envs_c.games():
        raise InvalidArgument(f"game of the link must be one of {', '.join(envs_c.games())}, not {checks.shown(replay.game)}: "
                              "name the file of another game with --game")
    game = envs_c.game(replay.game) if game is None else game
    if (game.name, game.version) != (replay.game, replay.version):
        raise InvalidArgument(f"the link is of {replay.game} version {checks.shown(replay.version)}, but this is {game.name} "
                              f"version {game.version}: play it with the insertcoin that it was recorded with")
    core = envs_c.VecEnv(game, 1, seed=replay.seed, options=replay.options, num_threads=1, **replay.settings)
    if len(core.actions) != replay.num_actions:
        raise InvalidArgument(f"the link must be of a game with {len(core.actions)} actions, not {replay.num_actions}")
    arrays = buffers(core)
    batch, episodes = bind(core, arrays, 0, 1), []
    batch.reset()
    checksum, score, length = zlib.crc32(arrays["observation"]), 0.0, 0
    outputs = [arrays[name] for name in ("observation", "reward", "terminated", "truncated")]
    for action in replay.actions:
        arrays["actions"][0] = action
        begins = arrays["terminated"][0] or arrays["truncated"][0]  # this step only resets
        ended = batch.step()
        for output in outputs:
            checksum = zlib.crc32(output, checksum)
        score, length = (0.0, 0) if begins else (score + float(arrays["reward"][0]), length + 1)
        if ended:
            episodes.append(float(core.ended_return[0]))
            length = 0  # the line says its score already
    return Played(len(replay.actions), episodes, score, length, f"{checksum:08x}")
