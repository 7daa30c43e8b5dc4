"""Films of episodes, GIF or MP4: an episode is played again from its first state with the actions that were taken."""

import importlib.util
import os
from collections.abc import Iterable
from pathlib import Path

import imageio.v3 as iio
import numpy as np

import envs_c
from trainer.errors import ConfigError

SECONDS = 60                  # what is longer is cut here
SUFFIXES = (".gif", ".mp4")
FOREIGN_RATE = 15             # pictures a second of an environment that is not ours: a console's 60 frames, four a step


def check_name(path: str | Path):
    """Raises ConfigError where the name is not that of a GIF or an MP4, or what it takes to write it is not there."""
    path = Path(path)
    if path.suffix.lower() not in SUFFIXES:
        raise ConfigError(f"the film's name is {str(path)!r}; it must end in {' or '.join(SUFFIXES)}")
    if path.suffix.lower() == ".mp4" and importlib.util.find_spec("imageio_ffmpeg") is None:
        raise ConfigError("an MP4 needs the package imageio-ffmpeg: pip install imageio-ffmpeg, or write a .gif")
    if not path.parent.is_dir():
        raise ConfigError(f"the film's folder {str(path.parent)!r} is not there; make it first")


def frames(evaluation, index: int, limit: int) -> list[np.ndarray]:
    """Colour screens (height, width, 3) of episode `index`, one a step, the first `limit` of them."""
    if not evaluation.states:
        return [np.repeat(picture[..., None], 3, 2) for picture in evaluation.pictures[:limit]]
    theirs = evaluation.source.env
    env = envs_c.VecEnv(theirs.game, theirs.num_envs, frame_skip=theirs.frame_skip, sticky=theirs.sticky, seed=0,
                        time_limit=theirs.time_limit, num_threads=1, options=theirs.options)
    env.set_state(evaluation.states["environments"].numpy().tobytes())
    observation = np.zeros((1, *env.observation_shape), env.observation_dtype)
    action, outputs = np.zeros(1, np.int32), np.zeros((3, 1), np.float32)
    batch = env.bind(index, index + 1, actions=action, observation=observation,
                     reward=outputs[0], terminated=outputs[1], truncated=outputs[2])
    screens = [env.render(index)]
    for step in range(min(int(evaluation.lengths[index]), limit - 1)):
        action[0] = evaluation.actions[step, index]
        batch.step()
        screens.append(env.render(index))
    return screens


def rate_of(source) -> float:
    """Pictures a second at which a source's environments are shown at their own speed: one a step."""
    return source.env.game.fps / source.env.frame_skip if source.saves else FOREIGN_RATE


def write(evaluation, index: int, path: Path, seconds: float = SECONDS, then: Iterable[int] = ()) -> str:
    """Film episode `index` into `path`, at most so many seconds of it; returns a line about it.

    then: episodes that follow it where there is time left.
    """
    check_name(path)
    if not (evaluation.states or evaluation.pictures):
        return f"{path} is not written: the environment cannot be played again, and what it shows is no picture"
    rate = rate_of(evaluation.source)
    every = max(1, round(rate / 30))  # at most 30 pictures a second
    limit = max(1, int(seconds * rate))
    screens = frames(evaluation, index, limit)
    whole = len(screens) >= evaluation.lengths[index] + bool(evaluation.states)  # which also have the last step's picture
    for other in then:
        if len(screens) < limit:
            screens += frames(evaluation, other, limit - len(screens))
    screens, rate = screens[::every], rate / every
    _save(path, screens, rate)
    shown = "the whole" if whole else f"the first {seconds:g} s of the"
    return f"{path}: {shown} episode that scored {evaluation.returns[index]:g}"


def _save(path: Path, screens: list[np.ndarray], rate: float):
    """Write screens (height, width, 3) as a film that is wholly there or not at all. Raises ConfigError where it cannot."""
    temporary = path.with_name(f".{path.stem}.{os.getpid()}.tmp{path.suffix}")
    try:
        if path.suffix.lower() == ".gif":
            iio.imwrite(temporary, screens, duration=1000 / rate, loop=0)
        else:
            big = [np.repeat(np.repeat(screen, 2, 0), 2, 1) for screen in screens]
            iio.imwrite(temporary, big, fps=rate, plugin="FFMPEG", macro_block_size=2)
        os.replace(temporary, path)
    except OSError as error:
        raise ConfigError(f"cannot write the film {path}: {error.strerror or error}; name another file with --out") from None
    finally:
        temporary.unlink(missing_ok=True)
