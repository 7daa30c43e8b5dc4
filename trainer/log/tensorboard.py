"""TensorBoard event files, written with TensorBoard's own records: one event holds all figures of a step."""

import os
import socket
import time
from pathlib import Path

from tensorboard.compat.proto.event_pb2 import Event, SessionLog
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.record_writer import RecordWriter

# metrics' key -> TensorBoard's tag; a key that is not here goes under charts/
TAGS = {
    "score_mean": "score/mean", "length_mean": "score/length", "episodes": "score/episodes",
    "sps": "charts/sps", "learning_rate": "charts/learning_rate",
    "loss_policy": "losses/policy", "loss_value": "losses/value", "entropy": "losses/entropy", "kl": "losses/kl",
    "clip_fraction": "losses/clip_fraction", "explained_variance": "losses/explained_variance",
    "grad_norm": "losses/grad_norm",
    "rating": "self_play/rating", "pool_size": "self_play/pool_size", "win_rate_pool": "self_play/win_rate_pool",
    "time_env": "time/env", "time_copy": "time/copy", "time_forward": "time/forward", "time_sample": "time/sample",
    "time_learn": "time/learn", "time_other": "time/other",
}


class EventFile:
    """A new event file in `folder`.

    resume_step: the step that a run goes on from; TensorBoard then hides what older files hold of later steps.
    """

    def __init__(self, folder: Path, resume_step: int | None) -> None:
        name = f"events.out.tfevents.{time.time_ns()}.{socket.gethostname()}.{os.getpid()}"
        self._writer = RecordWriter((folder / name).open("xb"))
        self._write(Event(file_version="brain.Event:2"))
        if resume_step is not None:
            self._write(Event(step=resume_step + 1, session_log=SessionLog(status=SessionLog.START)))

    def write(self, step: int, metrics: dict[str, float | None]) -> None:
        """Write the figures of a step and flush; None is left out."""
        values = [Summary.Value(tag=TAGS.get(key, f"charts/{key}"), simple_value=value)
                  for key, value in metrics.items() if value is not None]
        self._write(Event(step=step, summary=Summary(value=values)))

    def close(self) -> None:
        self._writer.close()

    def _write(self, event: Event) -> None:
        event.wall_time = time.time()
        self._writer.write(event.SerializeToString())
        self._writer.flush()
