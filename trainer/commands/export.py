"""`python -m trainer export RUN`: a trained agent as an ONNX graph, and as one safetensors file."""

import importlib.util
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tyro.conf import Positional

from trainer.config.options import parse
from trainer.errors import ConfigError, ExportError
from trainer.runs import find as runs

FORMATS = ("onnx", "safetensors")
PACKAGES = ("onnx", "onnxscript", "onnxruntime")  # that --format onnx needs


@dataclass(frozen=True)
class ExportOptions:
    """How a trained agent is exported."""

    run: Positional[str]
    """A run's folder, one of its checkpoints, the beginning of a folder's name under runs, or last."""
    format: Literal["auto", "onnx", "safetensors", "both"] = "auto"
    """onnx: one step as a graph; safetensors: the weights. auto: what --out ends in, else both."""
    out: str | None = None
    """The file. none: policy.onnx and policy.safetensors in the run's folder."""

    @property
    def formats(self) -> tuple[str, ...]:
        """The formats to write."""
        if self.format == "auto" and self.out is not None and Path(self.out).suffix[1:] in FORMATS:
            return (Path(self.out).suffix[1:],)
        return FORMATS if self.format in ("auto", "both") else (self.format,)

    def check(self):
        """Raises ConfigError for a value that it may not have, ExportError for packages that are not there."""
        if self.out is not None:
            endings = [f".{name}" for name in self.formats]
            if Path(self.out).suffix not in ("", *endings) or not Path(self.out).stem:
                raise ConfigError(f"out is {self.out!r}; with --format {self.format} it may be a name that ends in "
                                  f"{' or '.join(endings)}, or has no ending: then it gets its own")
            if not Path(self.out).parent.is_dir():
                raise ConfigError(f"out is {self.out!r}, but the folder {str(Path(self.out).parent)!r} is not there; make it "
                                  "first")
        missing = [name for name in PACKAGES if "onnx" in self.formats and importlib.util.find_spec(name) is None]
        if missing:
            raise ExportError(f"to write and check an ONNX file, {', '.join(missing)} must be installed: pip install "
                              "'insertcoin[export]'; or use --format safetensors, which needs nothing more")


def main(argv: list[str]) -> None:
    options = parse(ExportOptions, argv, "export", "Export the agent of a run; the files are checked against it.")
    options.check()
    run = runs.find(options.run)
    from trainer.export.export import export_run
    print("\n".join(export_run(run, options.formats, options.out).lines()))
