"""An encoder of the user's own: any torch.nn.Module, named by its import path, "package.module:Name"."""

import contextlib
import importlib
import inspect
import operator
import sys
import traceback

import torch
from torch import nn

ROWS = 2  # of the dry run; then as many more, to see that they change nothing


class Custom(nn.Module):
    """A module of the user's own, as an encoder: (B, K, *shape) of K frames to (B, size).

    path: "package.module:Name" of a class or function that is called with shape=(K, *shape) and size=size, and returns a
    torch.nn.Module. Its input is float32, or bfloat16 where products run in bfloat16: then it runs under torch.autocast, so
    that its parameters stay float32 and what torch thinks too delicate for bfloat16 is done in float32. It initializes itself,
    by torch's random numbers, and may allocate.

    Raises ValueError where it cannot be imported or made, is no module, gives another shape than (B, size), or makes
    something else of an observation when others come with it (as batch normalization does) or when it comes again (as dropout
    does): what a rollout recorded could then not be learned from.
    """

    def __init__(self, path: str, shape: tuple[int, ...], size: int, precision: torch.dtype):
        super().__init__()
        make = find(path)
        with _told(path, f"when it was made for shape={shape}, size={size}"):
            module = make(shape=shape, size=size)
        if not isinstance(module, nn.Module):
            raise ValueError(f"encoder is {path!r}, which makes {_kind(module)}; it must make a torch.nn.Module")
        self.module = module
        self._try(path, shape, size, precision)

    @torch.no_grad()
    def _try(self, path: str, shape: tuple[int, ...], size: int, precision: torch.dtype):
        x = torch.rand(2 * ROWS, *shape, generator=torch.Generator().manual_seed(0)).to(precision)
        with _told(path, f"when it was called with a tensor of shape {(ROWS, *shape)}"):
            few, many = self._run(x[:ROWS]), self._run(x)
        for out, rows in ((few, ROWS), (many, 2 * ROWS)):
            if not isinstance(out, torch.Tensor) or out.shape != (rows, size):
                given = f"the shape {tuple(out.shape)}" if isinstance(out, torch.Tensor) else _kind(out)
                raise ValueError(f"encoder is {path!r}, which makes {given} of a tensor of shape {(rows, *shape)}; it must be "
                                 f"{(rows, size)}, (batch, encoder_size)")
        if not torch.isfinite(many).all():
            raise ValueError(f"encoder is {path!r}, which makes numbers that are not finite of observations between 0 and 1")
        few, many = few.float(), many[:ROWS].float()
        tolerance = 1e-3 if precision == torch.float32 else 5e-2
        if not (few - many).abs().max() <= tolerance * many.abs().max():
            raise ValueError(f"encoder is {path!r}, which makes something else of an observation when it comes with others, or "
                             "once more; leave out batch normalization (LayerNorm and GroupNorm are fine) and dropout")

    def _run(self, x):
        with torch.autocast(x.device.type, x.dtype, enabled=x.dtype != torch.float32, cache_enabled=False):
            return self.module(x)

    def initialize(self):
        """Nothing: the module has initialized itself."""

    def cast(self, dtype: torch.dtype) -> dict[str, torch.Tensor]:
        """Nothing: the module reads its own parameters."""
        return {}

    def forward(self, x):
        return self._run(x).to(x.dtype)

    def step(self, weights, x, out):
        """Writes `out` (B, size)."""
        return out.copy_(self._run(x))


def find(path: str):
    """What the import path "package.module:Name" names, to be called with shape and size. Raises ValueError."""
    name, _, attribute = path.partition(":")
    if not all(part.isidentifier() for part in (*name.split("."), *attribute.split("."))):
        raise ValueError(f"encoder is {path!r}; an encoder of your own is named by its module and its class, such as "
                         "my_package.my_encoders:Small")
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise ValueError(f"encoder is {path!r}, but importing {name} says: {error}") from error
        raise ValueError(f"encoder is {path!r}, but there is no module {error.name}; it must be in the current folder (for "
                         "python -m trainer), in a folder named by PYTHONPATH, or installed") from error
    except Exception as error:  # whatever the user's own code raises
        raise ValueError(f"encoder is {path!r}, but importing {name} raised {type(error).__name__}: {error}") from error
    try:
        found = operator.attrgetter(attribute)(module)
    except AttributeError as error:
        raise ValueError(f"encoder is {path!r}, but {_file(name) or name} has no {attribute}") from error
    if not callable(found):
        raise ValueError(f"encoder is {path!r}, which is {_kind(found)}; it must be a torch.nn.Module's class, or a function "
                         "that makes one")
    try:
        inspect.signature(found).bind(shape=(1,), size=1)
    except (TypeError, ValueError) as error:
        raise ValueError(f"encoder is {path!r}, which cannot be called with shape and size: {error}; it must begin as in "
                         f"{attribute}(shape, size)") from error
    return found


@contextlib.contextmanager
def _told(path: str, when: str):
    """What the user's own code raises, as a ValueError that names the innermost line of their file."""
    try:
        yield
    except Exception as error:
        file = _file(path.partition(":")[0])
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
        place = f" ({file}, line {lines[-1]})" if lines else ""
        raise ValueError(f"encoder is {path!r}, which {when} raised {type(error).__name__}: {error}{place}") from error


def _file(name: str) -> str | None:
    """The file of a module that has been imported."""
    return getattr(sys.modules[name], "__file__", None)


def _kind(value) -> str:
    """What a value is, in words."""
    return "None" if value is None else f"the {type(value).__name__} {value!r}"
