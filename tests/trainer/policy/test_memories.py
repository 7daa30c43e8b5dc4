"""For every memory and encoder, `unroll` equals a loop over `step`, and its gradients equal autograd through a plain loop."""

import pytest
import torch

from trainer.policy.make import MEMORIES
from trainer.policy.policy import StepSpace

STEPS, BATCH, UNITS, ACTIONS = 6, 4, 12, 3
STARTS = {  # name: (t, environment) of observations that are the first of an episode
    "at the first step": [(0, 1)],
    "in the middle": [(3, 1), (3, 2)],
    "at the last step": [(5, 0)],
    "twice": [(1, 3), (4, 3)],
}
CASES = {"lstm": {"memory": "lstm"}, "mingru": {"memory": "mingru"}, "mingru of 2 layers": {"memory": "mingru", "layers": 2},
         "mingru with a highway": {"memory": "mingru", "layers": 2, "highway": True, "encoder_size": 12},
         "none": {"memory": "none"}}
ENCODERS = {"mlp": ("mlp", (6,)), "conv": ("conv", (40, 36)), "board": ("board", (3, 5, 4)), "flat board": ("board", (4, 4)),
            "own": ("own_encoders:Small", (6,))}
PRECISIONS = {"f32": torch.float32, "bf16": torch.bfloat16}


def rows():
    """Every memory with every encoder in both precisions, and with episodes that start at every place."""
    for memory in CASES:
        for encoder in ENCODERS:
            yield from ((memory, encoder, precision, "in the middle") for precision in PRECISIONS)
        yield from ((memory, "mlp", "f32", starts) for starts in STARTS if starts != "in the middle")


def policy_of(memory, encoder, precision="f32", device="cpu"):
    kind, shape = ENCODERS[encoder]
    return make(**CASES[memory], encoder=kind, shape=shape, precision=PRECISIONS[precision], device=device)


def test_every_memory_is_a_case():
    assert {case["memory"] for case in CASES.values()} == MEMORIES.keys()


def make(memory="lstm", encoder="mlp", shape=(6,), precision=torch.float32, device="cpu", encoder_size=16, **more):
    torch.manual_seed(0)
    policy = MEMORIES[memory](shape, ACTIONS, encoder_size, UNITS, encoder=encoder, precision=precision, **more)
    with torch.no_grad():
        policy.heads.weight.mul_(20)  # far from uniform, so that differences would show
    return policy.to(device)


def draw(policy, starts):
    """Frames (K - 1 + T, B, *shape), starts of all of them, and a state that is not zero."""
    torch.manual_seed(1)
    before = policy.frames - 1
    start = torch.zeros(before + STEPS, BATCH)
    for t, environment in starts:
        start[before + t, environment] = 1.0
    h, c = policy.initial_state(BATCH)
    frames, h, c = torch.randn(before + STEPS, BATCH, *policy.shape), torch.rand(h.shape).to(h.dtype), torch.randn(c.shape)
    device = policy.heads.weight.device
    return frames.to(device), start.to(device), (h.to(device), c.to(device))


def step_loop(policy, inputs, start, state):
    """Logits and values (T, B, A + 1) of `step`, one step after the other."""
    h, c = state[0] * (1 - start[0])[:, None].to(state[0].dtype), state[1].clone()
    weights, outs, space = policy.cast_weights(), [], StepSpace(policy, BATCH, start.device)
    with torch.no_grad():
        for t in range(STEPS):
            following = start[t + 1] if t + 1 < STEPS else torch.zeros_like(start[t])
            outs.append(policy.step(weights, inputs[t], 1 - start[t], 1 - following, h, c, space).clone())
    return torch.stack(outs)


def unroll(policy, frames, start, state):
    """Logits and values (T, B, A + 1) of `unroll`."""
    logits, values = policy.unroll(policy.preprocess_rollout(frames, start), start[policy.frames - 1:], state)
    return torch.cat([logits, values[..., None]], -1)


def one_by_one(policy, frames, start, state):
    """The same by `unroll` of single steps, for autograd. Plain torch in float64 passes the states from step to step."""
    inputs, start, outs = policy.preprocess_rollout(frames, start), start[policy.frames - 1:], []
    (h, c), n = state, policy.core_size
    for t in range(STEPS):
        keep = (1 - start[t])[:, None].double()
        x = policy.encoder(inputs[t]).double()
        if hasattr(policy, "recurrent"):
            gates = x @ policy.input.t().double() + (h.double() * keep) @ policy.recurrent.t().double() + policy.bias.double()
            i, f, g, o = gates.chunk(4, 1)
            c = f.sigmoid() * c.double() * keep + i.sigmoid() * g.tanh()
            x = h = o.sigmoid() * c.tanh()
        elif hasattr(policy, "core"):
            states = []
            for k, layer in enumerate(policy.core):
                z, u, *p = (x @ layer.weight.t().double() + layer.bias.double()).split(n, 1)
                positive = torch.where(u >= 0, u + 0.5, u.sigmoid())
                states.append((1 - z.sigmoid()) * keep * h[:, n * k: n * (k + 1)].double() + z.sigmoid() * positive)
                around = states[-1] + x if k or policy.encoder_size == n else states[-1]
                x = torch.lerp(x, states[-1], p[0].sigmoid()) if p else around
            h = torch.cat(states, 1)
        else:
            layer = torch.nn.functional.linear(x.to(inputs.dtype), *(one.to(inputs.dtype) for one in policy.layer.parameters()))
            x = layer.relu().double()  # rounded like in `unroll`, so that the same units are above 0
        outs.append(x @ policy.heads.weight.t().double() + policy.heads.bias.double())
    return torch.stack(outs)


def gradients(policy, out, weight):
    policy.zero_grad()
    (out * weight).sum().backward()
    return {name: parameter.grad.clone() for name, parameter in policy.named_parameters()}


@pytest.mark.parametrize(("memory", "encoder", "precision", "starts"), [*rows()])
def test_unroll_equals_the_step_loop(memory, encoder, precision, starts, device):
    policy, tolerance = policy_of(memory, encoder, precision, device), {"f32": 1e-5, "bf16": 3e-2}[precision]
    frames, start, state = draw(policy, STARTS[starts])
    with torch.no_grad():
        whole = unroll(policy, frames, start, state)
    looped = step_loop(policy, policy.preprocess_rollout(frames, start), start, state)
    assert whole.dtype == looped.dtype == torch.float32
    assert (whole - looped).abs().max() <= tolerance * looped.abs().max()


@pytest.mark.parametrize(("memory", "encoder", "precision", "starts"), [*rows()])
def test_unroll_s_gradients_equal_a_plain_loop_s(memory, encoder, precision, starts, device):
    policy, tolerance = policy_of(memory, encoder, precision, device), {"f32": 1e-4, "bf16": 6e-2}[precision]
    frames, start, state = draw(policy, STARTS[starts])
    weight = torch.randn(STEPS, BATCH, ACTIONS + 1).to(device)
    got = gradients(policy, unroll(policy, frames, start, state), weight)
    wanted = gradients(policy, one_by_one(policy, frames, start, state), weight)
    for name, gradient in wanted.items():
        assert (got[name] - gradient).norm() <= tolerance * gradient.norm(), name


@pytest.mark.parametrize("encoder", ENCODERS)
@pytest.mark.parametrize("memory", CASES)
def test_a_start_forgets_the_past(memory, encoder):
    policy = policy_of(memory, encoder)
    frames, start, state = draw(policy, [(3, 1)])
    other = frames.clone()
    other[:3, 1] *= -5.0
    with torch.no_grad():
        before = unroll(policy, frames, start, state)
        after = unroll(policy, other, start, (state[0] + 1, state[1] + 1))
    torch.testing.assert_close(before[3:, 1], after[3:, 1], rtol=1e-5, atol=1e-5)
    assert (before[:3, 1] - after[:3, 1]).abs().max() > 1e-2
    remembers = (before[3:, 0] - after[3:, 0]).abs().max() > 1e-2  # without a start the state has an effect
    assert remembers == (memory != "none")


@pytest.mark.parametrize("encoder", ENCODERS.values(), ids=ENCODERS.keys())
@pytest.mark.parametrize("memory", CASES.values(), ids=CASES.keys())
def test_stacked_frames_reach_the_encoder_and_end_at_the_start_of_an_episode(memory, encoder):
    policy = make(**memory, encoder=encoder[0], shape=encoder[1], frames=3)
    frames, start, state = draw(policy, [(3, 1)])
    with torch.no_grad():
        whole = unroll(policy, frames, start, state)
        older, past = frames.clone(), frames.clone()
        older[1] += 3.0  # the frame before step 0's
        past[:5, 1] += 3.0  # environment 1's, before its episode starts at step 3
        assert not torch.equal(unroll(policy, older, start, state)[0], whole[0])
        torch.testing.assert_close(unroll(policy, past, start, state)[3:, 1], whole[3:, 1], rtol=1e-5, atol=1e-5)
    looped = step_loop(policy, policy.preprocess_rollout(frames, start), start[2:], state)
    assert (whole - looped).abs().max() <= 1e-5 * looped.abs().max()


@pytest.mark.parametrize("encoder", ENCODERS.values(), ids=ENCODERS.keys())
@pytest.mark.parametrize("memory", CASES.values(), ids=CASES.keys())
def test_weights_are_a_function_of_the_seed_and_survive_a_state_dict(memory, encoder):
    policy, same = (make(**memory, encoder=encoder[0], shape=encoder[1]) for _ in range(2))
    frames, start, state = draw(policy, STARTS["twice"])
    for name, tensor in policy.state_dict().items():
        assert torch.equal(tensor, same.state_dict()[name]), name
        assert tensor.dtype == torch.float32
    torch.manual_seed(7)
    sizes = encoder[1], ACTIONS, policy.encoder_size, UNITS
    own = {name: value for name, value in memory.items() if name in ("layers", "highway")}
    other = MEMORIES[memory["memory"]](*sizes, encoder=encoder[0], **own)
    with torch.no_grad():
        assert not torch.equal(unroll(other, frames, start, state), unroll(policy, frames, start, state))
        other.load_state_dict(policy.state_dict())
        assert torch.equal(unroll(other, frames, start, state), unroll(policy, frames, start, state))


@pytest.mark.parametrize("memory", CASES.values(), ids=CASES.keys())
def test_each_gate_of_a_new_policy_has_an_orthogonal_matrix(memory):
    policy = make(**memory)
    matrices = [part for name, weight in policy.named_parameters() for part in weight.chunk(policy.stacked(name))
                if weight.ndim == 2 and not name.startswith("heads.")]
    assert len(matrices) > 1
    for matrix in matrices:
        short = matrix if len(matrix) <= len(matrix.T) else matrix.T
        gram = short @ short.T
        torch.testing.assert_close(gram / gram[0, 0], torch.eye(len(gram)), atol=1e-5, rtol=0)


@pytest.mark.parametrize("encoder", ENCODERS.values(), ids=ENCODERS.keys())
@pytest.mark.parametrize("memory", CASES.values(), ids=CASES.keys())
def test_a_new_policy_s_actions_are_nearly_equally_likely_and_its_values_differ(memory, encoder):
    kind, shape = encoder
    torch.manual_seed(0)
    policy = MEMORIES[memory["memory"]](shape, ACTIONS, 12, UNITS, encoder=kind, **{
        name: value for name, value in memory.items() if name in ("layers", "highway")})
    frames, start, state = draw(policy, [])
    logits, values = policy.unroll(policy.preprocess_rollout(frames, start), start, state)
    assert (logits.softmax(-1) - 1 / ACTIONS).abs().max() < 0.03 and values.std() > 0.1
