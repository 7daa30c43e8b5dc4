"""Small trainings, on the CPU and on the device without a GPU."""

import ranks_support
import torch
from cuda_double.install import installed

from bridge import open_device
from trainer.config import Config, EnvConfig, PolicyConfig, PPOConfig, RunConfig, SelfPlayConfig
from trainer.rollout.actor import collect
from trainer.training.build import make_session
from trainer.training.session import TrainingSession
from trainer.training.train import iterate

STORED = ("frames", "starts", "action", "reward", "terminated", "truncated")
KINDS = {"env": EnvConfig, "policy": PolicyConfig, "ppo": PPOConfig, "run": RunConfig}
SECTIONS = {name: section for section, kind in KINDS.items() for name in kind.__dataclass_fields__}


class Two:
    """Two streams and a tensor."""

    def __init__(self):
        device = open_device("cuda")
        self.one, self.other = device.stream(), device.stream()
        self.data = torch.zeros(8, device="cuda:0")
        for stream in (self.one, self.other):
            stream.wait_for_caller()

    def write(self):
        self.data.add_(1)

    def read(self):
        self.data.sum()


def config(device: str = "cuda", game: str = "cartpole", **settings) -> Config:
    """A config of tiny sizes. settings: of any section, by name; self_play is a dict of its section."""
    num_envs = settings.get("num_envs", 6)
    parts: dict[str, dict] = {
        "env": {"num_envs": num_envs, "num_batches": 1, "num_threads": 1},
        "policy": {"encoder_size": 8, "lstm_size": 6, "precision": "float32", "noise_hold": 3},
        "ppo": {"horizon": 4, "minibatch": num_envs * 2, "total_steps": 10**6, "epochs": 2},
        "run": {"seed": 5, "device": device, "dashboard": False}}
    self_play = SelfPlayConfig(**settings.pop("self_play", {}))
    for name, value in settings.items():
        parts[SECTIONS[name]][name] = value
    return Config(game, EnvConfig(**parts["env"]), PolicyConfig(**parts["policy"]), PPOConfig(**parts["ppo"]),
                  RunConfig(**parts["run"]), self_play)


def trained(settings: Config, iterations: int = 3, **options) -> TrainingSession:
    """A session after some iterations."""
    made = make_session(settings, **options)
    for _ in range(iterations):
        iterate(made)
    made.pipeline.settle()
    return made


def contents(made: TrainingSession) -> dict[str, torch.Tensor]:
    """The tensors of a session's policy, optimizer and rollout, on the CPU."""
    tensors = {f"policy.{name}": one for name, one in made.policy.state_dict().items()}
    tensors |= {f"learner.{name}": one for name, one in made.learner.state().items()}
    tensors |= {name: getattr(made.storage, name) for name in (*STORED, "log_prob", "value", "h", "c")}
    return {name: one.detach().cpu() for name, one in tensors.items()}


def require_same(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor], tolerance: float = 2e-5):
    """Assert that two results of `contents` are equal: within the tolerance, and STORED exactly, if actions are integers."""
    assert one.keys() == other.keys()
    exact = () if one["action"].is_floating_point() or tolerance > 1e-3 else STORED
    for name, tensor in one.items():
        if name in exact:
            assert torch.equal(tensor, other[name]), name
        else:
            torch.testing.assert_close(tensor.double(), other[name].double(), rtol=tolerance, atol=tolerance,
                                       msg=lambda text, name=name: f"{name}: {text}")


def rank_contents(settings: Config) -> tuple[dict[str, torch.Tensor], list, list[str]]:
    """Of a training of several ranks: `contents`, the faults, and the operations of a further update on the host's queues,
    each graph by its first operation. Called in the process of each rank."""
    with installed(gpus=2) as machine:
        session = trained(settings, ranks=ranks_support.joined)
        made = {name: one.clone() for name, one in contents(session).items()}
        collect(session.actor)
        with machine.schedule.part("update"):
            session.learner.update()
        session.pipeline.settle()
        machine.synchronize_all("the end")
    operations = machine.schedule.of("update")
    queued = [operations[k + 1].name if one.kind == "launch" else "a wait of the host" if one.kind == "sync" else one.name
              for k, one in enumerate(operations) if one.graph is None or one.kind == "launch"]
    return made, machine.faults, queued
