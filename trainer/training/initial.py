"""The setting `init_from`: a new run starts with the weights of another run."""

from dataclasses import replace

import torch

from trainer.config import Config
from trainer.errors import SettingError
from trainer.policy.policy import Policy
from trainer.runs import checkpoint
from trainer.runs.find import find
from trainer.tensors import under

# Parts of a policy by the first word of their tensors' names; other tensors are those of the memory.
_PARTS = {"encoder": "encoder", "heads": "heads", "distribution": "deviations of actions",
          "normalizer": "statistics of observations"}
_MEMORY = "memory"


def resolved(config: Config) -> Config:
    """The config with the path of the checkpoint in `init_from`. Raises RunError and CheckpointError if there is none."""
    run = config.run
    if run.init_from is None or run.resume is not None:
        return config
    return replace(config, run=replace(run, init_from=str(checkpoint.latest(find(run.init_from)))))


def initial_weights(policy: Policy, path: str) -> tuple[dict[str, torch.Tensor], str]:
    """The state of a new policy with the weights of a checkpoint, and a line that says which parts are new.

    A part with another tensor, shape or dtype than in the checkpoint keeps its new weights as a whole.
    Raises SettingError if no part fits, and CheckpointError.
    """
    source = checkpoint.latest(path)
    mine, theirs = policy.state_dict(), under("policy.", checkpoint.load(source).tensors)
    checkpoint.require_finite(source, theirs, mine, "policy.")
    theirs = _with_encoder_of(mine, theirs)
    parts = {_part(name): None for name in (*mine, *theirs)}
    differences = {part: _difference(_only(mine, part), _only(theirs, part)) for part in parts}
    fitting = [part for part, difference in differences.items() if difference is None]
    if not {_part("encoder"), _part("heads"), _MEMORY} & set(fitting):
        raise SettingError("init_from", "must be a run whose encoder, memory or heads have the shapes of this run's, not "
                                        f"{path}: {'; '.join(filter(None, differences.values()))}")
    anew = "; ".join(f"made anew: the {part} ({difference})" for part, difference in differences.items() if difference)
    state = mine | {name: tensor for name, tensor in theirs.items() if _part(name) in fitting}
    return state, f"weights of {path}" + (f"; {anew}" if anew else "")


def _with_encoder_of(mine: dict[str, torch.Tensor], theirs: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """The tensors of a checkpoint, its encoder named as in this policy, where it may stand behind a transform.

    A name that both have is kept: a transform may have tensors too.
    """
    inner, plain = "encoder.inner.", "encoder."
    wanted = inner if any(name.startswith(inner) for name in mine) else plain
    return {wanted + name.removeprefix(inner).removeprefix(plain) if name.startswith(plain) and name not in mine else name:
            tensor for name, tensor in theirs.items()}


def _part(name: str) -> str:
    """The part of a policy that a tensor belongs to."""
    return _PARTS.get(name.partition(".")[0], _MEMORY)


def _only(tensors: dict[str, torch.Tensor], part: str) -> dict[str, torch.Tensor]:
    """The tensors of a part."""
    return {name: tensor for name, tensor in tensors.items() if _part(name) == part}


def _difference(mine: dict[str, torch.Tensor], theirs: dict[str, torch.Tensor]) -> str | None:
    """The first difference between the tensors of a part, as text; None if they fit."""
    for name in sorted(mine.keys() | theirs.keys()):
        if name not in theirs:
            return f"{name} is not there"
        if name not in mine:
            return f"this run has no {name}"
        one, other = mine[name], theirs[name]
        if (one.shape, one.dtype) != (other.shape, other.dtype):
            kind = "{}" if one.dtype == other.dtype else "{} {}"
            here, there = (kind.format(tuple(tensor.shape), str(tensor.dtype).removeprefix("torch."))
                           for tensor in (one, other))
            return f"{name} is {here}, not {there} as there"
    return None
