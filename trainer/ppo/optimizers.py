"""The optimizers of a policy, and the schedules of the learning rate and the entropy's weight."""

import math

import torch

from trainer.config import PPOConfig
from trainer.errors import SettingError
from trainer.policy.policy import Policy


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


def make_optimizers(policy: Policy, ppo: PPOConfig, device: torch.device) -> list[torch.optim.Optimizer]:
    """Adam for all parameters; or Adam for the rest and Muon for the matrices between input and heads.

    On CUDA Adam's learning rate is a tensor on the device, so that captured steps read the present value.

    Raises SettingError if this torch has no Muon.
    """
    cuda = device.type == "cuda"
    rate = torch.tensor(ppo.learning_rate, device=device) if cuda else ppo.learning_rate
    parameters = dict(policy.named_parameters())
    matrices = [] if ppo.optimizer == "adam" else [
        parameter for name, parameter in parameters.items() if parameter.ndim == 2 and not name.startswith("heads.")]
    rest = [parameter for parameter in parameters.values() if all(parameter is not matrix for matrix in matrices)]
    made = [torch.optim.Adam(rest, lr=rate, eps=ppo.adam_eps, betas=(ppo.adam_beta1, ppo.adam_beta2), fused=True,
                             capturable=cuda)]
    if matrices:
        if not hasattr(torch.optim, "Muon"):
            raise SettingError("optimizer", f"must be 'adam' with torch {torch.__version__}, which has no Muon, not 'muon'; "
                                            "install torch 2.9 or newer for it")
        made.append(torch.optim.Muon(matrices, lr=ppo.learning_rate, momentum=ppo.muon_momentum, weight_decay=0.0,
                                     adjust_lr_fn="match_rms_adamw"))
    return made


def set_learning_rate(optimizers: list[torch.optim.Optimizer], rate: float):
    """Set the learning rate of all parameters, in place if it is a tensor."""
    for optimizer in optimizers:
        for group in optimizer.param_groups:
            if isinstance(group["lr"], torch.Tensor):
                group["lr"].fill_(rate)
            else:
                group["lr"] = rate
