"""NVRTC: CUDA sources to PTX, with the options of `bridge.nvrtc`. No GPU is needed."""

from collections.abc import Sequence
from pathlib import Path

from bridge.errors import DeviceError
from bridge.nvrtc import OPTIONS, STDINT, _nvrtc


def architectures() -> list[str]:
    """The architectures that this NVRTC compiles for, such as "sm_80"."""
    return [f"sm_{number}" for number in _nvrtc().getSupportedArchs()]


def to_ptx(source: str, name: str, arch: str, headers: Sequence[Path], options: Sequence[str]) -> str:
    """PTX of a source for an architecture such as "sm_90", with the source's line numbers.

    name: of the source, for messages.
    options: of NVRTC besides those of `bridge.nvrtc`.
    """
    nvrtc = _nvrtc()
    texts = [*(header.read_bytes() for header in headers), STDINT]
    names = [*(header.name.encode() for header in headers), b"stdint.h"]
    program = nvrtc.createProgram(source, name, texts, names)
    target = f"-arch={arch.replace('sm', 'compute')}"
    try:
        nvrtc.compileProgram(program, (target, *OPTIONS, "-lineinfo", *options))
        return nvrtc.getPTX(program).decode()
    except nvrtc.NVRTCError as error:
        raise DeviceError(f"{name} does not compile for {arch}:\n{nvrtc.getProgramLog(program)}") from error
    finally:
        nvrtc.destroyProgram(program)
