"""`python -m envs_c`: the games with their views, actions, options and speed on this machine.

    python -m envs_c [list] [GAME ...]        these games, or all
    python -m envs_c check GAME               does a game keep the contract? GAME is a name or a path to a .pyx
    python -m envs_c new NAME [--dir DIR]     begin a game of your own in DIR/NAME
"""

import argparse
import sys
import time

import numpy as np

import envs_c

SECONDS = 0.1  # a game and view


def speed(game, view: str, num_envs: int = 256) -> float:
    """Steps a second of random play on one thread."""
    env = envs_c.VecEnv(game, num_envs, view=view, num_threads=1, seed=1)
    actions, outputs = np.zeros(num_envs, np.int32), np.zeros((3, num_envs), np.float32)
    observation = np.zeros((num_envs, *env.observation_shape), env.observation_dtype)
    batch = env.bind(0, num_envs, actions=actions, observation=observation, reward=outputs[0], terminated=outputs[1],
                     truncated=outputs[2])
    rolls = np.random.default_rng(0).integers(0, len(env.actions), (64, num_envs)).astype(np.int32)
    batch.reset()
    steps, begin = 0, time.perf_counter()
    while (elapsed := time.perf_counter() - begin) < SECONDS:
        actions[:] = rolls[steps % 64]
        batch.step()
        steps += 1
    return steps * num_envs / elapsed


def describe(game) -> str:
    """A few lines about a game."""
    shape = " x ".join(map(str, game.feature_shape))
    count = len(game.actions)
    actions = " ".join(game.actions) if count <= 18 else f"{count}, {game.actions[0]} to {game.actions[-1]}"
    limit = f", {game.time_limit} steps at most" if game.time_limit else ""
    lines = [f"{game.name}  Arcade/{game.title}-v0", f"    {game.summary}", f"    actions   {actions}",
             f"    features  {shape} {game.feature_dtype}, {speed(game, 'features') / 1e6:.1f}M steps/s a core "
             f"(frame skip {game.frame_skip}{limit})",
             f"    pixels    84 x 84 uint8, {speed(game, 'pixels') / 1e6:.1f}M steps/s a core"]
    lines += [f"    option    {name}={option.default:g}: {option.help}, {option.low:g} to {option.high:g}"
              for name, option in game.options.items()]
    return "\n".join(lines)


def list_games(arguments):
    """Print what there is to know about the games."""
    for game in [envs_c.game(name) for name in arguments.games or envs_c.games()]:
        print(describe(game), end="\n\n")


def check(arguments):
    """Try the contract's rules on a game, a line a rule."""
    from envs_c import testing
    testing.check(arguments.game, tell=lambda rule, how: print(f"{'ok    ' if how is None else 'BROKEN'}  {rule}: "
                                                               f"{testing.rule_text(rule)}", flush=True))


def new(arguments):
    """Begin a game and say how to go on."""
    from envs_c.new import new
    folder = new(arguments.name, arguments.dir)
    file = folder / f"{arguments.name}.pyx"
    print(f"{folder}/ holds a game that plays. Change {file.name}, and try it:\n"
          f"    python -m envs_c check {file}\n"
          f"    python -m pytest {folder}\n"
          f"    python -m trainer {file}")


def parse(words: list[str]):
    """The command line's choices; the verb may be left out for a list."""
    parser = argparse.ArgumentParser(prog="python -m envs_c", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    lists = verbs.add_parser("list", help="the games with their views, actions, options and speed (default)")
    lists.add_argument("games", nargs="*", metavar="GAME", help="only these (default: all); a name or a path to a .pyx")
    lists.set_defaults(run=list_games)
    checks = verbs.add_parser("check", help="try the contract's rules on a game")
    checks.add_argument("game", metavar="GAME", help="a name or a path to a .pyx")
    checks.set_defaults(run=check)
    news = verbs.add_parser("new", help="begin a game of your own")
    news.add_argument("name", metavar="NAME", help="lower-case letters, digits and _")
    news.add_argument("--dir", default=".", help="the folder that NAME/ is made in (default: this one)")
    news.set_defaults(run=new)
    if not words or (words[0] not in verbs.choices and words[0] not in ("-h", "--help")):
        words = ["list", *words]
    return parser.parse_args(words)


def main(words: list[str] | None = None) -> int:
    """Do what the command line says; returns the exit status."""
    arguments = parse(sys.argv[1:] if words is None else words)
    try:
        arguments.run(arguments)
    except envs_c.EnvsError as error:
        print(f"insertcoin: {error}", file=sys.stderr)
        return 1 if isinstance(error, envs_c.ContractError) else 2
    except OSError as error:
        print(f"insertcoin: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
