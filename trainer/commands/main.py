"""Runs a command line: `GAME ...` and `--resume RUN` train, `VERB ...` runs a verb. Errors are printed in one line."""

import re
import sys

import envs_c
from bridge.errors import BridgeError
from envs_c.__main__ import about, end_quietly, flush, version
from envs_c.text import printable
from trainer.commands import RUN_HELP, all_verbs, run_verb
from trainer.config.before_parse import option_of
from trainer.config.games import names
from trainer.errors import RanksError, SettingError, TrainerError
from trainer.process import in_torchrun, program_name


def run(argv: list[str]) -> int:
    """Run the command line `argv`.

    Returns the exit code: 0, 2 after an error, 130 after Ctrl-C, 141 after a broken pipe, or the code of the verb.
    """
    try:
        try:
            return _run(argv)
        finally:  # also after --help
            flush()
    except BrokenPipeError:
        return end_quietly()
    except SettingError as error:
        _print_error(str(error.renamed(option_of)))
    except (envs_c.CompileFailed, envs_c.ContractError) as error:
        _print_error(str(error), lines=True)
    except (TrainerError, envs_c.EnvsError, BridgeError) as error:
        _print_error(str(error))
    except MemoryError as error:
        _print_error(f"out of memory: {error}".rstrip(": "))
    except RuntimeError as error:
        if not (reason := _of_memory(str(error))):
            raise
        _print_error(f"out of memory: {reason}")
    except OSError as error:
        _print_error(about(error))
    except KeyboardInterrupt:
        return 130
    return 2


def _run(argv: list[str]) -> int:
    if not argv or argv[0] in ("-h", "--help"):
        print(_overview())
        return 0
    if argv[0] == "--version":
        print(version())
        return 0
    verbs = all_verbs()
    if argv[0] not in verbs:
        from trainer.commands import train
        train.main(argv)
        return 0
    if in_torchrun():
        raise RanksError(f"{argv[0]} must not be started with torchrun, which is for trainings")
    return run_verb(argv[0], verbs[argv[0]], argv[1:])


def _of_memory(text: str) -> str:
    """The reason in an error of torch, or of a thread that cannot start, if memory is what lacked; else empty."""
    found = re.search(r"CUDA out of memory[^\n]*|can't allocate memory[^\n]*|can't start new thread|std::bad_alloc", text)
    return found[0] if found else ""


def _print_error(text: str, *, lines: bool = False) -> None:
    """Print an error. If all processes of a job fail with it, one of them prints it.

    Characters that a terminal acts on, such as a newline in the name of a file, are printed as escapes.
    lines: True for texts of several lines.
    """
    error = f"error: {printable(text, lines=lines)}"
    if in_torchrun():
        from trainer.ranks import prints_first
        if not prints_first(error):
            return
    print(error, file=sys.stderr)


def _overview() -> str:
    uses = {"GAME [options]": "train an agent; ends with an evaluation, curves and a GIF",
            "--resume RUN": "resume a run that was stopped",
            **{f"{name} {verb.usage}": verb.help for name, verb in all_verbs().items()}}
    program, longest = program_name(), max(map(len, uses))
    lines = "\n".join(f"       {program} {use:<{longest}}  {text}" for use, text in uses.items())
    return f"""\
usage: {lines.strip()}

GAME is {names()},
or a path to a game's .pyx, or atari:NAME for a cartridge of yours (atari:qbert),
or an environment of Gymnasium: gym:ID (gym:ALE/Breakout-v5), MODULE:CLASS or FILE.py:CLASS.
RUN is {RUN_HELP}.

  {program} breakout                          train with the settings of the game's preset
  {program} breakout --seed 2 --device cpu    change some of the settings
  {program} breakout --help                   list the settings that people change first; --help all lists all
  {program} eval --help                       list the options of an evaluation"""
