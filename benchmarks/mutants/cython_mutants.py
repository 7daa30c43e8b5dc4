"""Mutants of a Cython file: one operator, number or name of its code is replaced by another, by this table."""

import io
import tokenize
from typing import NamedTuple

# What a token is replaced by. A number is replaced by the next one.
REPLACEMENTS = {
    "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==",
    "+": "-", "-": "+", "*": "+", "//": "*", "%": "+", "&": "|", "|": "&", "<<": ">>", ">>": "<<",
    "+=": "-=", "-=": "+=", "&=": "|=", "|=": "&=",
    "and": "or", "or": "and", "not": "", "True": "False", "False": "True", "break": "continue", "min": "max", "max": "min",
}
# Lines without code of the kind that runs: their mutants do not compile, or do the same.
DECLARATIONS = ("import ", "from ", "cimport ", "ctypedef ", "cdef extern", "cdef struct", "cdef enum", "DEF ", "@", "def __")


class Place(NamedTuple):
    """A token of code, and what replaces it."""

    row: int
    begin: int
    end: int
    replacement: str


def places(source: str) -> list[Place]:
    """The tokens that can be replaced, in the order of the file."""
    tokens = list(tokenize.generate_tokens(io.StringIO(source).readline))
    found = []
    for before, token, after in zip(tokens, tokens[1:], tokens[2:], strict=False):
        replacement = _replacement(before, token, after)
        if replacement is not None and not token.line.strip().startswith(DECLARATIONS):
            found.append(Place(token.start[0] - 1, token.start[1], token.end[1], replacement))
    return found


def mutate(source: str, place: Place) -> str:
    """The whole text with one token replaced."""
    lines = source.splitlines(keepends=True)
    line = lines[place.row]
    lines[place.row] = line[:place.begin] + place.replacement + line[place.end:]
    return "".join(lines)


def _replacement(before: tokenize.TokenInfo, token: tokenize.TokenInfo, after: tokenize.TokenInfo) -> str | None:
    if token.type == tokenize.NUMBER and before.string != "[" and token.string.isdigit():
        if token.line[:token.start[1]].endswith("::"):
            return None  # a memory view's layout, [:, ::1], has no other number
        return str(int(token.string) + 1)
    if token.string not in REPLACEMENTS or token.type not in (tokenize.OP, tokenize.NAME):
        return None
    spaced = before.end[1] < token.start[1] and token.end[1] < after.start[1]  # not a pointer, an address, a cast or a sign
    return REPLACEMENTS[token.string] if spaced or token.type == tokenize.NAME else None
