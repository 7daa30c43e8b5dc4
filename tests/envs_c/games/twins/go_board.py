"""Two references for Go: a board in plain Python lists and sets, and GNU Go over its text protocol."""

import shutil
import subprocess

import numpy as np
from pcg32 import Pcg32

BLACK, WHITE, EMPTY = 0, 1, 2
COLUMNS = "ABCDEFGHJKLMNOPQRST"


class Board:
    """A board and all boards before it. Points are 0 .. size * size - 1, row by row from the top left."""

    def __init__(self, size: int, komi: float = 0.0, points: list[int] | None = None):
        self.size, self.komi = size, komi
        self.points = points or [EMPTY] * size * size
        self.to_play, self.passes, self.moves = BLACK, 0, 0
        self.seen = {tuple(self.points): 0}  # board -> number of the last move after which it was there

    def beside(self, point: int) -> list[int]:
        row, column = divmod(point, self.size)
        places = [(row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)]
        return [r * self.size + c for r, c in places if 0 <= r < self.size and 0 <= c < self.size]

    def chain(self, point: int, points=None) -> tuple[set[int], set[int]]:
        """The connected points with the same content as `point`, and the points beside them with another content."""
        points = self.points if points is None else points
        chain, border, ahead = {point}, set(), [point]
        while ahead:
            for near in self.beside(ahead.pop()):
                if points[near] != points[point]:
                    border.add(near)
                elif near not in chain:
                    chain.add(near)
                    ahead.append(near)
        return chain, border

    def liberties(self, point: int, points=None) -> set[int]:
        points = self.points if points is None else points
        return {near for near in self.chain(point, points)[1] if points[near] == EMPTY}

    def after(self, point: int) -> tuple[list[int], int] | None:
        """The points after a stone of the side to play, and the number of stones captured; None if it is suicide."""
        points, captured = self.points.copy(), 0
        points[point] = self.to_play
        for near in self.beside(point):
            if points[near] == 1 - self.to_play and not self.liberties(near, points):
                dead, _ = self.chain(near, points)
                captured += len(dead)
                for stone in dead:
                    points[stone] = EMPTY
        return (points, captured) if self.liberties(point, points) else None

    def name(self, point: int) -> str:
        return f"{COLUMNS[point % self.size]}{self.size - point // self.size}"

    def look(self):
        """Set `legal`, a dict of points to stones captured, and `banned`.

        banned: dict of points that superko forbids to the number of moves since the repeated board.
        """
        self.legal, self.banned = {}, {}
        for point in range(self.size**2):
            after = self.after(point) if self.points[point] == EMPTY else None
            if after and tuple(after[0]) in self.seen:
                self.banned[point] = self.moves - self.seen[tuple(after[0])]
            elif after:
                self.legal[point] = after[1]

    def move(self, point: int | None) -> bool:
        """Play a point, or pass if it is None; returns whether the game is over."""
        if point is not None:
            self.points, _ = self.after(point)
            self.seen[tuple(self.points)] = self.moves + 1
        self.passes = self.passes + 1 if point is None else 0
        self.moves += 1
        self.to_play = 1 - self.to_play
        return self.passes == 2 or self.moves == 2 * self.size**2

    def area(self, colour: int) -> int:
        empty = [p for p in range(self.size**2) if self.points[p] == EMPTY]
        own = [p for p in empty if {self.points[near] for near in self.chain(p)[1]} == {colour}]
        return self.points.count(colour) + len(own)

    def margin(self) -> int:
        """Black's area minus White's."""
        return self.area(BLACK) - self.area(WHITE)

    def result(self, colour: int) -> int:
        return int(np.sign(self.margin() - self.komi)) * (1 if colour == BLACK else -1)

    def planes(self) -> np.ndarray:
        """The observation, (5, size, size) uint8."""
        points, every = np.array(self.points), range(self.size**2)
        atari = [p for p in every if self.points[p] != EMPTY and len(self.liberties(p)) == 1]
        planes = [points == self.to_play, points == 1 - self.to_play, np.isin(every, atari),
                  np.isin(every, list(self.banned)), np.full(len(points), self.to_play == BLACK)]
        return np.array(planes, np.uint8).reshape(5, self.size, self.size)

    def mask(self) -> np.ndarray:
        return np.array([p in self.legal for p in range(self.size**2)] + [True], np.int8)


def choices(board: Board, opponent: int):
    """Yield the groups of points that an opponent (0 random, 1 greedy) tries, in order. They may contain banned points."""
    empty = sorted(board.legal.keys() | board.banned.keys())
    if opponent == 0:
        yield empty
        return
    most = max(board.legal.values(), default=0)
    yield [p for p, captured in board.legal.items() if captured == most > 0]
    own = board.to_play
    beside_atari = [p for p in empty if any(board.points[near] == own and len(board.liberties(near)) == 1
                                            for near in board.beside(p))]
    yield [p for p in beside_atari if len(board.liberties(p, [*board.points[:p], own, *board.points[p + 1:]])) >= 2]
    yield [p for p in empty if any(board.points[near] != own for near in board.beside(p))]


def answer(board: Board, opponent: int, rng: Pcg32) -> int | None:
    """The opponent's move, None for a pass. It draws again if superko forbids the point."""
    for among in choices(board, opponent):
        while among:
            point = among.pop(rng.below(len(among)))
            if point in board.legal:
                return point
    return None


class GnuGo:
    """GNU Go with our rules. `ask` sends commands and returns the answers.

    options: of its command line, besides the rules.
    """

    PATH = shutil.which("gnugo", path="/usr/games:/usr/local/games") or shutil.which("gnugo")
    RULES = ("--chinese-rules", "--positional-superko", "--forbid-suicide")

    def __init__(self, *options: str):
        self.process = subprocess.Popen([self.PATH, "--mode", "gtp", "--level", "1", *self.RULES, *options], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

    def ask(self, commands: list[str]) -> list[str]:
        """Send all commands at once. An answer begins with "=", or with "?" if GNU Go refuses the command."""
        self.process.stdin.write("".join(f"{command}\n" for command in commands))
        self.process.stdin.flush()
        return [self.answer() for _ in commands]

    def answer(self) -> str:
        lines = []
        while (line := self.process.stdout.readline()).strip() or not lines:
            if not line:
                raise EOFError("GNU Go has ended")
            lines.append(line.strip())
        return " ".join(lines)

    def close(self):
        self.process.communicate("quit\n")
