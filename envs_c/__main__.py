"""`python -m envs_c`: the games with their actions, features, options and speed on this machine.

    python -m envs_c [list] [GAME ...]        these games, or all
    python -m envs_c features GAME            every feature of a game by index, with its range
    python -m envs_c play GAME                play it yourself, in a window or with --terminal
    python -m envs_c check GAME               test a game against the contract; GAME is a name or a path to a .pyx
    python -m envs_c new NAME [--dir DIR]     write a game of your own to DIR/NAME
    python -m envs_c cache [--clear]          the compiled games of other folders
    python -m envs_c replay LINK              replay a game that was played in the arcade, bit for bit
    python -m envs_c arcade [GAME.pyx ...]    write the games and their agents as a page for browsers
"""

import argparse
import contextlib
import errno
import os
import shlex
import sys
import textwrap
import time
import warnings

import numpy as np

import envs_c
from envs_c import game_cache, isa, testing
from envs_c.arcade import command as arcade
from envs_c.arcade import links
from envs_c.console import cartridges
from envs_c.gymnasium_env import ArcadeVectorEnv
from envs_c.new import new
from envs_c.play import command
from envs_c.text import printable, say
from envs_c.views import names

SECONDS = 0.1  # of play for one measurement
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)  # of a disk without room, or that fails
VERDICTS = {None: "ok    ", testing.REFUSED: "-     "}  # of a rule's fault; others are BROKEN
MANY_ACTIONS = 18  # a game with more shows the first and the last only


def speed(game, view: str, num_envs: int = 256) -> float:
    """Steps per second of random play on one thread, by its CPU time: other processes do not count."""
    env = envs_c.VecEnv(game, num_envs, view=view, num_threads=1, seed=1)
    actions, outputs = np.zeros(num_envs, np.int32), np.zeros((3, num_envs), np.float32)
    observation = np.zeros((num_envs, *env.observation_shape), env.observation_dtype)
    batch = env.bind(0, num_envs, actions=actions, observation=observation, reward=outputs[0], terminated=outputs[1],
                     truncated=outputs[2])
    rolls = np.random.default_rng(0).integers(0, len(env.actions), (64, num_envs)).astype(np.int32)
    batch.reset()
    steps, begin = 0, time.thread_time()
    while (elapsed := time.thread_time() - begin) < SECONDS:
        actions[:] = rolls[steps % 64]
        batch.step()
        steps += 1
    return steps * num_envs / elapsed


def views(game) -> list[tuple[str, str]]:
    """The views that the game itself writes, each with shape, dtype and speed as text."""
    rows = []
    for view in names(lambda view: view.plain):
        core = envs_c.VecEnv(game, view=view, num_threads=1)
        shape = " x ".join(map(str, core.observation_shape))
        rate = speed(game, view)
        shown = f"{rate / 1e6:.1f}M" if rate > 1e5 else f"{rate / 1e3:.1f}K"
        rows.append((view, f"{shape} {core.observation_dtype}, {shown} steps/s a core"))
    return rows


def describe(game, name: str | None = None) -> str:
    """A few lines about a game. name: as the user wrote it, if that is not its own name."""
    count = len(game.actions)
    actions = " ".join(game.actions) if count <= MANY_ACTIONS else f"{count}, {game.actions[0]} to {game.actions[-1]}"
    limit = f", at most {game.time_limit} steps" if game.time_limit else ""
    lines = [f"{name or game.name}  {game.gym_id}", f"    {game.summary}", f"    actions   {actions}",
             *(f"    {view:<10}{text}" for view, text in views(game))]
    lines[3] += f" (frame skip {game.frame_skip}{limit})"
    lines += [f"    option    {name}={option.default:g}: {option.help}, {option.span}"
              for name, option in game.options.items() if option.low < option.high]
    return "\n".join(lines)


def feature_rows(game) -> list[tuple[str, str, str, str]]:
    """(index, name, range, help) of every feature of a game, as text; one row for neighbours with one meaning."""
    rows, at = [], 0
    for feature in game.features:
        last = at + feature.count - 1
        index = f"{at}" if last == at else f"{at}-{last}"
        rows.append((index, feature.name, f"{feature.low:g} to {feature.high:g}", feature.help))
        at = last + 1
    return rows


def list_games(arguments):
    """Print the description of the games."""
    for name in arguments.games or envs_c.games():
        print(describe(envs_c.game(name), name), end="\n\n")
    if not arguments.games:
        print(cartridge_lines(), end="\n\n")
    print(f"The games are {isa.text()}.")


def cartridge_lines() -> str:
    """The cartridges for the console that are on this machine, and how to get others."""
    there, known = cartridges.present(), len(cartridges.table())
    names = textwrap.fill(" ".join(there), 110, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False)
    head = f"{cartridges.PREFIX}NAME  cartridges for the Atari 2600 that are here: {len(there)} of {known}"
    return "\n".join(filter(None, [head, names, f"    {cartridges.how_to_get()}; {cartridges.PREFIX}PATH.bin plays any file"]))


def version() -> str:
    """One line: the version, and the variant of the compiled games in use."""
    return f"insertcoin {envs_c.__version__}, games {isa.text()}"


def features(arguments):
    """Print every feature of a game by index."""
    game = envs_c.game(arguments.game)
    if not game.features:
        raise envs_c.InvalidArgument(f"game {game.name!r} does not describe its features; hand features=(Feature(...), ...) "
                                     "to its Game(...)")
    rows = [("index", "feature", "range", ""), *feature_rows(game)]
    widths = [max(len(row[k]) for row in rows) for k in range(3)]
    for row in rows:
        print("  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[3]]).rstrip())


def check(arguments):
    """Test a game against the contract, and print one line for each rule and a summary of random play."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        testing.check(arguments.game, report=lambda rule, fault: print(
            f"{VERDICTS.get(fault, 'BROKEN')}  {rule}: {testing.rule_text(rule)}", flush=True),
            prints=lambda rule, lines: say(*(f"        printed: {line}" for line in lines)))
    lines, suspicious = testing.summary(arguments.game)
    say("random play:", *(f"    {line}" for line in lines))
    for text in [*(str(warning.message) for warning in caught), *suspicious]:
        say(f"warning: {text}", file=sys.stderr)
    if arguments.device:
        from envs_c.bare.check import on_device  # needs the extra cuda
        for line in on_device(envs_c.game(arguments.game)):
            say(line)
            sys.stdout.flush()


def begin(arguments):
    """Write a new game and print the commands to go on with."""
    folder = new(arguments.name, arguments.dir)
    file = folder / f"{arguments.name}.pyx"
    say(f"{folder}/ holds a game that plays. Change {file.name}, and try it:",
        f"    {arguments.program} check {shlex.quote(str(file))}",
        f"    python -m pytest {shlex.quote(str(folder))}",
        f"    {arguments.trainer} {shlex.quote(str(file))}")


def cache(arguments):
    """Print the cache folder of compiled games and its size, or clear it."""
    size = game_cache.size() / 1e6
    if arguments.clear:
        game_cache.clear()
        print(f"{game_cache.folder()}: {size - game_cache.size() / 1e6:.1f} MB removed")
    else:
        print(f"{game_cache.folder()}: {size:.1f} MB")


def replay(arguments):
    """Replay a link and print the scores."""
    found = links.parse(arguments.link)
    played = links.play(found, None if arguments.game is None else envs_c.game(arguments.game))
    say(f"{found.game}, seed {found.seed}: {played.line()}")


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line."""

    def error(self, message):
        self.exit(2, f"error: {printable(' '.join(message.split()))}; `{self.prog} --help` lists the arguments\n")


def parse(arguments: list[str], program: str | None = None):
    """Parse the command line; the verb `list` may be left out.

    program: as in `main`.
    """
    parser = Parser(prog=program or "python -m envs_c", description=__doc__,
                    formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--version", action="version", version=version(), help="print the version and the variant in use")
    parser.set_defaults(program=parser.prog, trainer=program or "python -m trainer")
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    for verb in (verbs.add_parser("list", help="list the games with their actions, features, options and speed (default)"),
                 verbs.add_parser("games")):  # the name of `list` in the trainer's command line
        verb.add_argument("games", nargs="*", metavar="GAME", help="only these (default: all); a name or a path to a .pyx")
        verb.set_defaults(run=list_games)
    verb = verbs.add_parser("features", help="list every feature of a game by index, with its range")
    verb.add_argument("game", metavar="GAME", help="a name or a path to a .pyx")
    verb.set_defaults(run=features)
    verb = verbs.add_parser("play", help="play a game yourself", usage="%(prog)s GAME [options]", epilog=command.KEYS,
                            formatter_class=argparse.RawDescriptionHelpFormatter)
    command.add_arguments(verb)
    verb.set_defaults(run=lambda arguments: command.run(arguments, envs_c.game, ArcadeVectorEnv))
    verb = verbs.add_parser("check", help="test a game against the contract")
    verb.add_argument("game", metavar="GAME", help="a name or a path to a .pyx")
    verb.add_argument("--device", action="store_true", help="also compile it for GPUs, and compare it on the emulator of GPUs")
    verb.set_defaults(run=check)
    verb = verbs.add_parser("new", help="write a game of your own")
    verb.add_argument("name", metavar="NAME", help="lower-case letters, digits and _")
    verb.add_argument("--dir", default=".", help="the folder to make NAME/ in (default: the present folder)")
    verb.set_defaults(run=begin)
    verb = verbs.add_parser("cache", help="print where compiled games of other folders are kept, and their size")
    verb.add_argument("--clear", action="store_true", help="remove them")
    verb.set_defaults(run=cache)
    verb = verbs.add_parser("arcade", help="write the games and their agents as a page for browsers, and serve it")
    arcade.add_arguments(verb)
    verb.set_defaults(run=arcade.run)
    verb = verbs.add_parser("replay", help="replay a game that was played in the arcade")
    verb.add_argument("link", metavar="LINK", help="the address that the arcade copied, or only the part after #, in quotes")
    verb.add_argument("--game", help="the path of the link's game, if it is none of the built-in ones")
    verb.set_defaults(run=replay)
    if not arguments or (arguments[0] not in verbs.choices and arguments[0] not in ("-h", "--help", "--version")):
        arguments = ["list", *arguments]
    parsed, unknown = parser.parse_known_args(arguments)
    if unknown:
        verbs.choices[parsed.verb].error(f"unknown {'option' if unknown[0].startswith('-') else 'argument'} {unknown[0]}")
    return parsed


def main(argv: list[str] | None = None, program: str | None = None) -> int:
    """Run a command line.

    argv: its arguments; None is sys.argv's.
    program: the name in usage lines, if the trainer's command line calls this for its verbs games, new and check.
    Returns the exit status: 0, 1 for a game that breaks the contract, 2 for any other error, 130 after Ctrl-C, 141 after a
    broken pipe.
    """
    try:
        try:
            arguments = parse(sys.argv[1:] if argv is None else argv, program)
            arguments.run(arguments)
        finally:  # also after --help
            flush()
    except BrokenPipeError:
        return end_quietly()
    except envs_c.EnvsError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1 if isinstance(error, envs_c.ContractError) else 2
    except MemoryError as error:
        print(f"error: out of memory: {error}".rstrip(": "), file=sys.stderr)
        return 2
    except OSError as error:
        say(f"error: {about(error)}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    return 0


def about(error: OSError) -> str:
    """The text of an error, with its file. Every write to a file names it; one without a name was to the output."""
    if error.filename:
        return f"{error.strerror or error} ({error.filename})"
    if error.errno in FULL:
        with contextlib.suppress(OSError):  # an output that is no file
            end_quietly()                   # else Python writes the rest at its end, and prints a traceback
        return f"{error.strerror} (the output of this command)"
    return str(error.strerror or error)


def flush():
    """Write the output now, so that an error of it is raised here and not while Python ends."""
    if sys.stdout is not None:  # None if the process was started without one
        sys.stdout.flush()


def end_quietly() -> int:
    """Discard the rest of the output, since its reader has ended, such as `head -1`.

    Returns the exit code of a program that was ended by SIGPIPE.
    """
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 141


if __name__ == "__main__":
    sys.exit(main())
