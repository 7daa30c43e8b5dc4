"""Playing a rollout: the policy acts in the environments of a pipeline, and every step is stored."""

import time

import torch

from bridge import Pipeline
from bridge.spans import span
from trainer import kernels
from trainer.policy.policy import Policy, StepSpace
from trainer.ranks import ALONE, Ranks
from trainer.rollout.held_noise import note_ends
from trainer.rollout.storage import Storage


class Actor:
    """The policy with its memory of each environment, playing a pipeline into a storage.

    seed: of the sampling; the number of the step and of the environment are the other keys.
    greedy: take the most probable action instead of sampling: the mean of a continuous one.
    noise_hold: steps for which a part of the environments uses the same random numbers; for training.
    noise_hold_after: "any", or "truncation" for only those whose last episode was truncated, or that have ended none.
    ranks: the pipeline has this rank's part of all environments.
    """

    def __init__(self, policy: Policy, pipeline: Pipeline, storage: Storage, seed: int, *, greedy: bool = False,
                 noise_hold: int = 1, noise_hold_after: str = "any", ranks: Ranks = ALONE):
        self.policy, self.pipeline, self.storage, self.seed, self.greedy = policy, pipeline, storage, seed, greedy
        self.noise_hold, self.ranks = noise_hold, ranks
        self.step = 0  # steps of every environment since the run began; keys the sampling
        self.weights = policy.cast_weights()
        self.h, self.c = policy.initial_state(pipeline.num_envs, pipeline.device)
        self.over = torch.zeros(pipeline.num_envs, device=pipeline.device)  # flags of the observation before the current one
        until_an_end = noise_hold > 1 and noise_hold_after == "truncation"
        self.held = torch.ones_like(self.over) if until_an_end else None  # flags of environments that hold noise
        self.seconds = {"forward": 0.0, "sample": 0.0}
        self.steps = [BatchStep(self, batch, pipeline.streams[batch.index].copies) for batch in pipeline.batches]

    def begin(self):
        """Prepare a rollout: take the policy's present weights and store the memory before step 0."""
        self.policy.cast_weights(self.weights)
        self.storage.h.copy_(self.h)
        self.storage.c.copy_(self.c)
        self.storage.roll()
        for step in self.steps:
            step.clock.begin(self.step)
        self.pipeline.wait_for_caller()

    def note_observations(self):
        """Add a sample of the rollout's observations to the statistics of a normalizer, on all ranks."""
        if self.storage.sample is not None:
            self.policy.normalizer.update(self.storage.sample.flatten(0, 1), self.ranks)

    def state(self) -> dict[str, torch.Tensor]:
        """Tensors for a checkpoint: all but the policy's weights and `step`."""
        held = {} if self.held is None else {"held": self.held}
        return {"h": self.h, "c": self.c, "over": self.over, **held, **self.storage.last}

    def environment_dims(self) -> dict[str, int]:
        """The environment dimension of each tensor of `state()`."""
        return {name: 1 if name in ("frames", "starts") else 0 for name in self.state()}

    def restore(self, state: dict[str, torch.Tensor]):
        """Take the tensors returned by `state`."""
        for name, tensor in self.state().items():
            tensor.copy_(state[name])

    def begin_episodes(self):
        """Forget the old episodes: the next observation of every environment is the first of a new one."""
        self.h.zero_()
        self.c.zero_()
        self.over.fill_(1)
        if self.held is not None:
            self.held.fill_(1)


class BatchStep:
    """One step of one batch on the device: store the slab, choose actions. Each call reads and writes the same memory.

    on_device: the columns are in the memory of a device, whose kernels read the number of the step there.
    """

    def __init__(self, actor: Actor, batch, on_device: bool):
        self.actor, self.index, self.rows = actor, batch.index, slice(batch.lo, batch.hi)
        self.first = actor.ranks.rank * actor.pipeline.num_envs + batch.lo  # number among the environments of all ranks
        self.slab = actor.pipeline.slab(batch)
        device, count = actor.pipeline.device, batch.hi - batch.lo
        self.clock = kernels.DeviceClock(device) if on_device else kernels.HostClock()
        self.held = kernels.Held(actor.noise_hold, None if actor.held is None else actor.held[self.rows])
        storage, policy = actor.storage, actor.policy
        self.columns = storage.columns(self.rows)
        self.sample = None if storage.sample is None else storage.sample[:, self.rows]
        self.space = StepSpace(policy, count, device, storage.frames.dtype)
        self.keep, self.keep_next, self.log_prob, self.value, self.over = (torch.zeros(count, device=device) for _ in range(5))
        self.h, self.c = policy.initial_state(count, device)  # copies for the bootstrap
        slab = self.slab
        observation = slab.observation if self.sample is None else torch.zeros(slab.observation.shape, device=device)
        self.returned = kernels.Slab(observation, slab.reward, slab.terminated, slab.truncated, slab.action_mask)
        self.stacks = policy.needs_preprocessing(storage.frames.dtype)
        self.cast = None if self.stacks else kernels.cast_buffer(self.returned, self.columns.frames)

    @torch.no_grad()
    def __call__(self):
        """One step of the rollout: fills the slab's actions."""
        actor, rows = self.actor, self.rows
        begin = time.perf_counter()
        with span("forward", self.index):
            out = self._forward(actor.over[rows], actor.h[rows], actor.c[rows])
        middle = time.perf_counter()
        with span("sample", self.index):
            self._act(out)
        actor.seconds["forward"] += middle - begin
        actor.seconds["sample"] += time.perf_counter() - middle

    def _act(self, out):
        """Choose actions by the policy's output (B, A + 1), and store them: the end of a step."""
        actor, slab = self.actor, self.slab
        if actor.greedy:
            actor.policy.distribution.greedy(out[:, :-1], slab.action_mask, slab.actions)
            self.value.copy_(out[:, -1])
            kernels.store_actions(self.clock, self.columns, slab.actions, self.log_prob, self.value)
            return
        if self.held.may is not None:
            note_ends(self.held.may, slab.terminated, slab.truncated)
        actor.policy.distribution.sample_step(out, slab.action_mask, actor.seed, self.first, self.clock, slab.actions,
                                              self.columns, self.log_prob, self.value, self.held)

    @torch.no_grad()
    def bootstrap(self):
        """Store the values after the last step. The actor's memory and `over` stay unchanged."""
        actor, rows = self.actor, self.rows
        for mine, theirs in ((self.over, actor.over), (self.h, actor.h), (self.c, actor.c)):
            mine.copy_(theirs[rows])
        out = self._forward(self.over, self.h, self.c, last=True)
        self.clock.store(self.columns.value, out[:, -1])

    def _forward(self, over, h, c, *, last: bool = False):
        """Store the slab's contents, and run the policy on them.

        over: (B,), updated in place: IN the flags before this step, OUT those of this step.
        h, c: (B, ...), the policy's memory, updated in place.
        last: this is the step after the rollout, whose value bootstraps it; no actions are chosen.
        Returns (B, A + 1): logits, then the value.
        """
        policy, rows, storage = self.actor.policy, self.rows, self.actor.storage
        if self.sample is not None:
            self._normalize()
        inputs = kernels.store_step(self.returned, self.clock, over, self.columns, self.keep, self.keep_next, self.cast,
                                    last=last)[:, None]
        if self.stacks:
            inputs = policy.preprocess(storage.frames[:, rows], storage.starts[:, rows], self.clock.t, self.space.inputs)[0]
        return policy.step(self.actor.weights, inputs, self.keep, self.keep_next, h, c, self.space)

    def _normalize(self):
        """Normalize the slab's observations (B, *shape). Samples of them are stored for the statistics."""
        self.clock.store_every(self.actor.storage.sample_period, self.sample, self.slab.observation)
        self.actor.policy.normalizer(self.slab.observation, self.returned.observation)


def collect(actor: Actor, *, bootstrap: bool = True):
    """Play one rollout into the actor's storage, from the step after the last rollout.

    bootstrap: also run the policy on the result of the last step, for learning; and add the rollout to the statistics of a
        normalizer.

    Raises LearningError if an observation that is not finite has entered the statistics of a normalizer.
    """
    play(actor, bootstrap=bootstrap)
    if bootstrap:
        actor.note_observations()


def play(actor: Actor, *, bootstrap: bool = True):
    """The part of `collect` in which ranks exchange nothing: all but the statistics of a normalizer."""
    pipeline, storage = actor.pipeline, actor.storage
    actor.begin()
    pipeline.turns(storage.horizon, actor.steps)
    for batch in pipeline.batches if bootstrap else ():
        pipeline.turn(batch, actor.steps[batch.index].bootstrap, act=False)
    pipeline.make_caller_wait()
    actor.step += storage.horizon
