"""Our pictures beside the cartridges', from random starts and over whole episodes, pixel by pixel and frame by frame."""

from typing import NamedTuple

import numpy as np
import pytest
import torch

pytest.importorskip("ale_py")

from pages_support import number, tables

from benchmarks.cartridges.agents import load_agent
from benchmarks.cartridges.features import Observer, open_cartridge
from benchmarks.cartridges.lockstep import twin_of
from benchmarks.likeness.games import GAMES
from benchmarks.likeness.pairs import begin
from trainer.export.graph import StepGraph

# The least share of frames that are equal. Asteroids does not mix the colours where a ship or a shot covers a rock.
SHARES = {game: 0.96 if game.startswith("asteroids") else 1.0 for game in GAMES}


@pytest.mark.parametrize("game", GAMES)
def test_frames_equal_the_cartridges_in_every_pixel(game):
    equal, theirs = [], open_cartridge(game)
    for start in range(3):
        pair = begin(game, np.random.default_rng([4, start]), theirs)
        for _ in range(200):
            if pair.step():
                break
            ours = pair.ours.picture()
            ours[theirs.MAKER:] = 0
            equal.append(np.array_equal(ours, theirs.masked()))
    assert np.mean(equal) >= SHARES[game]


# Whole episodes of the arcade's agents, by game and seed of the sampled actions. The rows of the table in docs/likeness.md are
# these, in this order: points, frames, and the frames after which the pictures differ. These are given as the first and the
# last frame of each run of them, with the number of other pixels in the run. No draw is nearer than 4e-6 to the edge between
# two actions, so the rounding of another CPU should change none.
EPISODES = {
    ("breakout", 2): (421, 8964, []),
    ("pong", 3): (16, 21115, [(0, 1, 67184)]),
    ("asterix", 29): (34500, 12782, [(0, 0, 102), (3883, 3883, 39), (12056, 12056, 267), (12311, 12312, 4588),
                                     (12782, 12782, 38)]),
    ("freeway", 1): (25, 8192, [(0, 0, 44)]),
    ("seaquest", 2): (780, 6593, [(4189, 4189, 8), (6593, 6593, 46)]),
    ("space_invaders", 2): (595, 2646, [(2632, 2632, 1), (2646, 2646, 224)]),
    ("space_invaders", 3): (685, 3751, []),
    ("asteroids", 2): (1930, 2460, [
        (0, 1, 2648), (184, 187, 8), (244, 245, 4), (280, 281, 4), (293, 294, 144), (310, 317, 16), (327, 328, 188),
        (352, 353, 4), (761, 762, 32), (822, 823, 4), (1214, 1215, 2), (1630, 1631, 4), (1636, 1637, 4), (1701, 1701, 1),
        (1713, 1714, 713), (1902, 1903, 4), (2126, 2127, 4), (2154, 2155, 4), (2186, 2189, 12)]),
    ("enduro", 2): (473, 26624, [
        (0, 0, 190), (4621, 4622, 2), (7169, 7169, 712), (15843, 15857, 15), (16360, 16360, 1), (16810, 16821, 12),
        (17245, 17250, 6), (17262, 17268, 7), (17271, 17272, 2), (20481, 20481, 721), (20946, 20961, 16), (26125, 26148, 25),
        (26152, 26152, 1)])}
SKIP = 4  # frames of an action


class Episode(NamedTuple):
    """One episode of an agent, with the same actions on both sides."""

    points: int
    frames: int
    differing: dict[int, int]  # frames after which the pictures differ, with the number of other pixels


@torch.no_grad()
def episode_of(game: str, seed: int) -> Episode:
    """An episode of the arcade's agent from the cartridge's own beginning. It sees what the cartridge's RAM tells."""
    theirs, ours, random = open_cartridge(game).restart(), twin_of(game), np.random.default_rng(seed)
    graph, reader = StepGraph(load_agent(game).policy), Observer(theirs, game)
    _, *memory = graph.zeros(1, torch.float32)
    points, frame, over, differing = 0, 0, False, {}
    while True:
        picture = ours.picture().copy()
        picture[theirs.MAKER:] = 0
        other = (picture != theirs.masked()).any(2)
        if other.any():
            differing[frame] = int(other.sum())
        if over:
            return Episode(int(points), frame, differing)
        if frame % SKIP == 0:
            memory[0] = torch.full((1,), float(frame == 0))
            logits, _, *memory[1:] = graph(torch.from_numpy(reader.read()[None]), *memory)
            shares = logits[0].double().softmax(0).numpy()
            action = int(random.choice(len(shares), p=shares))
        here, there = ours.step(action), theirs.step(action)
        frame += 1
        assert here[:2] == there[:2], f"frame {frame}"
        points, over = points + there[0], bool(there[1])


def runs(differing: dict[int, int]) -> list[tuple[int, int, int]]:
    """Runs of such frames as in EPISODES."""
    found: list[tuple[int, int, int]] = []
    for frame, pixels in differing.items():
        if found and found[-1][1] == frame - 1:
            first, _, before = found.pop()
            found.append((first, frame, before + pixels))
        else:
            found.append((frame, frame, pixels))
    return found


LONG = [("breakout", 2), ("pong", 3), ("asterix", 29), ("enduro", 2)]  # 4 to 20 s each


@pytest.mark.parametrize(("game", "seed"), [
    pytest.param(*case, marks=[pytest.mark.slow] * (case in LONG), id=f"{case[0]}-{case[1]}") for case in EPISODES])
def test_pictures_of_a_good_agents_whole_episode_differ_in_the_named_frames_only(game, seed):
    played = episode_of(game, seed)
    assert (played.points, played.frames, runs(played.differing)) == EPISODES[game, seed]


def test_the_page_has_the_numbers_of_these_episodes():
    rows = [(row["game"], *(number(row[name]) for name in ("points", "frames", "that differ", "other pixels")))
            for row in tables("docs/likeness.md", "## Whole episodes")[0]]
    assert rows == [(game, points, frames, sum(last - first + 1 for first, last, _ in found), sum(one[2] for one in found))
                    for (game, _), (points, frames, found) in EPISODES.items()]
