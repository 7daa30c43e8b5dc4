"""A policy is loaded only from a checkpoint whose tensors have the names, shapes and dtypes of the policy."""

import re

import pytest
import torch
from trainer_support import config

from trainer.config.config import overlay
from trainer.errors import CheckpointError
from trainer.policy.load import load_policy
from trainer.runs import checkpoint
from trainer.training.build import make_session

CHANGES = {
    "missing": (lambda tensors, name: tensors.pop(name), "it must have {}, which is missing"),
    "another shape": (lambda tensors, name: tensors.update({name: torch.stack([tensors[name]] * 2)}), "{} must be ("),
    "another dtype": (lambda tensors, name: tensors.update({name: tensors[name].double().to(torch.float16)}), "float16"),
    "unknown": (lambda tensors, name: tensors.update({f"{name}.more": tensors[name]}), "it must not have {}.more"),
}


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """The path of a checkpoint with normalized observations."""
    settings = overlay(config(None), {"policy": {"normalize_observations": True}})
    return make_session(settings).save(tmp_path_factory.mktemp("run"))


@pytest.mark.parametrize(("change", "text"), CHANGES.values(), ids=CHANGES)
def test_every_tensor_of_a_policy_that_does_not_fit_is_named(saved, tmp_path, change, text):
    tensors, meta, _ = checkpoint.load(saved)
    names = [name for name in tensors if name.startswith("policy.")]
    assert len(names) > 8
    for name in names:
        changed = dict(tensors)
        change(changed, name)
        path = checkpoint.save(tmp_path, 0, changed, meta, score=None)
        with pytest.raises(CheckpointError, match=rf"does not fit the present cartpole: .*{re.escape(name)}") as error:
            load_policy(path)
        assert text.format(name) in str(error.value) and "\n" not in str(error.value)
    load_policy(saved)
