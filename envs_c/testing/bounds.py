"""The build that the rules test: a game from a file is compiled once more, with a check of every index of an array.

An index beyond its array then ends the process with a line of the .pyx. GCC and Clang have this check in UBSan; a pointer's
index is not checked, for the size behind it is unknown. A built-in game is tested as it is: `make sanitize` checks those.
"""

import re
import warnings
from pathlib import Path

from envs_c import outside
from envs_c.errors import CompileFailed, ContractError
from envs_c.testing.workers import module_of

# Python's macros index the array [1] at the end of a tuple: neither Cython's code nor its utilities may use them
NO_MACROS = ("-DCYTHON_ASSUME_SAFE_MACROS=0", "-include", str(Path(__file__).with_name("checked.h")))
SANITIZERS = (  # of GCC, and of Clang; both also check an array at the end of a struct
    ("-fsanitize=bounds-strict", "-fno-sanitize-recover=bounds-strict", *NO_MACROS),
    ("-fsanitize=bounds", "-fstrict-flex-arrays=3", "-fno-sanitize-recover=bounds", *NO_MACROS),
)
_REPORT = re.compile(r"([\w.-]+\.(?:pyx|pxd|pxi|c)):(\d+):\d+: runtime error: (index .*)")


def module_to_test(game) -> str:
    """The file of the module to test: with checked indexes, if `game` comes from a file.

    Warns if no compiler here has the check. Raises ContractError if the game's files have changed since they were loaded.
    """
    if game not in outside.SOURCES:
        return module_of(game)
    source, digest = outside.SOURCES[game]
    texts = outside.texts_of(source) if source.is_file() else {}
    if outside.digest_of(texts) != digest:
        raise ContractError(f"{source} must be as it was when the game was loaded, but it has changed or gone: load it again")
    for flags in SANITIZERS:
        try:
            return str(outside.built(source, texts, flags))
        except CompileFailed:
            continue
    warnings.warn("indexes of arrays are not checked: the C compiler knows none of "
                  f"{', '.join(flags[0] for flags in SANITIZERS)}", stacklevel=2)
    return module_of(game)


def wrong_index(errors: str) -> str | None:
    """The fault in what a process has written to its errors, if an index was beyond its array; else None."""
    found = _REPORT.search(errors)
    return None if found is None else f"{found[3]} ({found[1]}, line {found[2]})"
