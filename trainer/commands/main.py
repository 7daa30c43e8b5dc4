"""The command line: `python -m trainer GAME` trains, `python -m trainer VERB ...` does what VERB says (trainer/commands).

torch is loaded only once there is something to do with it, so that help and errors come at once.
"""

import sys

import envs_c
from bridge.errors import BridgeError
from trainer.errors import RanksError, TrainerError
from trainer.process import in_torchrun

_MISSING = ("error: the trainer needs {}, which the games alone do not: pip install 'insertcoin[train]', "
            "or use the repository's `make setup`")
try:
    from trainer.commands import VERBS, run_verb, train
    from trainer.config.games import names
    from trainer.config.options import PROG
except ModuleNotFoundError as missing:
    print(_MISSING.format(missing.name), file=sys.stderr)
    sys.exit(2)


def run(argv: list[str]) -> int:
    """Run the command line; returns the exit code: 0, 2 for an error that is printed in one line, 130 after Ctrl-C."""
    try:
        if not argv or argv[0] in ("-h", "--help"):
            print(_overview())
        elif argv[0] in VERBS and in_torchrun():
            raise RanksError(f"{argv[0]} is done by one process; start it without torchrun, which is for trainings")
        elif argv[0] in VERBS:
            run_verb(argv[0], argv[1:])
        else:
            train.main(argv)
    except (TrainerError, envs_c.EnvsError, BridgeError) as error:
        _tell(f"error: {error}")
        return 2
    except ModuleNotFoundError as error:
        print(_MISSING.format(error.name), file=sys.stderr)
        return 2
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        _tell(f"error: {error.strerror or error}{where}")
        return 2
    except KeyboardInterrupt:
        return 130
    return 0


def _tell(error: str):
    """Print an error; where several processes train together, one of those that met it does."""
    if in_torchrun():
        from trainer.ranks import first_to_tell
        if not first_to_tell(error):
            return
    print(error, file=sys.stderr)


def _overview() -> str:
    uses = {"GAME [options]": "train an agent; ends with an evaluation, curves and a GIF",
            "--resume RUN": "go on with a run that was stopped",
            **{f"{verb} {words}": does for verb, (words, does) in VERBS.items()}}
    longest = max(map(len, uses))
    lines = "\n".join(f"       {PROG} {use:<{longest}}  {does}" for use, does in uses.items())
    return f"""\
usage: {lines.strip()}

GAME is {names()}, or a path to a game's .pyx,
or gym:ID for any environment that Gymnasium makes, such as gym:ALE/Breakout-v5.
RUN is a run's folder, one of its checkpoints, the beginning of a folder's name under runs, or last for the newest run.

  {PROG} breakout                          train with the settings of the game's preset
  {PROG} breakout --seed 2 --device cpu    change some of them
  {PROG} breakout --help                   list all of them, with their defaults
  {PROG} eval --help                       list the options of an evaluation"""

