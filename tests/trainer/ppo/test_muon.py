"""Muon steps the hidden matrices, each gate by itself, and Adam the rest."""


import pytest
import torch
from learner_support import collected, config
from trainer_support import same

from trainer.runs import checkpoint
from trainer.training.build import make_session
from trainer.training.train import iterate


def test_muon_steps_the_hidden_matrices_and_each_gate_by_itself():
    made = collected(optimizer="muon")
    adam, muon = made.learner.optimizers.parts
    policy = made.policy
    assert all(one is wanted for one, wanted in zip(muon.parameters(), (policy.input, policy.recurrent), strict=True))
    assert any(one is policy.encoder.weight for one in adam.parameters())
    before = policy.recurrent.detach().clone()
    made.learner.update()
    assert not torch.equal(before, policy.recurrent)
    made.learner.optimizers.set_rate(1.0)
    policy.recurrent.grad[: policy.core_size] *= 1e-3  # one gate's gradient is much smaller: its step is as long
    before, state = policy.recurrent.detach().clone(), muon.state(policy.recurrent)
    muon.restore(policy.recurrent, {"momentum_buffer": torch.zeros_like(state["momentum_buffer"])})
    muon.step()
    lengths = [gate.norm().item() for gate in (policy.recurrent - before).chunk(4)]
    assert min(lengths) > 0.5 * max(lengths)


@pytest.mark.parametrize(("memory", "stacked"), [("lstm", {"input": 4, "recurrent": 4}), ("none", {"layer.weight": 1}),
                                               ("mingru", {"core.0.weight": 2})])
def test_the_matrices_of_every_memory_are_split_at_its_gates(memory, stacked):
    optimizers = make_session(config(policy={"memory": memory}, optimizer="muon")).learner.optimizers
    assert {optimizers.names[whole]: len(matrices) for whole, matrices in optimizers.parts[1].stacked} == stacked


def test_a_run_whose_muon_stepped_the_encoder_goes_on(tmp_path):
    made = make_session(config(optimizer="muon"))
    iterate(made)
    tensors, meta, _ = checkpoint.load(made.save(tmp_path))
    place = "optimizer.encoder.weight."
    old = {name: tensor for name, tensor in tensors.items() if not name.startswith(place)}
    old[f"{place}momentum_buffer"] = tensors[f"{place}exp_avg"]
    path = checkpoint.save(tmp_path / "old", meta["iteration"], old, meta, score=None)
    resumed = make_session(config(optimizer="muon"), resume=path)
    same(resumed.policy.state_dict(), made.policy.state_dict())
    iterate(resumed)
    assert torch.equal(resumed.learner.state()["encoder.weight.step"], torch.tensor(float(resumed.learner.diagnostics.done)))
