"""`python -m trainer export RUN`: a trained agent as an ONNX graph, and as a safetensors file."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from envs_c import install
from envs_c.text import say
from trainer import imports
from trainer.commands.arguments import CodeOptions, Run, admitted_run
from trainer.config.fields import path_setting
from trainer.config.options import parse
from trainer.errors import ExportError, SettingError
from trainer.files import require_folder
from trainer.runs.find import find

FORMATS = ("onnx", "safetensors")
PACKAGES = ("onnx", "onnxscript", "onnxruntime")  # needed for the format onnx


@dataclass(frozen=True)
class ExportOptions(CodeOptions):
    """Options of an export."""

    run: Run
    format: Literal["auto", "onnx", "safetensors", "both"] = "auto"
    """onnx: one step as a graph. safetensors: the weights. auto: by the ending of --out, otherwise both."""
    out: str | None = path_setting()
    """The file. none: policy.onnx and policy.safetensors in the run's folder."""

    @property
    def formats(self) -> tuple[str, ...]:
        """The formats to write."""
        if self.format == "auto" and self.out is not None and Path(self.out).suffix[1:] in FORMATS:
            return (Path(self.out).suffix[1:],)
        return FORMATS if self.format in ("auto", "both") else (self.format,)

    def check(self) -> None:
        super().check()
        if self.out is None:
            return
        endings = [f".{name}" for name in self.formats]
        if Path(self.out).suffix not in ("", *endings) or not Path(self.out).stem:
            raise SettingError("out", f"must be a file that ends in {' or '.join(endings)} with --format {self.format}, or a "
                                      f"name without an ending, which is added, not {self.out!r}")
        for name in [self.out] if Path(self.out).suffix else [f"{self.out}{ending}" for ending in endings]:
            require_folder("out", name)


def main(argv: list[str]) -> None:
    """Write the files."""
    options = parse(ExportOptions, argv, "export", "Export the agent of a run; the files are checked against it.")
    if "onnx" in options.formats:
        require_packages()
    run = find(options.run)
    with admitted_run(run, options):
        from trainer.export.export import export_run
        say(*export_run(run, options.formats, options.out).lines())


def require_packages() -> None:
    """Raise ExportError if a package for the format onnx is not installed."""
    missing = [name for name in PACKAGES if not imports.has_package(name)]
    if missing:
        raise ExportError(f"--format onnx needs {', '.join(missing)}: {install.hint('export')}, or use --format safetensors, "
                          "which needs no package")
