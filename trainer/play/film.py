"""Films of episodes as GIF or MP4. replay.py has their pictures."""

import errno
import importlib.util
import itertools
import math
import tempfile
from collections.abc import Iterable
from pathlib import Path

import imageio.v3 as iio
import numpy as np
from PIL import Image

from envs_c.files import write_atomically
from trainer.environments import rate_of
from trainer.errors import ConfigError, FilmError
from trainer.files import require_folder, user_path
from trainer.play.replay import frames
from trainer.runs.evaluation import text

SECONDS = 60                  # length of a film at most
RATE = 30                     # pictures a second at most
WIDTH = 320                   # pixels of a GIF at most
SUFFIXES = (".gif", ".mp4")


def check_name(path: str | Path):
    """Raises ConfigError if the path, of the option --out, does not end in .gif or .mp4, or no film can be written there.

    Raises FileError if no file can have this path.
    """
    path = user_path(str(path))
    if path.suffix.lower() not in SUFFIXES:
        raise ConfigError(f"--out must end in {' or '.join(SUFFIXES)}, not {str(path)!r}")
    if path.suffix.lower() == ".mp4" and importlib.util.find_spec("imageio_ffmpeg") is None:
        raise ConfigError("--out must end in .gif, not .mp4, without the package imageio-ffmpeg: pip install imageio-ffmpeg")
    require_folder("out", path)


def write(evaluation, index: int, path: Path, seconds: float = SECONDS, then: Iterable[int] = ()) -> str:
    """Write a film of an episode; returns a line about it.

    evaluation: an Evaluation (trainer/play/evaluate.py) that was `filmed` for these seconds or longer.
    index: number of the episode.
    path: file to write, .gif or .mp4; see `check_name`.
    seconds: length of the film at most.
    then: further episodes, if there is time left.

    Raises ConfigError if the film cannot be written, and FilmError if the episode cannot be drawn.
    """
    if not (evaluation.states or evaluation.replays or evaluation.pictures):
        raise FilmError("the environment has no render mode rgb_array, and its observations are not pictures")
    rate = rate_of(evaluation.source)
    every = max(1, math.ceil(rate / RATE))
    left = limit = max(1, int(seconds * rate))
    screens = []
    for one in (index, *then):
        screens += frames(evaluation, one, left, every)
        left -= min(left, _pictures(evaluation, one))
        if not left:
            break
    _save(path, screens, rate / every)
    shown = "the whole" if _pictures(evaluation, index) <= limit else f"the first {seconds:g} s of the"
    how = text({"protocol": evaluation.protocol})
    return f"{path}: {shown} episode that scored {evaluation.returns[index]:g} ({how})"


def write_or_say(evaluation, index: int, path: Path) -> str:
    """Like `write`, but a film that cannot be drawn or written is not an error: the line says why there is none.

    So the scores of the episodes, which were played for long perhaps, are not lost.
    """
    try:
        return write(evaluation, index, path)
    except FilmError as error:
        return f"{path} is not written: {error}"
    except ConfigError as error:
        return str(error)


def _pictures(evaluation, index: int) -> int:
    """The number of pictures of an episode. One that is replayed also has that after its last step."""
    return int(evaluation.lengths[index]) + bool(evaluation.states or evaluation.replays)


def _save(path: Path, screens: list[np.ndarray], rate: float):
    """Write screens (height, width, 3) as a film: the complete file or nothing. Raises ConfigError if it cannot be written."""
    try:
        data = _gif(screens, rate) if path.suffix.lower() == ".gif" else _mp4(screens, rate)
        write_atomically(path, [data])
    except OSError as error:
        place = "" if error.filename in (None, str(path)) else f" ({error.filename})"
        raise ConfigError(f"cannot write the film {path}: {error.strerror or error}{place}; make room, or film into "
                          "another file (eval RUN --out FILE)") from None


def _gif(screens: list[np.ndarray], rate: float) -> bytes:
    """The film. A GIF counts hundredths of a second: pictures differ in length by one unless `rate` divides 100."""
    ends = [round(100 * number / rate) for number in range(len(screens) + 1)]
    lengths = [10 * (end - begin) for begin, end in itertools.pairwise(ends)]
    return iio.imwrite("<bytes>", [_reduced(screen) for screen in screens], extension=".gif", loop=0,
                       duration=lengths if len(lengths) > 1 else lengths[0])  # Pillow takes no list for a single picture


def _mp4(screens: list[np.ndarray], rate: float) -> bytes:
    """The film, encoded in a temporary folder, since ffmpeg writes files only. Raises OSError."""
    factor = 2 if screens[0].shape[1] <= WIDTH else 1
    big = [np.repeat(np.repeat(screen, factor, 0), factor, 1) for screen in screens]
    with tempfile.TemporaryDirectory() as scratch:
        film = Path(scratch, "film.mp4")
        film.touch()  # a folder without room is an error here, and not in imageio, which would print a traceback too
        iio.imwrite(film, big, fps=rate, plugin="FFMPEG", macro_block_size=2)
        data = film.read_bytes()
    if b"moov" not in data:  # the index of a film, which ffmpeg writes at the end; imageio does not notice if it is killed
        raise OSError(errno.EIO, "ffmpeg ended before the film did, perhaps for lack of room", scratch)
    return data


def _reduced(screen: np.ndarray) -> np.ndarray:
    """A screen of at most WIDTH columns, by means of squares of pixels."""
    factor = -(-screen.shape[1] // WIDTH)
    return screen if factor == 1 else np.asarray(Image.fromarray(screen).reduce(factor))
