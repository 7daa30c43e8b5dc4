"""`python -m trainer play RUN`: watch a trained agent, or play its game yourself."""

import math
import secrets
import sys
from dataclasses import dataclass

from tyro.conf import Positional

from trainer.config.config import GYM
from trainer.config.options import parse
from trainer.config.sections import check_device, check_seed
from trainer.errors import ConfigError, RunError
from trainer.runs import find as runs


@dataclass(frozen=True)
class PlayOptions:
    """What is watched, and where."""

    run: Positional[str]
    """A run's folder, one of its checkpoints, the beginning of a folder's name under runs, or last."""
    speed: float = 1.0
    """Times the game's own speed."""
    terminal: bool = False
    """Show it in the terminal, by 24-bit colours, instead of a window."""
    human: bool = False
    """Play yourself: arrows or WASD, and space."""
    episodes: int | None = None
    """Episodes to show. none: until the window is closed, or Ctrl-C."""
    greedy: bool = False
    """Always take the likeliest action, instead of sampling."""
    seed: int | None = None
    """The same seed gives the same episodes. none: others each time."""
    device: str = "auto"
    """Where the network lives: auto (the GPU if there is one), cpu, cuda, or cuda:1 for the second GPU."""

    def check(self):
        """Raises ConfigError for a value that it may not have."""
        if not (0 < self.speed < math.inf):
            raise ConfigError(f"speed is {self.speed:g}; it may be a number above 0")
        if self.episodes is not None and self.episodes < 1:
            raise ConfigError(f"episodes is {self.episodes}; it may be none, or an integer from 1 up")
        if self.seed is not None:
            check_seed(self.seed)
        if self.human and self.terminal:
            raise ConfigError("human is played in the window, since terminals do not tell which keys are held; leave "
                              "--terminal or --human out")
        check_device(self.device)


def main(argv: list[str]) -> None:
    options = parse(PlayOptions, argv, "play", "Watch the agent of a run play, or play its game yourself.")
    options.check()
    run = runs.find(options.run)
    if options.terminal:
        _in_terminal(run, options)
    else:
        _in_window(run, options)


def _in_terminal(run, options: PlayOptions) -> None:
    from trainer.play import terminal
    terminal.check(sys.stdout)
    from trainer.play.watch import watch
    watched, ended = _agent(run, options), []
    try:
        with terminal.Terminal() as screen:
            for one in watch(watched, screen, episodes=options.episodes, speed=options.speed):
                ended.append(one)
    finally:  # after Ctrl-C, too
        watched.close()
        for number, one in enumerate(ended, 1):
            print(_said(number, one))


def _in_window(run, options: PlayOptions) -> None:
    from trainer.play.window import Window
    with Window() as screen:
        watched = _game(run, options) if options.human else _agent(run, options)
        choose = _hands(watched, screen) if options.human else None
        from trainer.play.watch import watch
        try:
            shown = watch(watched, screen, episodes=options.episodes, speed=options.speed, choose=choose)
            for number, one in enumerate(shown, 1):
                print(_said(number, one), flush=True)
        finally:
            watched.close()


def _agent(run, options: PlayOptions):
    """The environment that the run's policy plays."""
    from trainer.play.watch import Watched
    from trainer.policy.load import load_run
    _, policy, config = load_run(run, options.device)
    return Watched(config, policy, seed=_seed(options), greedy=options.greedy)


def _game(run, options: PlayOptions):
    """The environment that a person plays."""
    from trainer.play.watch import Watched
    from trainer.runs import checkpoint
    path = checkpoint.latest(run)
    config = runs.config_in(path, checkpoint.read_meta(path))
    if config.game.startswith(GYM):
        raise RunError(f"{config.game} cannot be played by keys: Gymnasium does not name its actions; leave --human out to "
                       "watch the agent")
    return Watched(config, None, seed=_seed(options))


def _hands(watched, screen):
    """What reads the person's actions off the window's keys."""
    from trainer.play.keyboard import Keyboard
    keyboard = Keyboard(watched.title, watched.source.env.actions)
    screen.tiles = watched.source.env.game.fps < 30
    print(keyboard.legend(), flush=True)
    return lambda: keyboard.action(screen.keys())


def _seed(options: PlayOptions) -> int:
    return secrets.randbelow(2**31) if options.seed is None else options.seed


def _said(number: int, ended) -> str:
    return f"episode {number}: score {ended.score:g}, {ended.length} steps"
