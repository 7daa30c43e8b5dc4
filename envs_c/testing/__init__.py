"""The contract suite: tests of a game against the contract of game.pxd. For built-in games and for your own.

    from envs_c import testing
    testing.check("my_game.pyx")            # or a name, or a Game; raises ContractError, which names the broken rules

The same on the command line: `python -m envs_c check my_game.pyx`. The rules run in another process: a game may then
write outside its memory without other harm. `RULES` has the rules by name; each is a function of a `Game` and raises
`Broken`. These are the rules of all games; tests of one game's own rules lie beside the game.
"""

import json
import os
import signal
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import TextIO

from envs_c import catalog, outside
from envs_c.errors import ContractError, InvalidArgument
from envs_c.game import Game
from envs_c.testing import actions, pictures, restored  # noqa: F401  their rules join RULES
from envs_c.testing.bounds import module_to_test, wrong_index
from envs_c.testing.fields import layout
from envs_c.testing.rules import RULES, Broken, rule_text, stays_in_its_state
from envs_c.testing.workers import ask, check_system, module_of, worker
from envs_c.text import printable

ENDLESS = {  # advice by the answer of the process that plays until an episode ends
    (0, b'"nothing"\n'): "in a million random steps: set over[0] in `step`, or give its Game(...) a time_limit",
    (0, b'"limit"\n'): "in a million random steps but by its time limit: set over[0] in `step` if it has an end of its own",
}
REFUSED = "not tested: valid refuses a state that the game has reached"
CAUSE = "accepts_its_own_states"  # the rule that says why
MOST_PRINTS, MOST_LINES = 4000, 20  # bytes and lines that are shown of what a game prints during one rule

__all__ = ["RULES", "Broken", "check", "rule_text", "summary", "verdicts"]


def check(game: Game | str, rules: Iterable[str] | None = None,
          report: Callable[[str, str | None], None] | None = None,
          prints: Callable[[str, list[str]], None] | None = None) -> None:
    """Test a game against the contract.

    game: a `Game`, a game's name, or a path to its .pyx.
    rules: names of RULES; None is all of them.
    report: called after each rule with its name and its fault, None if the game keeps it.
    prints: called after `report` with the rule's name and the first lines that the game has printed while the rule was tested,
        if there are any.

    Warns if the game keeps all rules but ends no episode by itself in a million random steps.

    Raises ContractError, which names every broken rule with its fault; UnknownGame, CompileFailed or InvalidArgument if
    there is no game to test; EnvsError on Windows.
    """
    check_system()
    game = game if isinstance(game, Game) else catalog.game(str(game))
    if game.state_size == 0:
        raise ContractError(f"game {game.name!r} has no compiled functions: end its file with "
                            "GAME = Game(...).bind(chunk, ...)")
    broken = {}
    printed: dict[str, list[str]] = {}
    module = module_to_test(game) if rules is None else module_of(game)
    for rule, fault in verdicts(game, list(RULES if rules is None else rules), printed, module):
        if report is not None:
            report(rule, fault)
        if prints is not None and printed.get(rule):
            prints(rule, printed[rule])
        if fault not in (None, REFUSED) or (fault == REFUSED and CAUSE not in broken):
            broken.setdefault(rule, fault)
    if CAUSE in broken:  # this one fault keeps the others from being tested
        broken = {rule: fault for rule, fault in broken.items() if fault != REFUSED}
    if broken:
        lines = [f"  {rule}: {rule_text(rule)}\n      {fault}" for rule, fault in broken.items()]
        raise ContractError(f"game {game.name!r} breaks {len(broken)} of the contract's rules:\n" + "\n".join(lines))
    if rules is None and (advice := ENDLESS.get(ask(module_of(game), "ends"))):
        warnings.warn(f"no episode of {game.name!r} ended {advice}", stacklevel=2)


def summary(game: Game | str) -> tuple[list[str], list[str]]:
    """Lines about random play of a game, in a process of its own, and warnings about suspicious numbers.

    Raises ContractError if the process fails: `check` finds out why.
    """
    game = game if isinstance(game, Game) else catalog.game(str(game))
    status, output = ask(module_of(game), "summary")
    if status != 0:
        raise ContractError(f"random play of {game.name!r} failed: check the game against all rules first")
    lines, suspicious = json.loads(output)
    return lines, suspicious


def verdicts(game: Game, rules: list[str], printed: dict[str, list[str]] | None = None,
             module: str | None = None) -> Iterator[tuple[str, str | None]]:
    """Pairs (rule, fault) as they come; fault is None if the game keeps the rule.

    printed: gets the lines that the game has printed, by rule; long prints are cut.
    module: the file of the compiled game, if it is another build than the one that is loaded here.

    After damaged memory, a crash or an infinite loop, the remaining rules are not tested. If the process fails after its last
    rule, as it may when memory was damaged, the rule `stays_in_its_state` is broken.
    """
    for rule in rules:
        if rule not in RULES:
            raise InvalidArgument(f"there is no rule {rule!r}; the rules are {', '.join(RULES)}")
    while rules:
        with worker(module or module_of(game), "rules", *rules, given=fields_of(game)) as (process, errors):
            read = 0
            for line in process.stdout:
                verdict = json.loads(line)
                rules = rules[1:]
                read = take_prints(errors, read, printed, verdict["rule"])
                if verdict["stops"]:
                    yield verdict["rule"], verdict["fault"] + untested(rules)
                    return
                yield verdict["rule"], verdict["fault"]
            process.wait()
            errors.seek(0)
            output = errors.read().strip()
            if process.returncode == 0:
                return
            rule, rules = rules[0] if rules else stays_in_its_state.__name__, rules[1:]
            take_prints(errors, read, printed, rule)
        if fault := wrong_index(output):
            yield rule, fault + untested(rules)
            return
        if process.returncode < 0:
            yield rule, ended_by(process.returncode, output) + untested(rules)
            return
        yield rule, ended_by(process.returncode, output)


def fields_of(game: Game) -> str:
    """The fields of the game's struct as JSON, from its file; [] if that is not known."""
    source = outside.SOURCES[game][0] if game in outside.SOURCES else None
    if source is None or not source.is_file():
        return "[]"
    return json.dumps(layout(source.read_text(encoding="utf-8", errors="replace"), game.state_size))


def take_prints(errors: TextIO, begin: int, printed: dict[str, list[str]] | None, rule: str) -> int:
    """Add to `printed` the first lines of what the process has printed since the byte `begin`; returns the present end.

    The process writes to the same open file, whose position must stay.
    """
    end = os.fstat(errors.fileno()).st_size
    lines = os.pread(errors.fileno(), min(end - begin, MOST_PRINTS), begin).decode(errors="replace").splitlines()
    if printed is not None and lines:
        more = ["..."] if end - begin > MOST_PRINTS or len(lines) > MOST_LINES else []
        printed[rule] = [printable(line) for line in lines[:MOST_LINES]] + more
    return end


def untested(rules: list[str]) -> str:
    """An addition to a fault after which these rules are not tested."""
    return f"; not tested after this: {', '.join(rules)}" if rules else ""


def ended_by(status: int, output: str) -> str:
    """The fault of a game whose process ended with `status` and these errors."""
    if status < 0:
        return (f"the game ended the process by {signal.Signals(-status).name}: it reads or writes memory outside its own, "
                "or divides by zero; gdb finds the line (docs/writing_a_game.md, Debugging)")
    last = output.splitlines()[-1] if output else f"status {status}"
    return f"the process that tested it ended: {last}"
