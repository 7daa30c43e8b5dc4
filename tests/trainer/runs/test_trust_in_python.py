"""Code that a run names runs in Python only if the call allows it, or if a training of the user has run the same files."""

from pathlib import Path

import pytest
from trust_support import forget, ran
from verb_support import run

import trainer
from trainer.errors import TrustError
from trainer.export.weights import rebuild
from trainer.policy.load import load_policy
from trainer.runs import checkpoint


def test_load_policy_and_rebuild_ask_too(own, capsys, monkeypatch):
    run(capsys, "export runs/own --format safetensors")
    monkeypatch.setenv("XDG_DATA_HOME", str(own / "other"))
    forget()
    ran()
    path, data = checkpoint.latest("runs/own"), Path("runs/own/policy.safetensors").read_bytes()
    for load in (lambda **keywords: load_policy(path, **keywords), lambda **keywords: rebuild(data, **keywords)):
        with pytest.raises(TrustError, match="crafted:Small"):
            load()
        assert ran() == []
        load(trust_code=True)
        assert ran() == ["crafted", "helper"]
        forget()


@pytest.mark.parametrize("go_on", [trainer.train, trainer.Session])
def test_a_refused_resume_names_the_run_and_the_argument(own, monkeypatch, go_on):
    monkeypatch.setenv("XDG_DATA_HOME", str(own / "other"))
    forget()
    ran()
    with pytest.raises(TrustError, match=r"^runs/own wants to run code .*crafted:Small.*trust_code=True"):
        go_on(resume="runs/own", total_steps=4096)
    assert ran() == []
