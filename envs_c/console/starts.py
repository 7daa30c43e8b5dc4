"""How a game starts, as games.toml writes it: "R4 [S2 N1] R8 f1".

A step is what is pressed, and the frames that it is held: R RESET, S SELECT, N nothing, f fire, u up, d down, l left, r right,
uf up and fire, and so on. Steps in brackets are repeated until the RAM holds the game's mode, not once if it holds it already.
A number before the brackets repeats them that often.
"""

import re

SWITCHES = {"R": 1, "S": 2}
# ALE's numbers of the actions
PRESSED = {"N": 0, "f": 1, "u": 2, "r": 3, "l": 4, "d": 5, "ur": 6, "ul": 7, "dr": 8, "dl": 9, "uf": 10, "rf": 11, "lf": 12,
           "df": 13, "urf": 14, "ulf": 15, "drf": 16, "dlf": 17}


def steps(start: str) -> list[tuple[int, int, int, int]]:
    """The steps of a start as (switches, action, frames, body): body counts the steps of a bracket that begins here, else 0.

    Raises ValueError if a word is neither a step nor a bracket.
    """
    rows, opened = [], None
    start = re.sub(r"(\d+)\[([^\]]*)\]", lambda part: int(part[1]) * f"{part[2]} ", start)
    for word in re.findall(r"[\[\]]|[^\s\[\]]+", start):
        if word == "[":
            opened = len(rows)
            rows.append((0, 0, 0, 0))
        elif word == "]" and opened is not None:
            rows[opened] = (0, 0, 0, len(rows) - opened - 1)
            opened = None
        else:
            step = re.fullmatch(r"([A-Za-z]+)(\d+)", word)
            if step is None or (step[1] not in SWITCHES and step[1] not in PRESSED):
                raise ValueError(f"a start has steps such as R4, S2, N1 or f1 and brackets, not {word!r} as in {start!r}")
            rows.append((SWITCHES.get(step[1], 0), PRESSED.get(step[1], 0), int(step[2]), 0))
    return rows


def modes(row: dict) -> list[list[int]]:
    """[mode, value of each byte of `select`] of a row of games.toml, in which a number alone is its own value."""
    return [mode if isinstance(mode, list) else [mode] + [mode] * len(row["select"]) for mode in row["modes"]]
