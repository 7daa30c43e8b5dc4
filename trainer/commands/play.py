"""`insertcoin play RUN`: watch a trained agent, or play its game yourself.

`insertcoin play GAME` is the verb of `python -m envs_c`, which needs neither torch nor a run; games.py here decides.
"""

import secrets
import sys
from dataclasses import dataclass
from typing import Annotated

from envs_c.gymnasium_env import ArcadeVectorEnv
from envs_c.play import command, terminal
from envs_c.play.keyboard_game import KeyboardGame
from envs_c.play.window import Window
from trainer.commands.arguments import DEVICE, GREEDY, CodeOptions, Run, admitted_run
from trainer.config.fields import within
from trainer.config.games import find_game
from trainer.config.options import parse
from trainer.config.sections import device_setting, seed_setting
from trainer.errors import RunError
from trainer.runs.find import find

INSTEAD = "use --terminal, or film an episode with `record`"


@dataclass(frozen=True)
class PlayOptions(CodeOptions):
    """Options of watching and playing."""

    run: Run
    speed: float = within(1.0, 0.001, 1_000_000)
    """Multiple of the game's own speed."""
    terminal: bool = False
    """Show the game in the terminal, in 24-bit colours, instead of a window."""
    human: bool = False
    """Play yourself: arrows or WASD, and space; P pauses, R restarts, Q or Escape leaves."""
    episodes: int | None = within(None, 1)
    """Episodes to show. none: until the window is closed, or Ctrl-C."""
    greedy: Annotated[bool, GREEDY] = False
    seed: int | None = seed_setting(None)
    """The same seed gives the same episodes. none: other episodes each time."""
    device: Annotated[str, DEVICE] = device_setting()


def main(argv: list[str]) -> None:
    """Show the episodes."""
    options = parse(PlayOptions, argv, "play", "Watch the agent of a run play, or play its game yourself. If the name is a "
                                               "game's, you play this game: `play GAME --help` lists keys and options.")
    run = find(options.run)
    with admitted_run(run, options):
        if options.human:
            _by_hand(run, options)
        elif options.terminal:
            _in_terminal(run, options)
        else:
            _in_window(run, options)


def _by_hand(run, options: PlayOptions) -> None:
    """Let a person play, with the run's settings of the environment."""
    from trainer.environments import episode_seed
    from trainer.runs.checkpoint import latest, read_config
    config = read_config(latest(run))
    if config.game.is_gym:
        raise RunError(f"{config.game} cannot be played with keys, since Gymnasium does not name its actions: leave --human "
                       "out to watch the agent")
    env = config.env
    made = ArcadeVectorEnv(find_game(config.game), 1, frame_skip=env.frame_skip, sticky=env.sticky, noop_max=env.noop_max,
                           time_limit=env.time_limit, autoreset="disabled", options=env.options)
    try:
        command.show(KeyboardGame(made, episode_seed(config.game, _seed(options))), terminal=options.terminal,
                     speed=options.speed, episodes=options.episodes)
    finally:
        made.close()


def _in_terminal(run, options: PlayOptions) -> None:
    terminal.check(sys.stdout)
    from trainer.play.agent_game import show
    played, ended = _agent(run, options), []
    try:
        with terminal.Terminal() as screen:
            for one in show(played, screen, episodes=options.episodes, speed=options.speed):
                ended.append(one)
    finally:  # also after Ctrl-C
        played.close()
        for number, one in enumerate(ended, 1):
            print(_line(number, one))


def _in_window(run, options: PlayOptions) -> None:
    with Window(instead=INSTEAD) as screen:
        played = _agent(run, options)
        from trainer.play.agent_game import show
        try:
            for number, one in enumerate(show(played, screen, episodes=options.episodes, speed=options.speed), 1):
                print(_line(number, one), flush=True)
        finally:
            played.close()


def _agent(run, options: PlayOptions):
    """The environment, played by the run's policy."""
    from trainer.play.agent_game import AgentGame
    from trainer.policy.load import load_run
    _, policy, config = load_run(run, options.device)
    return AgentGame(config.game, config.env, policy, seed=_seed(options), greedy=options.greedy)


def _seed(options: PlayOptions) -> int:
    return secrets.randbelow(2**31) if options.seed is None else options.seed


def _line(number: int, ended) -> str:
    """A line about an episode."""
    return f"episode {number}: score {ended.score:g}, {ended.length} steps"
