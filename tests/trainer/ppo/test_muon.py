"""Muon steps the hidden matrices, each gate by itself, and Adam the rest."""


import pytest
import torch
from learner_support import collected, config
from trainer_support import same

from trainer.errors import ConfigError
from trainer.runs import checkpoint
from trainer.training.build import make_session
from trainer.training.train import iterate


def stepped_by_muon(made) -> set[str]:
    """The names of the parameters."""
    optimizers = made.learner.optimizers
    return {optimizers.names[parameter] for part in optimizers.parts[1:] for parameter in part.parameters()}


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


@pytest.mark.parametrize(("policy", "hidden"), [
    ({"memory": "lstm"}, {"recurrent"}), ({"memory": "mingru", "layers": 2}, {"core.1.weight"}), ({"memory": "none"}, set())])
def test_behind_an_encoder_without_weights_the_memory_reads_observations_and_adam_steps_its_first_matrix(policy, hidden):
    made = make_session(config(policy={"encoder": "own_encoders:Padded", **policy}, optimizer="muon"))
    assert stepped_by_muon(made) == hidden
    iterate(made)


INSIDE = {"encoder.module.layers.4.weight", "input", "recurrent"}  # the hidden matrices of own_encoders:Small


@pytest.mark.parametrize("encoder", ["own_encoders:Small", "own_encoders:Named", "own_encoders:Branches"])
def test_an_encoder_of_the_users_own_names_the_weights_that_read_observations(encoder):
    made = make_session(config(policy={"encoder": encoder}, optimizer="muon"))
    assert stepped_by_muon(made) == INSIDE


def test_the_example_of_an_encoder_leaves_both_of_its_branches_to_adam():
    made = make_session(config(policy={"encoder": "examples.training.hooks.encoder:TwoBranches"}, optimizer="muon"))
    assert stepped_by_muon(made) == {"encoder.module.deep.2.weight", "input", "recurrent"}


def test_the_example_of_a_memory_names_its_gates():
    made = make_session(config(policy={"memory": "examples.training.hooks.memory:Gru"}, optimizer="muon"))
    muon = made.learner.optimizers.parts[1]
    assert [len(matrices) for _, matrices in muon.stacked] == [3, 3]
    iterate(made)


def test_behind_a_transform_an_encoder_of_the_users_own_names_its_weights_too():
    policy = {"encoder": "own_encoders:Branches", "observation_transform": "examples.training.hooks.transforms:with_squares"}
    assert stepped_by_muon(make_session(config(policy=policy, optimizer="muon"))) == {
        name.replace("encoder.", "encoder.inner.") for name in INSIDE}


@pytest.mark.parametrize(("encoder", "text"), [
    ("Layers", "must return parameters of the module"),
    ("Forgotten", "being asked for input_weights() raised TypeError: 'NoneType' object is not iterable")])
def test_wrong_input_weights_are_refused(encoder, text):
    with pytest.raises(ConfigError) as error:
        make_session(config(policy={"encoder": f"own_encoders:{encoder}"}, optimizer="muon"))
    assert text in str(error.value) and "own_encoders" in str(error.value)


def test_all_parameters_of_heads_are_adam_s():
    made = make_session(config(policy={"heads": "examples.training.hooks.heads:Separate"}, optimizer="muon"))
    assert stepped_by_muon(made) == {"input", "recurrent"}


@pytest.mark.parametrize(("policy", "read"), [
    ({}, "encoder.weight"), ({"encoder": "own_encoders:Padded"}, "input"),
    ({"encoder": "own_encoders:Padded", "memory": "none"}, "layer.weight")])
def test_a_run_whose_muon_stepped_the_weights_that_read_observations_goes_on(tmp_path, policy, read):
    made = make_session(config(policy=policy, optimizer="muon"))
    iterate(made)
    tensors, meta, _ = checkpoint.load(made.save(tmp_path))
    place = f"optimizer.{read}."
    old = {name: tensor for name, tensor in tensors.items() if not name.startswith(place)}
    old[f"{place}momentum_buffer"] = tensors[f"{place}exp_avg"]
    path = checkpoint.save(tmp_path / "old", meta["iteration"], old, meta, score=None)
    resumed = make_session(config(policy=policy, optimizer="muon"), resume=path)
    same(resumed.policy.state_dict(), made.policy.state_dict())
    iterate(resumed)
    assert torch.equal(resumed.learner.state()[f"{read}.step"], torch.tensor(float(resumed.learner.diagnostics.done)))
