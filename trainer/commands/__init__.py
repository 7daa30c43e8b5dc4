"""The command line: a module for each verb.

`VERBS` is the registry of verbs. Each has a function `main(argv)`: it parses the arguments after the verb, calls the
function that does the work, and raises TrainerError for mistakes of the user. Other packages add verbs by entry points in
the group "insertcoin.verbs", such as

    [project.entry-points."insertcoin.verbs"]
    tournament = "my_package.tournament:main"

torch is loaded after the arguments are checked, since it is slow to load: help and errors come at once.
"""

from importlib.metadata import EntryPoint, entry_points
from typing import NamedTuple

from trainer.errors import ConfigError

GROUP = "insertcoin.verbs"  # of entry points
RUN_HELP = "a run's folder, one of its checkpoints, the beginning of a folder's name under runs, or last for the newest run"
SCORES_HELP = ("score: mean of the recent episodes; best: the highest score of a judgment (score_judged); the mean of recent "
               "episodes counts too if the newest judgment has no score, or if there was none; evaluation: mean score of the "
               "evaluation at the end, with sampled actions, or - if there is none of the last checkpoint.")


class Verb(NamedTuple):
    """A verb of the command line."""

    main: str   # "module:function", called with the arguments after the verb; returns the exit code, or None for 0
    usage: str  # these arguments, in the overview
    help: str   # one line about the verb, in the overview


VERBS = {
    "eval": Verb("trainer.commands.eval:main", "RUN [options]", "evaluate a trained agent, and film it"),
    "list": Verb("trainer.commands.list:main", "[options]", "list the runs, with their scores and states"),
    "play": Verb("trainer.commands.games:play", "GAME|RUN [options]",
                 "play a game yourself, or watch a trained agent, in a window or the terminal"),
    "record": Verb("trainer.commands.record:main", "RUN [options]", "film the best, the median and the worst of some episodes"),
    "compare": Verb("trainer.commands.compare:main", "RUN RUN ... [options]",
                    "draw the scores of several runs into one picture, with statistics over seeds"),
    "report": Verb("trainer.commands.report:main", "RUN ... [options]", "write one HTML page about a run, or about several"),
    "export": Verb("trainer.commands.export:main", "RUN [options]", "write a trained agent as ONNX and safetensors"),
    "sweep": Verb("trainer.commands.sweep:main", "GAME [options]", "search for the best settings for a game"),
    "bench": Verb("trainer.commands.bench:main", "GAME ... [options]",
                  "train many seeds at once, and print a table with intervals over the seeds"),
    "profile": Verb("trainer.commands.profile:main", "GAME [options]", "measure how long each stage of a training takes"),
    "arcade": Verb("trainer.commands.arcade:main", "[GAME.pyx ...] [options]",
                   "write the games and their agents as a page for browsers"),
    "selftest": Verb("trainer.commands.selftest:main", "[options]",
                     "check and measure this machine's GPU, and write one file to send"),
    "watch": Verb("trainer.commands.watch:main", "RUN [options]", "follow a run in a browser, its newest checkpoint playing"),
    "games": Verb("trainer.commands.games:games", "[GAME ...]", "list the games with their views, actions, options and speed"),
    "new": Verb("trainer.commands.games:new", "NAME", "begin a game of your own"),
    "replay": Verb("trainer.commands.games:replay", "LINK", "replay a game that was played in the arcade, bit for bit"),
    "check": Verb("trainer.commands.games:check", "FILE", "check a game of your own against the contract of games"),
}


def all_verbs() -> dict[str, Verb]:
    """`VERBS` and the verbs of other packages, which cannot replace them."""
    added = {point.name: Verb(point.value, "[options]", f"added by the package {point.dist.name}")
             for point in entry_points(group=GROUP)}
    return VERBS | {name: verb for name, verb in added.items() if name not in VERBS}


def run_verb(name: str, verb: Verb, argv: list[str]) -> int:
    """Run a verb; returns the exit code. Raises ConfigError if another package's verb cannot be loaded."""
    try:
        main = EntryPoint(name, verb.main, GROUP).load()
    except (ImportError, AttributeError) as error:
        if name in VERBS:
            raise
        raise ConfigError(f"the verb {name} cannot be loaded from {verb.main}: {error}; update or remove its package "
                        f"({verb.help})") from error
    return main(argv) or 0
