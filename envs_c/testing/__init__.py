"""Does a game keep the contract of game.pxd? The contract suite, for games from outside as for the suite's own.

    from envs_c import testing
    testing.check("my_game.pyx")            # or a name, or a Game; raises ContractError with the rules that it breaks

and the same from the command line: `python -m envs_c check my_game.pyx`. The rules are tried in another process, so that
one that writes where it may not is named, and takes nothing else with it. `RULES` has them by name, each a function of a
`Game` that raises `Broken`; a game's own rules are for its own tests to check.
"""

import json
import signal
from collections.abc import Callable, Iterable

from envs_c.errors import ContractError, InvalidArgument
from envs_c.game import Game
from envs_c.testing.rules import RULES, Broken, rule_text, stays_in_its_state
from envs_c.testing.workers import module_of, worker

__all__ = ["RULES", "Broken", "check", "rule_text", "verdicts"]


def check(game: Game | str, rules: Iterable[str] | None = None, tell: Callable[[str, str | None], None] | None = None) -> None:
    """Try `rules` (names in RULES; all of them where None) on a game: a `Game`, a name of one, or a path to its .pyx.

    tell: called with the name of each rule and what breaks it, None where nothing does, as they come.
    Raises ContractError that names every rule broken, and how; UnknownGame, CompileFailed or InvalidArgument where there
    is nothing to try.
    """
    from envs_c import catalog
    game = game if isinstance(game, Game) else catalog.game(str(game))
    broken = {}
    for rule, how in verdicts(game, list(RULES if rules is None else rules)):
        if tell is not None:
            tell(rule, how)
        if how is not None:
            broken.setdefault(rule, how)
    if broken:
        lines = [f"  {rule}: {rule_text(rule)}\n      {how}" for rule, how in broken.items()]
        raise ContractError(f"game {game.name!r} breaks {len(broken)} of the contract's rules:\n" + "\n".join(lines))


def verdicts(game: Game, rules: list[str]):
    """Pairs of a rule's name and how it is broken or None; a rule that ends the process is followed by a new process, and
    an end that comes after the last of them (as of memory that was harmed) breaks `stays_in_its_state`."""
    for rule in rules:
        if rule not in RULES:
            raise InvalidArgument(f"there is no rule {rule!r}; the rules are {', '.join(RULES)}")
    while rules:
        with worker(module_of(game), "rules", *rules) as (process, errors):
            for line in process.stdout:
                verdict = json.loads(line)
                yield verdict["rule"], verdict["broken"]
                rules = rules[1:]
            process.wait()
            errors.seek(0)
            words = errors.read().strip()
        if process.returncode == 0:
            return
        yield (rules[0] if rules else stays_in_its_state.__name__), ended_by(process.returncode, words)
        rules = rules[1:]


def ended_by(status: int, words: str) -> str:
    """What happened to a process that was trying a rule."""
    if status < 0:
        return (f"the game ended the process by {signal.Signals(-status).name}: it reads or writes memory that is not its own, "
                "or divides by zero; DEBUG=1 and the sanitizers of CONTRIBUTING.md find the line")
    last = words.splitlines()[-1] if words else f"status {status}"
    return f"the process that tried it ended: {last}"
