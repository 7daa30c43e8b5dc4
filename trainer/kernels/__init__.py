"""The trainer's hot arithmetic: one dispatcher over the fast kernels and their plain twin.

CPU tensors take the compiled kernels of cpu.pyx; tensors of another device take reference.py. `use_reference()` sends
everything there, for tests and for measuring what the kernels gain.
"""

import contextlib

import torch

from trainer.kernels import cpu, reference

_reference_only = False


@contextlib.contextmanager
def use_reference():
    """Within this context every call takes the plain twin."""
    global _reference_only
    before, _reference_only = _reference_only, True
    try:
        yield
    finally:
        _reference_only = before


def compiled(*tensors) -> bool:
    """Whether these tensors go to the compiled kernels; raises ValueError where one is not contiguous."""
    if _reference_only or tensors[0].device.type != "cpu":
        return False
    for tensor in tensors:
        if tensor is not None and not tensor.is_contiguous():
            raise ValueError(f"a kernel needs contiguous tensors; got shape {tuple(tensor.shape)} "
                             f"with strides {tensor.stride()}")
    return True


def half(tensor) -> bool:
    """Whether a tensor is bfloat16; raises TypeError where it is neither that nor float32."""
    if tensor.dtype not in (torch.bfloat16, torch.float32):
        raise TypeError(f"a kernel takes float32 or bfloat16, not {tensor.dtype}")
    return tensor.dtype == torch.bfloat16


def lstm_forward(gx, gh, bias, c_prev, keep, keep_next, gates, c, h, h_next):
    """`reference.lstm_forward`, written into gates (B, 4n; may be gx), c, h and h_next (B, n; h_next may be h's twin)."""
    if compiled(gx, gh, bias, c_prev, keep, keep_next, gates, c, h, h_next):
        cpu.lstm_forward(gx.data_ptr(), gh.data_ptr(), bias.data_ptr(), c_prev.data_ptr(), keep.data_ptr(),
                         keep_next.data_ptr(), gates.data_ptr(), c.data_ptr(), h.data_ptr(), h_next.data_ptr(),
                         c.shape[0], c.shape[1], half(gx), torch.get_num_threads())
        return
    for out, result in zip((gates, c, h, h_next), reference.lstm_forward(gx, gh, bias, c_prev, keep, keep_next), strict=True):
        out.copy_(result)


def lstm_backward(gates, c_prev, keep, c, dh, dh_next, keep_next, dc):
    """`reference.lstm_backward`, in place: gates become their gradient, dc that of c_prev * keep."""
    if compiled(gates, c_prev, keep, c, dh, dh_next, keep_next, dc):
        cpu.lstm_backward(gates.data_ptr(), c_prev.data_ptr(), keep.data_ptr(), c.data_ptr(), dh.data_ptr(),
                          dh_next.data_ptr(), keep_next.data_ptr(), dc.data_ptr(), c.shape[0], c.shape[1], half(gates),
                          torch.get_num_threads())
        return
    dgates, dcell = reference.lstm_backward(gates, c_prev, keep, c, dh, dh_next, keep_next, dc)
    gates.copy_(dgates)
    dc.copy_(dcell)


def sample(logits, legal, seed: int, first: int, step: int, action, log_prob, num_actions: int):
    """`reference.sample` of environments first, first + 1, ..., written into action (B,) int32 and log_prob (B,) float32.

    logits: (B, width >= num_actions) float32, of which the first num_actions count; legal: (B, num_actions) uint8 or None.
    """
    if compiled(logits, action, log_prob, legal):
        cpu.sample(logits.data_ptr(), logits.shape[1], 0 if legal is None else legal.data_ptr(), num_actions, seed, first,
                   step, action.data_ptr(), log_prob.data_ptr(), logits.shape[0], torch.get_num_threads())
        return
    environments = torch.arange(first, first + len(logits), device=logits.device)
    drawn = reference.sample(logits[:, :num_actions], None if legal is None else legal.bool(), seed, environments, step)
    for out, result in zip((action, log_prob), drawn, strict=True):
        out.copy_(result)


def advantages(reward, terminated, truncated, valid, value, gamma: float, lam: float):
    """`reference.advantages`; (T, B) from (T, B) and value (T + 1, B), all float32."""
    if compiled(reward, terminated, truncated, valid, value):
        result = torch.empty_like(reward)
        cpu.advantages(reward.data_ptr(), terminated.data_ptr(), truncated.data_ptr(), valid.data_ptr(), value.data_ptr(),
                       result.data_ptr(), reward.shape[0], reward.shape[1], gamma, lam, torch.get_num_threads())
        return result
    return reference.advantages(reward, terminated, truncated, valid, value, gamma, lam)
