"""The optimizers of a policy, and the schedules of the learning rate and the entropy's weight."""

import math
from dataclasses import dataclass

import torch

from trainer import kernels
from trainer.config import PPOConfig
from trainer.errors import SettingError
from trainer.policy.policy import Policy
from trainer.tensors import form, require_forms, under


def schedule(name: str, step: int, total_steps: int) -> float:
    """The factor of a schedule at `step`: 1 at the start; 0 from total_steps on, unless it is "constant".

    name: "constant", "linear" or "cosine".
    """
    done = min(step / total_steps, 1.0)
    return {"constant": 1.0, "linear": 1 - done, "cosine": 0.5 * (1 + math.cos(math.pi * done))}[name]


def learning_rate(ppo: PPOConfig, step: int) -> float:
    """The learning rate at `step`."""
    return ppo.learning_rate * schedule(ppo.lr_schedule, step, ppo.total_steps)


def entropy_coef(ppo: PPOConfig, step: int) -> float:
    """The weight of the entropy bonus at `step`: linear from entropy_coef to entropy_final, constant if that is None."""
    if ppo.entropy_final is None:
        return ppo.entropy_coef
    return ppo.entropy_final + (ppo.entropy_coef - ppo.entropy_final) * schedule("linear", step, ppo.total_steps)


@dataclass(frozen=True)
class Part:
    """The optimizer of some parameters. Its step can be a part of a captured graph.

    averages: names of its tensors in the shape of each parameter.
    counts: it also has the number of its steps, `step` () float32.
    """

    torch: torch.optim.Optimizer
    averages: tuple[str, ...]
    counts: bool

    def parameters(self) -> list[torch.nn.Parameter]:
        return [parameter for group in self.torch.param_groups for parameter in group["params"]]

    def forms(self, parameter: torch.nn.Parameter) -> dict[str, torch.Tensor]:
        """The names, shapes and dtypes of its tensors of one parameter."""
        forms = {name: form(parameter.shape, parameter.dtype) for name in self.averages}
        return forms | ({"step": form((), torch.float32)} if self.counts else {})

    def step(self):
        """One step of the optimizer."""
        self.torch.step()

    def set_rate(self, rate: float):
        """Set the learning rate, in place if it is a tensor."""
        for group in self.torch.param_groups:
            if isinstance(group["lr"], torch.Tensor):
                group["lr"].fill_(rate)
            else:
                group["lr"] = rate

    def state(self, parameter: torch.nn.Parameter) -> dict[str, torch.Tensor]:
        """Its tensors of one parameter by name; {} before the first gradient."""
        return self.torch.state.get(parameter, {})

    def restore(self, parameter: torch.nn.Parameter, state: dict[str, torch.Tensor]):
        """Take the result of `state`."""
        self.torch.state[parameter] = state


@dataclass(frozen=True)
class MatrixPart(Part):
    """An optimizer of matrices, such as Muon. A parameter of stacked ones, such as the gates of an LSTM, is several to it.

    stacked: the parameters, and the matrices that lie one below the other in each: parameters that share its memory, or that of
        its change.
    changes: of each parameter, its change by a step of rate 1, which the step then adds with `rate`; empty if the optimizer
        steps the parameters themselves. Torch's Muon takes its rate as a number, which a captured graph would repeat.
    rate: () float32, the learning rate, if there are changes; another part sets it.
    """

    stacked: tuple[tuple[torch.nn.Parameter, list[torch.nn.Parameter]], ...]
    changes: tuple[torch.Tensor, ...] = ()
    rate: torch.Tensor | None = None

    def parameters(self) -> list[torch.nn.Parameter]:
        return [parameter for parameter, _ in self.stacked]

    def step(self):
        for parameter, matrices in self.stacked:
            grads = [None] * len(matrices) if parameter.grad is None else parameter.grad.chunk(len(matrices))
            for matrix, grad in zip(matrices, grads, strict=True):
                matrix.grad = grad
        for change in self.changes:
            change.zero_()
        super().step()
        with torch.no_grad():
            for (parameter, _), change in zip(self.stacked, self.changes, strict=False):
                parameter.addcmul_(change, self.rate)

    def set_rate(self, rate: float):
        if self.rate is None:
            super().set_rate(rate)

    def state(self, parameter: torch.nn.Parameter) -> dict[str, torch.Tensor]:
        states = [self.torch.state.get(matrix, {}) for matrix in self._matrices(parameter)]
        return {name: torch.cat([state[name] for state in states]) for name in states[0]}

    def restore(self, parameter: torch.nn.Parameter, state: dict[str, torch.Tensor]):
        matrices = self._matrices(parameter)
        for k, matrix in enumerate(matrices):
            self.torch.state[matrix] = {name: tensor.chunk(len(matrices))[k].clone() for name, tensor in state.items()}

    def _matrices(self, parameter: torch.nn.Parameter) -> list[torch.nn.Parameter]:
        return next(matrices for one, matrices in self.stacked if one is parameter)


class Optimizers:
    """Adam for all parameters of a policy; or Adam for the rest and Muon for the hidden matrices, each gate by itself.

    Hidden are those between the weights that read observations and the heads. All parameters of heads are Adam's.

    Raises SettingError if this torch has no Muon.
    """

    def __init__(self, policy: Policy, ppo: PPOConfig):
        self.names = {parameter: name for name, parameter in policy.named_parameters()}
        self.muon = ppo.optimizer == "muon"
        matrices = hidden_matrices(policy) if self.muon else []
        rest = [parameter for parameter in self.names if all(parameter is not matrix for matrix in matrices)]
        made = kernels.adam(rest, ppo.learning_rate, ppo.adam_eps, (ppo.adam_beta1, ppo.adam_beta2))
        self.parts = [Part(made, averages=("exp_avg", "exp_avg_sq"), counts=True)]
        if matrices:
            self.parts.append(self._matrix_part(policy, ppo, matrices, made.param_groups[0]["lr"]))

    def _matrix_part(self, policy: Policy, ppo: PPOConfig, matrices: list[torch.nn.Parameter],
                     rate: float | torch.Tensor) -> MatrixPart:
        """Muon for these parameters. rate: Adam's, a tensor if a captured graph reads it."""
        reads = isinstance(rate, torch.Tensor)
        stepped = [torch.zeros_like(one) if reads else one.detach() for one in matrices]
        stacked = tuple(
            (one, [torch.nn.Parameter(matrix) for matrix in memory.detach().chunk(policy.stacked(self.names[one]))])
            for one, memory in zip(matrices, stepped, strict=True))
        made = muon([matrix for _, parts in stacked for matrix in parts], ppo, 1.0 if reads else ppo.learning_rate)
        changes = tuple(one.detach() for one in stepped) if reads else ()
        return MatrixPart(made, averages=("momentum_buffer",), counts=False, stacked=stacked, changes=changes,
                          rate=rate if reads else None)

    def step(self):
        """One step of all optimizers."""
        for part in self.parts:
            part.step()

    def set_rate(self, rate: float):
        """Set the learning rate of all parameters, in place if it is a tensor."""
        for part in self.parts:
            part.set_rate(rate)

    def state(self) -> dict[str, torch.Tensor]:
        """The tensors of each parameter as PARAMETER.KEY. A parameter that never had a gradient has none."""
        return {f"{self.names[parameter]}.{key}": tensor for part in self.parts for parameter in part.parameters()
                for key, tensor in part.state(parameter).items()}

    def restore(self, state: dict[str, torch.Tensor], others: dict[str, torch.Tensor]):
        """Take the tensors returned by `state`, among which may be `others`.

        Until November 2026 Muon also stepped weights that read observations. Adam then begins anew for them.
        Raises ValueError that names the first tensor that is missing, unknown, or of another shape or dtype.
        """
        owned = [(part, parameter, f"{self.names[parameter]}.") for part in self.parts for parameter in part.parameters()]
        before = {f"{name}momentum_buffer" for part, _, name in owned if self.muon and part.counts
                  and under(name, state).keys() == {"momentum_buffer"}}
        state = {name: tensor for name, tensor in state.items() if name not in before}
        forms = {name + key: one for part, parameter, name in owned if under(name, state)
                 for key, one in part.forms(parameter).items()}
        require_forms(state, forms | others, "optimizer.")
        for part, parameter, name in owned:
            part.restore(parameter, {key: tensor.to(parameter.device) for key, tensor in under(name, state).items()})


def hidden_matrices(policy: Policy) -> list[torch.nn.Parameter]:
    """The matrices of a policy between the weights that read observations and the heads.

    If the encoder has no weights of two or more dimensions, the memory's first ones read observations.
    """
    heads = set(policy.heads.parameters())
    weights = [parameter for parameter in policy.parameters() if parameter.ndim > 1 and parameter not in heads]
    encodes = any(parameter.ndim > 1 for parameter in policy.encoder.parameters())
    reads = set(policy.encoder.input_weights() if encodes else weights[:1])
    return [parameter for parameter in weights if parameter.ndim == 2 and parameter not in reads]


def muon(matrices: list[torch.nn.Parameter], ppo: PPOConfig, rate: float) -> torch.optim.Optimizer:
    """torch's Muon with a learning rate. Raises SettingError if this torch has none."""
    if not hasattr(torch.optim, "Muon"):
        raise SettingError("optimizer", f"must be 'adam' with torch {torch.__version__}, which has no Muon, not 'muon'; "
                                        "install torch 2.9 or newer for it")
    return torch.optim.Muon(matrices, lr=rate, momentum=ppo.muon_momentum, weight_decay=0.0,
                            adjust_lr_fn="match_rms_adamw")
