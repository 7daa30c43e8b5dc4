"""`python -m trainer play RUN`: watch a trained agent, or play its game yourself."""

import secrets
import sys
from dataclasses import dataclass
from typing import Annotated

from trainer.commands.arguments import DEVICE, GREEDY, CodeOptions, Run, admitted_run
from trainer.config.fields import within
from trainer.config.options import parse
from trainer.config.sections import device_setting, seed_setting
from trainer.errors import RunError, SettingError
from trainer.runs.find import find


@dataclass(frozen=True)
class PlayOptions(CodeOptions):
    """Options of watching and playing."""

    run: Run
    speed: float = within(1.0, 0, above=True)
    """Multiple of the game's own speed."""
    terminal: bool = False
    """Show the game in the terminal, in 24-bit colours, instead of a window."""
    human: bool = False
    """Play yourself: arrows or WASD, and space."""
    episodes: int | None = within(None, 1)
    """Episodes to show. none: until the window is closed, or Ctrl-C."""
    greedy: Annotated[bool, GREEDY] = False
    seed: int | None = seed_setting(None)
    """The same seed gives the same episodes. none: other episodes each time."""
    device: Annotated[str, DEVICE] = device_setting()

    def check(self) -> None:
        super().check()
        if self.human and self.terminal:
            raise SettingError("human", "needs the window, since terminals do not report which keys are held: leave --terminal "
                                        "or --human out")


def main(argv: list[str]) -> None:
    """Show the episodes."""
    options = parse(PlayOptions, argv, "play", "Watch the agent of a run play, or play its game yourself.")
    run = find(options.run)
    with admitted_run(run, options):
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
    finally:  # also after Ctrl-C
        watched.close()
        for number, one in enumerate(ended, 1):
            print(_line(number, one))


def _in_window(run, options: PlayOptions) -> None:
    from trainer.play.window import Window
    with Window() as screen:
        watched = _game(run, options) if options.human else _agent(run, options)
        choose = _person(watched, screen) if options.human else None
        from trainer.play.watch import watch
        try:
            shown = watch(watched, screen, episodes=options.episodes, speed=options.speed, choose=choose)
            for number, one in enumerate(shown, 1):
                print(_line(number, one), flush=True)
        finally:
            watched.close()


def _agent(run, options: PlayOptions):
    """The environment, played by the run's policy."""
    from trainer.play.watch import Watched
    from trainer.policy.load import load_run
    _, policy, config = load_run(run, options.device)
    return Watched(config.game, config.env, policy, seed=_seed(options), greedy=options.greedy)


def _game(run, options: PlayOptions):
    """The environment, played by a person."""
    from trainer.play.watch import Watched
    from trainer.runs.checkpoint import latest, read_config
    config = read_config(latest(run))
    if config.name.is_gym:
        raise RunError(f"{config.game} cannot be played with keys, since Gymnasium does not name its actions: leave --human "
                       "out to watch the agent")
    return Watched(config.game, config.env, None, seed=_seed(options))


def _person(watched, screen):
    """A function for `watch`: returns the person's action, by the keys held in the window."""
    from trainer.play.keyboard import Keyboard
    keyboard = Keyboard(watched.title, watched.source.env.actions)
    screen.tiles = watched.source.env.game.fps < 30
    print(keyboard.legend(), flush=True)
    return lambda: keyboard.action(screen.keys())


def _seed(options: PlayOptions) -> int:
    return secrets.randbelow(2**31) if options.seed is None else options.seed


def _line(number: int, ended) -> str:
    """A line about an episode."""
    return f"episode {number}: score {ended.score:g}, {ended.length} steps"
