"""Plays a trained policy on the cartridge under ale-py, and in our game for comparison.

    python -m examples.play_the_cartridge runs/breakout-... --episodes 20 --sticky 0.25

RUN is a run's folder or one of its checkpoints. Its game must be one that was written after a cartridge. A policy of features
gets the features that benchmarks/cartridges/features.py reads from the cartridge's RAM (breakout, pong, freeway, asterix,
seaquest, asteroids). A policy of pixels gets the cartridge's screen, without the maker's name. Actions are sampled, as in
training. ale-py brings the ROMs: `pip install ale-py`.
"""

import argparse
import sys
from dataclasses import replace

import numpy as np
import torch

from benchmarks.cartridges import features
from benchmarks.cartridges.twins import TWINS
from envs_c.catalog import game as game_of
from trainer.config import Config
from trainer.errors import TrainerError
from trainer.export.graph import StepGraph
from trainer.play import evaluate
from trainer.policy.load import load_run
from trainer.policy.policy import Policy

LONGEST = 27_000  # steps of an episode, if the run has no limit


class Console:
    """A cartridge as an environment: frame skip, sticky actions and observations as in training."""

    def __init__(self, config: Config, sticky: float, seed: int):
        self.cartridge, self.sticky, self.random = features.open_cartridge(config.game), sticky, np.random.default_rng(seed)
        self.skip = config.env.frame_skip or game_of(config.game).frame_skip
        self.held = 0
        self.reader = features.reader_of(self.cartridge, config.game, config.env.view)

    def step(self, action: int) -> tuple[float, bool]:
        """Hold an action for the frames of a step; returns the points and whether the game is over."""
        points, over = 0.0, False
        for _ in range(self.skip):
            if self.random.random() >= self.sticky:
                self.held = action
            reward, over = self.cartridge.step(self.held)
            points += reward
            if over:
                break
        return points, over


def check(config: Config) -> None:
    """Raise TrainerError if the run's game cannot be played on a cartridge."""
    if config.game not in TWINS:
        raise TrainerError(f"RUN must be of {', '.join(TWINS)}, not of {config.game}: only these games have a cartridge")
    if config.env.options:
        raise TrainerError(f"RUN must have no options of the game, not {config.env.options}: the cartridge has none")
    if config.env.view == "features" and config.game not in features.GAMES:
        raise TrainerError(f"RUN must be trained with --view pixels for {config.game}: its features cannot be read from the "
                           "cartridge's RAM")


@torch.no_grad()
def play(policy: Policy, config: Config, episodes: int, sticky: float, seed: int = 1) -> np.ndarray:
    """The scores of whole episodes on the cartridge, (episodes,). They are played side by side."""
    check(config)
    graph, consoles = StepGraph(policy), [Console(config, sticky, seed + k) for k in range(episodes)]
    torch.manual_seed(seed)
    seen = torch.from_numpy(np.stack([console.reader.read() for console in consoles]))
    _, *memory = graph.zeros(episodes, seen.dtype)
    scores, running = np.zeros(episodes), np.ones(episodes, bool)
    for step in range(config.env.time_limit or LONGEST):
        if memory:
            memory[0] = torch.full((episodes,), float(step == 0))  # start
        logits, _, *after = graph(seen, *memory)
        memory[1:] = after
        actions = torch.distributions.Categorical(logits=logits).sample().tolist()
        for k in np.flatnonzero(running):
            points, over = consoles[k].step(actions[k])
            scores[k] += points
            running[k] = not over
            if not over:
                seen[k] = torch.from_numpy(consoles[k].reader.read())
        if not running.any():
            break
    return scores


def main(argv: list[str] | None = None) -> tuple[np.ndarray, np.ndarray]:
    """The scores on the cartridge and in our game."""
    parser = argparse.ArgumentParser(prog="python -m examples.play_the_cartridge", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", metavar="RUN")
    parser.add_argument("--episodes", type=int, default=20, help="episodes on each side (default: 20)")
    parser.add_argument("--sticky", type=float, default=0.0, help="probability that a frame repeats the action before (0)")
    options = parser.parse_args(argv)
    if options.episodes < 1:
        parser.error(f"--episodes must be an integer of at least 1, not {options.episodes}")
    if not 0 <= options.sticky <= 1:
        parser.error(f"--sticky must be a number from 0 to 1, not {options.sticky}")
    try:
        _, policy, config = load_run(options.run, "cpu")
        check(config)
        theirs = play(policy, config, options.episodes, options.sticky)
    except TrainerError as error:
        sys.exit(f"error: {error}")
    except ImportError as error:
        sys.exit(f"error: the cartridge needs ale-py ({error}): pip install ale-py")
    settings = replace(config.env, sticky=options.sticky)
    ours = evaluate.play(policy, config.game, settings, episodes=options.episodes, seed=1).returns
    for side, scores in (("cartridge", theirs), ("here", ours)):
        spread = scores.std(ddof=1) / len(scores) ** 0.5 if len(scores) > 1 else 0.0
        print(f"{config.game}, {side}: {scores.mean():.1f} ± {spread:.1f}, {len(scores)} episodes, sticky {options.sticky:g}")
    return theirs, ours


if __name__ == "__main__":
    main()
