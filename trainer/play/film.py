"""Films of episodes as GIF or MP4: an episode is replayed from its first state with the same actions."""

import contextlib
import importlib.util
import os
from collections.abc import Iterable
from pathlib import Path

import imageio.v3 as iio
import numpy as np

import envs_c
from trainer.environments import rate_of
from trainer.errors import ConfigError
from trainer.files import may_write
from trainer.runs.evaluation import text

SECONDS = 60                  # length of a film at most
SUFFIXES = (".gif", ".mp4")


def check_name(path: str | Path):
    """Raises ConfigError if the path does not end in .gif or .mp4, or the film could not be written there."""
    path = Path(path)
    if path.suffix.lower() not in SUFFIXES:
        raise ConfigError(f"--out must end in {' or '.join(SUFFIXES)}, not {str(path)!r}")
    if path.suffix.lower() == ".mp4" and importlib.util.find_spec("imageio_ffmpeg") is None:
        raise ConfigError("--out must end in .gif, not .mp4, without the package imageio-ffmpeg: pip install imageio-ffmpeg")
    if not path.parent.is_dir():
        raise ConfigError(f"--out must be in a folder that exists, not {str(path.parent)!r}: make the folder first")
    if not may_write(path.parent):
        raise ConfigError(f"--out must be in a folder that you may write to, not {str(path.parent)!r}: name a file elsewhere")


def frames(evaluation, index: int, limit: int) -> list[np.ndarray]:
    """Colour screens (height, width, 3) uint8 of episode `index`, one for each step, at most `limit`."""
    if not evaluation.states:
        return [np.repeat(picture[..., None], 3, 2) for picture in evaluation.pictures[:limit]]
    played = evaluation.source.env
    env = envs_c.VecEnv(played.game, played.num_envs, frame_skip=played.frame_skip, sticky=played.sticky, seed=0,
                        time_limit=played.time_limit, num_threads=1, options=played.options)
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


def write(evaluation, index: int, path: Path, seconds: float = SECONDS, then: Iterable[int] = ()) -> str:
    """Write a film of an episode; returns a line about it.

    evaluation: an Evaluation (trainer/play/evaluate.py) that was `filmed` for these seconds or longer.
    index: number of the episode.
    path: file to write, .gif or .mp4.
    seconds: length of the film at most.
    then: further episodes, if there is time left.

    Raises ConfigError if the film cannot be written.
    """
    check_name(path)
    if not (evaluation.states or evaluation.pictures):
        return f"{path} is not written: the environment cannot be replayed, and its observations are not pictures"
    rate = rate_of(evaluation.source)
    every = max(1, round(rate / 30))  # at most 30 pictures a second
    limit = max(1, int(seconds * rate))
    screens = frames(evaluation, index, limit)
    # A replayed episode also has the screen after its last step.
    complete = len(screens) >= evaluation.lengths[index] + bool(evaluation.states)
    for other in then:
        if len(screens) < limit:
            screens += frames(evaluation, other, limit - len(screens))
    screens, rate = screens[::every], rate / every
    _save(path, screens, rate)
    shown = "the whole" if complete else f"the first {seconds:g} s of the"
    how = text({"protocol": evaluation.protocol})
    return f"{path}: {shown} episode that scored {evaluation.returns[index]:g} ({how})"


def _save(path: Path, screens: list[np.ndarray], rate: float):
    """Write screens (height, width, 3) as a film: the complete file or nothing. Raises ConfigError if it cannot be written."""
    temporary = path.with_name(f".{path.stem}.{os.getpid()}.tmp{path.suffix}")
    try:
        temporary.touch()  # fails here and not in imageio, which would print a traceback of its own too
        if path.suffix.lower() == ".gif":
            iio.imwrite(temporary, screens, duration=1000 / rate, loop=0)
        else:
            big = [np.repeat(np.repeat(screen, 2, 0), 2, 1) for screen in screens]
            iio.imwrite(temporary, big, fps=rate, plugin="FFMPEG", macro_block_size=2)
        os.replace(temporary, path)
    except OSError as error:
        raise ConfigError(f"cannot write the film {path}: {error.strerror or error}; name another file with --out") from None
    finally:
        with contextlib.suppress(OSError):  # there is none if its name was refused
            temporary.unlink()
