"""The loss of PPO by one kernel instead of the operations of losses.py, where the policy's outputs are one tensor."""

import contextlib
from collections.abc import Iterator

import torch

from trainer import kernels
from trainer.kernels.fused import PARTS
from trainer.policy.distributions import Discrete
from trainer.policy.make import MEMORIES


def add_gradients(learner, first: bool) -> dict[str, torch.Tensor] | None:
    """Add the gradients of a minibatch on a CPU that multiplies bfloat16. Other CPUs keep the bits of torch's operations.

    learner: a trainer.ppo.learner.Learner.
    first: replace the gradients instead.
    Returns the losses and diagnostics by name; None, with nothing done, if there is no such kernel for this learner (as for
        a factor of the advantages).
    """
    policy, storage, ppo, numbers = learner.policy, learner.storage, learner.ppo, learner.sequences
    if policy.precision != torch.bfloat16 or learner.own_loss is not None or learner.signal is not None or \
            learner.ranks.joined or type(policy.distribution) is not Discrete or type(policy) not in MEMORIES.values() or \
            not kernels.takes_loss(storage.value):  # a policy of the user's own may use no heads: nothing is computed twice
        return None
    frames, starts = (kernels.take(one[:-1], numbers) for one in (storage.frames, storage.starts))
    with outputs_of(policy) as seen:
        logits, value = policy.unroll(policy.preprocess_rollout(frames, starts), starts[storage.before:],
                                      (storage.h.index_select(0, numbers), storage.c.index_select(0, numbers)))
    if len(seen) != 1 or not are_columns(logits, value, seen[0]):
        return None
    stored = (storage.action_mask, storage.action, storage.log_prob, storage.value[:-1], learner.advantage,
              storage.terminated[:-1], storage.truncated[:-1])
    gradient, parts = kernels.minibatch_loss(
        seen[0].detach(), stored, numbers, learner.weight, learner.entropy_coef.item(), clip=ppo.clip,
        value_clip=ppo.value_clip, value_coef=ppo.value_coef, scale=1 / ppo.accumulate, ratios=learner.ratio)
    learner.gradients.backward(seen[0], first, gradient)
    return dict(zip(PARTS, parts.unbind(), strict=True))


@contextlib.contextmanager
def outputs_of(policy) -> Iterator[list[torch.Tensor]]:
    """A list that receives the outputs of the policy's heads in this context."""
    seen: list[torch.Tensor] = []
    handle = policy.heads.register_forward_hook(lambda module, inputs, out: seen.append(out))
    try:
        yield seen
    finally:
        handle.remove()


def are_columns(logits, value, out) -> bool:
    """True if logits (T, S, A) and value (T, S) are the columns of `out` (T, S, A + 1), in its memory."""
    wanted = out[..., :-1], out[..., -1]
    return out.is_contiguous() and out.dtype == torch.float32 and all(
        one.shape == two.shape and one.stride() == two.stride() and one.data_ptr() == two.data_ptr()
        for one, two in zip((logits, value), wanted, strict=True))
