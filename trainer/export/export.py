"""Export of a trained policy: an ONNX graph of one step, and its weights in one safetensors file.

Both are compared with the policy before they are written.
"""

import contextlib
from dataclasses import dataclass
from pathlib import Path

import torch

from envs_c.files import write_together
from trainer.environments import make_source
from trainer.errors import CheckpointError, ExportError
from trainer.export import check
from trainer.export.check import Difference
from trainer.export.graph import StepGraph, onnx_bytes
from trainer.export.weights import describe, rebuild, weights_bytes
from trainer.policy.load import load_run
from trainer.runs import checkpoint


@dataclass(frozen=True)
class Exported:
    """The result of an export.

    checkpoint: the exported checkpoint.
    observations: number of observations on which the files were compared with the policy.
    files: by path, the size in bytes and the difference from the policy.
    precision: dtype of the training's products.
    trained: difference between the policy in this precision and in float32; None if it is float32.
    """

    checkpoint: Path
    observations: int
    files: dict[Path, tuple[int, Difference]]
    precision: str
    trained: Difference | None

    def lines(self) -> list[str]:
        """The result as lines of text."""
        lines = [f"{self.checkpoint}: checked on {self.observations:,} observations gathered by playing"]
        lines += [f"{path}: {size:,} bytes; logits differ by at most {found.logits:.2g}, values by {found.value:.2g}"
                  for path, (size, found) in self.files.items()]
        if self.trained is not None:
            lines.append(f"it was trained in {self.precision}, where logits differ by up to {self.trained.logits:.2g} and "
                         f"values by {self.trained.value:.2g} from the exported float32")
        return lines


def export_run(run: str | Path, formats: tuple[str, ...], out: str | None, *, trust_code: bool = False) -> Exported:
    """Export a run's newest checkpoint, or the given checkpoint.

    formats: one or both of "onnx" and "safetensors".
    out: path of the file; its ending is replaced by the format's. None for policy.onnx and policy.safetensors in the
        run's folder.
    trust_code: as for `load_policy`.

    Raises as `load_run`, and ExportError if the policy cannot be exported, if a file differs from the policy, or if a file
    cannot be written; then nothing is written.
    """
    path, policy, config = load_run(run, "cpu", trust_code=trust_code)
    stem = path.parent / "policy" if out is None else Path(out).with_suffix("")
    targets = {name: stem.with_name(f"{stem.name}.{name}") for name in formats}
    for target in targets.values():
        _refuse(target)
    with contextlib.closing(make_source(config.game, config.env, 1, 0)) as source:
        dtype = getattr(torch, str(source.observation_dtype))
        about = describe(policy, config, source, checkpoint.read_meta(path))
    graph, played = StepGraph(policy), check.gather(policy, config.game, config.env)
    checked = {}
    for name, target in targets.items():
        if name == "onnx":
            data = onnx_bytes(graph, dtype, about)
            step = check.onnx_step(data)
        else:
            data = weights_bytes(graph.policy, about)
            step = check.torch_step(StepGraph(rebuild(data, trust_code=True)[0]))
        found = check.difference(step, graph, played)
        check.require(found, played, target.name)
        checked[target] = data, found
    try:
        write_together({target: [data] for target, (data, _) in checked.items()})
    except OSError as error:
        raise ExportError(f"cannot write {error.filename}: {error.strerror or error}; name another file with --out") from None
    exact = policy.precision == torch.float32
    return Exported(path, played.start.size, {target: (len(data), found) for target, (data, found) in checked.items()},
                    about["trained_in"], None if exact else check.as_trained(policy, played))


def _refuse(target: Path):
    """Raises ExportError if the target is a folder or a checkpoint."""
    if not target.exists():
        return
    if target.is_dir():
        raise ExportError(f"cannot write {target}: it is a folder; name another file with --out")
    try:
        checkpoint.read_meta(target)
    except CheckpointError:
        return
    raise ExportError(f"--out must not name a checkpoint, which holds more than an exported policy, as {target} does; choose "
                      "another name")
