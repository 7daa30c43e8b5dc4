"""Pictures as coloured text. Each character, an upper half block, shows two pixels: foreground and background."""

import functools

import numpy as np

BLOCK = "▀"


def fitted(picture: np.ndarray, width: int, height: int) -> np.ndarray:
    """A picture (h, w, 3) uint8 scaled to fit into width x height: enlarged by an integer factor, or reduced by averaging."""
    scale = min(width / picture.shape[1], height / picture.shape[0])
    if scale >= 1:
        return picture.repeat(int(scale), 0).repeat(int(scale), 1)
    rows, columns = (shares(length, max(1, int(length * scale))) for length in picture.shape[:2])
    reduced = np.moveaxis(columns @ np.moveaxis(rows @ picture.transpose(2, 0, 1), 2, 1), 0, 2).swapaxes(0, 1)
    return np.ascontiguousarray((reduced + 0.5).astype(np.uint8))


@functools.lru_cache(maxsize=8)
def shares(length: int, cells: int) -> np.ndarray:
    """(cells, length) float32: the share of each of `length` pixels in each of `cells` equal parts of the same line."""
    edges = np.linspace(0, length, cells + 1)[:, None]
    covered = np.clip(edges - np.arange(length), 0, 1)  # (cells + 1, length): the part of each pixel before each edge
    return np.ascontiguousarray(np.diff(covered, axis=0) * (cells / length), np.float32)


def half_blocks(picture: np.ndarray) -> list[str]:
    """A picture (h, w, 3) uint8 as lines of text, two rows in each line. A colour is written only if it changes."""
    if len(picture) % 2:
        picture = np.concatenate([picture, np.zeros_like(picture[:1])])
    cells = np.concatenate([picture[0::2], picture[1::2]], 2)  # (lines, w, 6): upper, lower
    return [_line(row) for row in cells]


def _line(cells: np.ndarray) -> str:
    """One line of text; cells: (w, 6) uint8, the upper and the lower colour of each character."""
    starts = np.flatnonzero(np.r_[True, (cells[1:] != cells[:-1]).any(1)])
    runs = np.diff(np.r_[starts, len(cells)]).tolist()
    colours = cells[starts].tolist()
    return "".join(f"\x1b[38;2;{r};{g};{b};48;2;{R};{G};{B}m{BLOCK * run}"
                   for (r, g, b, R, G, B), run in zip(colours, runs, strict=True)) + "\x1b[0m"
