"""Gradients in fixed memory have the bits of `zero_grad(set_to_none=True)` and `backward`, and our Adam those of torch's."""

import sys

import pytest
import torch
from torch import nn

from trainer import kernels
from trainer.ppo.gradients import Gradients


class Layers(nn.Module):
    """`used` is in each loss, `seldom` in some, `frozen` and `unused` in none."""

    def __init__(self):
        super().__init__()
        self.used, self.seldom, self.frozen, self.unused = (nn.Linear(6, 6) for _ in range(4))
        self.frozen.requires_grad_(False)

    def loss(self, x, seldom):
        hidden = self.frozen(self.used(x).relu())
        return (self.seldom(hidden) if seldom else hidden).square().mean()


STEPS = {  # for each step of the optimizer, whether each minibatch's loss depends on `seldom`
    "one minibatch": [[True], [True], [True]],
    "accumulation": [[True, True, True, True]] * 3,
    "a parameter without a gradient in some steps": [[True], [False], [True], [False]],
    "a parameter without a gradient in some minibatches": [[False, True, False], [True, False, False], [False, False, False]],
}


def trained(steps, fixed):
    """The tensors after these steps of Adam.

    fixed: of Gradients; None for torch's own way.
    """
    torch.manual_seed(0)
    layers = Layers()
    optimizer = torch.optim.Adam(layers.parameters(), lr=0.1, fused=True)
    gradients = None if fixed is None else Gradients(layers.parameters(), fixed=fixed)
    for minibatches in steps:
        for k, seldom in enumerate(minibatches):
            loss = layers.loss(torch.randn(5, 6), seldom)
            if gradients is not None:
                gradients.backward(loss, first=k == 0)
                continue
            if k == 0:
                optimizer.zero_grad(set_to_none=True)
            loss.backward()
        optimizer.step()
    names = {parameter: name for name, parameter in layers.named_parameters()}
    return {**layers.state_dict(), **{f"{names[parameter]}.{key}": tensor for parameter, state in optimizer.state.items()
                                      for key, tensor in state.items()},
            **{f"{name}.grad": parameter.grad for name, parameter in layers.named_parameters()}}


@pytest.mark.parametrize("fixed", [False, True])
@pytest.mark.parametrize("steps", STEPS.values(), ids=STEPS)
def test_a_parameter_s_gradient_and_steps_have_the_bits_of_torch_s_own_way(steps, fixed):
    wanted, got = trained(steps, None), trained(steps, fixed)
    assert wanted.keys() == got.keys()  # Adam has no state for a parameter that never had a gradient
    for name, tensor in wanted.items():
        assert (tensor is None) == (got[name] is None), name
        assert tensor is None or tensor.numpy().tobytes() == got[name].numpy().tobytes(), name


@pytest.mark.parametrize("steps", STEPS.values(), ids=STEPS)
def test_fixed_gradients_never_move(steps):
    layers = Layers()
    gradients = Gradients(layers.parameters(), fixed=True)
    addresses = {parameter: set() for parameter in layers.parameters()}
    for minibatches in steps:
        for k, seldom in enumerate(minibatches):
            gradients.backward(layers.loss(torch.randn(5, 6), seldom), first=k == 0)
            for parameter, found in addresses.items():
                if parameter.grad is not None:
                    found.add(parameter.grad.data_ptr())
    assert [len(addresses[parameter]) for parameter in (layers.used.weight, layers.seldom.weight, layers.unused.weight)] \
        == [1, 1, 0]


def test_a_gradient_of_zero_keeps_its_sign():
    parameter = nn.Parameter(torch.ones(3))
    gradients = Gradients([parameter], fixed=True)
    for _ in range(2):
        gradients.backward((parameter * torch.tensor([-0.0, 0.0, 1.0])).sum(), first=True)
        assert parameter.grad.signbit().tolist() == [True, False, False]


def stepped(optimizer: torch.optim.Adam) -> torch.Tensor:
    """The optimizer's parameter after three steps."""
    (parameter,) = optimizer.param_groups[0]["params"]
    for k in range(3):
        parameter.grad = torch.arange(5.0) - k
        optimizer.step()
    return parameter.detach()


def test_adam_has_the_bits_of_torch_s_and_loads_no_compiler(monkeypatch):
    """torch's own loads torch._dynamo when it is made, and asks for it in each step."""
    theirs = stepped(torch.optim.Adam([nn.Parameter(torch.ones(5))], lr=0.1, eps=1e-5, fused=True))
    monkeypatch.setitem(sys.modules, "torch._dynamo", None)  # to import it is an error
    assert torch.equal(stepped(kernels.adam([nn.Parameter(torch.ones(5))], 0.1, 1e-5, (0.9, 0.999))), theirs)
    with pytest.raises(ImportError):
        stepped(torch.optim.Adam([nn.Parameter(torch.ones(5))], lr=0.1, fused=True))
