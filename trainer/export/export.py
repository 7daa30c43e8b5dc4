"""Exporting a trained policy: an ONNX graph of one step, and its weights in one safetensors file, both checked before they are
written."""

from dataclasses import dataclass
from pathlib import Path

import torch

from trainer.environments import make_source
from trainer.errors import CheckpointError, ExportError
from trainer.export import check as export_check
from trainer.export.check import Difference
from trainer.export.graph import StepGraph, onnx_bytes
from trainer.export.weights import describe, rebuild, weights_bytes
from trainer.files import write_atomically
from trainer.policy.load import load_run
from trainer.runs import checkpoint


@dataclass(frozen=True)
class Exported:
    """What was written: the files, their bytes and how far each is from the policy; and, where the policy was trained in
    another precision than float32, that precision and how far it is."""

    checkpoint: Path
    observations: int
    files: dict[Path, tuple[int, Difference]]
    precision: str
    trained: Difference | None

    def lines(self) -> list[str]:
        """In words."""
        told = [f"{self.checkpoint}: checked on {self.observations:,} observations gathered by playing"]
        told += [f"{path}: {size:,} bytes; logits differ by at most {found.logits:.2g}, values by {found.value:.2g}"
                 for path, (size, found) in self.files.items()]
        if self.trained is not None:
            told.append(f"it was trained in {self.precision}, where logits differ by up to {self.trained.logits:.2g} and "
                        f"values by {self.trained.value:.2g} from the float32 that was exported")
        return told


def export_run(run: str | Path, formats: tuple[str, ...], out: str | None) -> Exported:
    """Export the newest checkpoint of a run (or the checkpoint named) as each of `formats`, "onnx" and "safetensors".

    out: the file's name, whose ending gives way to the format's; None: policy.onnx and policy.safetensors in the run's folder.

    Raises what `load_run` does, and ExportError where a file would not do what the policy does (nothing is written then), or
    cannot be written.
    """
    path, network, config = load_run(run, "cpu")
    stem = path.parent / "policy" if out is None else Path(out).with_suffix("")
    targets = {name: stem.with_name(f"{stem.name}.{name}") for name in formats}
    for target in targets.values():
        _refuse_checkpoint(target)
    source = make_source(config.game, config.env, 1, 0)
    about, dtype = describe(network, config, source, checkpoint.read_meta(path)), getattr(torch, str(source.observation_dtype))
    source.close()
    graph, played = StepGraph(network), export_check.gather(network, config)
    checked = {}
    for name, target in targets.items():
        if name == "onnx":
            data = onnx_bytes(graph, dtype, about)
            step = export_check.onnx_step(data)
        else:
            data = weights_bytes(graph.network, about)
            step = export_check.torch_step(StepGraph(rebuild(data)[0]))
        found = export_check.difference(step, graph, played)
        export_check.require(found, played, f"{target.name}, as it was to be written,")
        checked[target] = data, found
    for target, (data, _) in checked.items():
        try:
            write_atomically(target, [data])
        except OSError as error:
            raise ExportError(f"cannot write {target}: {error.strerror or error}") from None
    exact = network.precision == torch.float32
    return Exported(path, played.start.size, {target: (len(data), found) for target, (data, found) in checked.items()},
                    about["trained_in"], None if exact else export_check.as_trained(network, played))


def _refuse_checkpoint(target: Path):
    """Raise ExportError where a checkpoint would be overwritten."""
    if not target.exists():
        return
    try:
        checkpoint.read_meta(target)
    except CheckpointError:
        return
    raise ExportError(f"{target} is a checkpoint, which is more than what is exported; give --out another name")
