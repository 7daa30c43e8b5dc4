"""The number of batches on a GPU: the fewest that are about as fast as the fastest, and no trial longer than it helps."""

from types import SimpleNamespace

import pytest
import torch

from trainer.config import Config, EnvConfig, PPOConfig
from trainer.training import batches

GPU, CPU = (SimpleNamespace(stream=lambda copies=copies: SimpleNamespace(copies=copies)) for copies in (True, False))


@pytest.mark.parametrize(("times", "num_envs", "best", "tried"), [
    ({1: 9e-4, 2: 5e-4, 4: 4.9e-4, 8: 7e-4, 16: 1e-5}, 64, 2, [1, 2, 4, 8]),
    ({1: 9e-4, 2: 5e-4, 4: 4e-4, 8: 4.5e-4, 16: 4.6e-4}, 64, 4, [1, 2, 4, 8, 16]),
    ({1: 3e-4, 2: 4e-4}, 64, 1, [1, 2]),
    ({1: 3e-4, 2: 1e-4}, 3, 2, [1, 2])], ids=["hidden copies", "more hidden", "small steps", "few environments"])
def test_more_batches_are_tried_while_they_help(monkeypatch, times, num_envs, best, tried):
    asked = []

    def step_seconds(share, device, precision, count, graphs):
        asked.append(count)
        return times[count]
    monkeypatch.setattr(batches, "step_seconds", step_seconds)
    share = Config("pong", EnvConfig(num_envs=num_envs), ppo=PPOConfig(minibatch=64 * num_envs))
    found, reason = batches.choose(share, GPU, torch.float32, graphs=True)
    assert found == best and asked == tried
    assert reason.endswith(", ".join(f"{count}: {1e6 * times[count]:.0f}" for count in tried))


@pytest.mark.parametrize(("env", "device", "found"), [
    (EnvConfig(num_batches=3), GPU, (3, "as asked")), (EnvConfig(sim="device"), GPU, (1, "the games are played on the device")),
    (EnvConfig(), CPU, (1, "nothing is copied on the CPU"))],
    ids=["as asked", "device", "CPU"])
def test_nothing_is_tried_where_there_is_no_choice(monkeypatch, env, device, found):
    monkeypatch.setattr(batches, "step_seconds", lambda *arguments: pytest.fail("tried"))
    assert batches.choose(Config("pong", env), device, torch.float32, graphs=True) == found
