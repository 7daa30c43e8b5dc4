"""Reads ale-py's palettes with a program that shows a line of each colour, and writes them as a table."""

from pathlib import Path

import numpy as np

from tools.console_tia.oracle import Oracle
from tools.console_tia.program import REGISTERS, assemble

TABLE = Path(__file__).resolve().parents[2] / "envs_c" / "console" / "pictures" / "palette.pxd"
NTSC_LINES, PAL_LINES = 262, 312
HEAD = '''"""The palettes of ale-py 0.12.1: `python -m tools.console_tia palette` writes this file.

Entry c >> 1 is the colour 0xRRGGBB of the even palette index c. An odd index, which PAL has after frames with an odd number of
lines, is the grey of the even one below it: red, green and blue are 0.2989 R + 0.5870 G + 0.1140 B, rounded.
"""

from libc.stdint cimport uint32_t

cdef extern from *:
    """
'''


def read_palette(oracle: Oracle, lines: int) -> np.ndarray:
    """(128, 3) uint8: red, green and blue of the palette indices 0, 2 .. 254."""
    colours = np.zeros((128, 3), np.uint8)
    for first in (0, 64):
        operations = [("line",)] * 44
        for colour in range(first, first + 64):
            operations += [("write", REGISTERS["COLUBK"], 2 * colour), ("line",)]
        screen, _ = oracle.run(assemble(operations, lines))
        picture = oracle.ale.getScreenRGB()
        for row in range(screen.shape[0]):
            colours[screen[row, 80] >> 1] = picture[row, 80]
    return colours


def grey(colours: np.ndarray) -> np.ndarray:
    """(n,) uint8: ale-py's grey of (n, 3) colours."""
    return (colours @ np.array([0.2989, 0.5870, 0.1140]) + 0.5).astype(np.uint8)


def write_table(oracle: Oracle) -> str:
    """Write the table of both palettes. Returns its path."""
    text = HEAD
    for name, lines in (("NTSC", NTSC_LINES), ("PAL", PAL_LINES)):
        values = [f"0x{r:02X}{g:02X}{b:02X}" for r, g, b in read_palette(oracle, lines).tolist()]
        rows = [", ".join(values[start:start + 8]) for start in range(0, 128, 8)]
        text += f"    static const unsigned int {name}[128] = {{\n        " + ",\n        ".join(rows) + "};\n"
    TABLE.write_text(text + '    """\n    const uint32_t[128] NTSC, PAL\n', encoding="utf-8")
    return str(TABLE)
