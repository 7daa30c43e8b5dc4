"""The tracker for TensorBoard: event files in the run's folder."""

from pathlib import Path
from typing import Any

from envs_c.files import naming

# tag in TensorBoard for each metric; other metrics go under charts/
TAGS = {
    "score_mean": "score/mean", "score_judged": "score/judged", "length_mean": "score/length", "episodes": "score/episodes",
    "sps": "charts/sps", "learning_rate": "charts/learning_rate",
    "loss_policy": "losses/policy", "loss_value": "losses/value", "entropy": "losses/entropy", "kl": "losses/kl",
    "clip_fraction": "losses/clip_fraction", "explained_variance": "losses/explained_variance",
    "grad_norm": "losses/grad_norm",
    "rating": "self_play/rating", "pool_size": "self_play/pool_size", "win_rate_pool": "self_play/win_rate_pool",
    "time_env": "time/env", "time_copy": "time/copy", "time_forward": "time/forward", "time_sample": "time/sample",
    "time_learn": "time/learn", "time_other": "time/other",
}
_QUEUE = 1024  # events; `write` must never wait for the disk


def tagged(metrics: dict[str, float | None]) -> dict[str, float]:
    """The metrics by their tags, without None."""
    return {TAGS.get(key, f"charts/{key}"): value for key, value in metrics.items() if value is not None}


class TensorBoard:
    """A new event file in the run's folder. TensorBoard hides the steps after `resume_step` in older files."""

    package = "tensorboard"

    def __init__(self, folder: Path, settings: dict[str, Any], resume_step: int | None) -> None:
        from torch.utils.tensorboard import SummaryWriter  # here, since it loads torch
        purge_step = None if resume_step is None else resume_step + 1
        self._folder = folder
        with naming(folder):
            self._writer = SummaryWriter(str(folder), purge_step=purge_step, max_queue=_QUEUE)

    def write(self, step: int, metrics: dict[str, float | None]) -> None:
        with naming(self._folder):
            for tag, value in tagged(metrics).items():
                self._writer.add_scalar(tag, value, step)
            self._writer.flush()  # a kill must not lose metrics; this function takes 0.8 ms for 22 metrics

    def close(self) -> None:
        with naming(self._folder):
            self._writer.close()
