"""Time-major storage of one rollout, (T, N, ...), and `collect`, which fills it.

What the slab brings at step t belongs together: the observation and the reward and flags of the action before it. After a
flag the environments reset with the next step ("next_step" autoreset), whatever the action; so at step t

    over[t]  = the flags that came with observation t: it is the last of its episode, and the action at t does nothing;
    valid[t] = 1 - over[t]: whether the transition of step t is one to learn from;
    start[t] = over[t - 1]: observation t is the first of an episode, and the LSTM's state is zeroed before it.

The value of a truncated episode's last observation, after the LSTM's state there, is thereby simply value[t].
"""

import time
from dataclasses import dataclass

import torch

from bridge import Pipeline
from bridge.spans import span
from trainer import kernels
from trainer.policy.policy import Policy, StepSpace
from trainer.ranks import ALONE, Ranks

SAMPLES = 8  # steps of a rollout whose observations are kept for their statistics


@dataclass
class Storage:
    """One rollout of T steps of N environments, with a row more for what the last step brought, and K - 1 rows in front of
    observations and starts: the frames before step 0 that a policy of K frames sees."""

    frames: torch.Tensor        # (K - 1 + T + 1, N, *shape) uint8 or the policy's precision
    starts: torch.Tensor        # (K - 1 + T + 1, N) float32
    action: torch.Tensor        # (T, N) int32
    log_prob: torch.Tensor      # (T, N) float32
    value: torch.Tensor         # (T + 1, N) float32
    reward: torch.Tensor        # (T + 1, N) float32, reward[t] came with observation t
    terminated: torch.Tensor    # (T + 1, N) float32
    truncated: torch.Tensor     # (T + 1, N) float32
    action_mask: torch.Tensor | None   # (T, N, A) uint8
    h: torch.Tensor             # as Policy.initial_state, the memory at step 0
    c: torch.Tensor
    sample: torch.Tensor | None = None  # (S, N, *shape) float32: observations as they came, for their statistics

    @classmethod
    def empty(cls, horizon: int, pipeline: Pipeline, policy: Policy) -> "Storage":
        """Zeroed storage that fits a pipeline and a policy, on the pipeline's device."""
        n, device, before = pipeline.num_envs, pipeline.device, policy.frames - 1
        slab = pipeline.slab(pipeline.batches[0])
        dtype = torch.uint8 if slab.observation.dtype == torch.uint8 else policy.precision
        mask = None if slab.action_mask is None else \
            torch.zeros(horizon, n, pipeline.num_actions, dtype=torch.uint8, device=device)
        rows = {name: torch.zeros(horizon + 1, n, device=device) for name in ("value", "reward", "terminated", "truncated")}
        h, c = policy.initial_state(n, device)
        sample = None if policy.normalizer is None else torch.zeros(
            -(-horizon // (horizon // SAMPLES or 1)), n, *slab.observation.shape[1:], device=device)
        return cls(frames=torch.zeros(before + horizon + 1, n, *slab.observation.shape[1:], dtype=dtype, device=device),
                   starts=torch.zeros(before + horizon + 1, n, device=device),
                   action=torch.zeros(horizon, n, dtype=torch.int32, device=device),
                   log_prob=torch.zeros(horizon, n, device=device), action_mask=mask, h=h, c=c, sample=sample, **rows)

    @property
    def horizon(self) -> int:
        return len(self.action)

    @property
    def before(self) -> int:
        """Rows in front of step 0's: K - 1."""
        return len(self.frames) - self.horizon - 1

    @property
    def observation(self) -> torch.Tensor:
        """(T + 1, N, *shape)."""
        return self.frames[self.before:]

    @property
    def start(self) -> torch.Tensor:
        """(T + 1, N) float32."""
        return self.starts[self.before:]

    @property
    def valid(self) -> torch.Tensor:
        """(T, N) float32: 0 where the environment only reset."""
        return 1 - torch.maximum(self.terminated[:-1], self.truncated[:-1])

    @property
    def last(self) -> dict[str, torch.Tensor]:
        """The K - 1 rows of frames and starts that the next rollout has in front of its step 0."""
        rows = slice(self.horizon, self.horizon + self.before)
        return {"frames": self.frames[rows], "starts": self.starts[rows]}

    def roll(self):
        """Before a new rollout: the last frames of the one before move in front of step 0."""
        for name, rows in self.last.items():
            getattr(self, name)[: self.before] = rows.clone()

    def advantages(self, reward, gamma: float, lam: float, **more) -> torch.Tensor:
        """(T, N) float32, of rewards (T, N); `more` as `kernels.advantages` takes it."""
        return kernels.advantages(reward, self.terminated[1:], self.truncated[1:], self.valid, self.value, gamma, lam, **more)


class Clock:
    """t, the step within the rollout, and step, the one since the run began.

    Whole numbers; or (1,) int64 tensors in the device's memory, so that a captured graph finds them moved on at each replay.
    """

    def __init__(self, device: torch.device, in_memory: bool):
        self.t, self.step = 0, 0
        if in_memory:
            self.t, self.step = (torch.zeros(1, dtype=torch.int64, device=device) for _ in range(2))

    def begin(self, step: int):
        """At t = 0 of a rollout that begins at `step`."""
        if isinstance(self.t, int):
            self.t, self.step = 0, step
        else:
            self.t.zero_()
            self.step.fill_(step)

    def tick(self):
        self.t += 1
        self.step += 1


def put(target: torch.Tensor, t, rows: slice, value: torch.Tensor) -> torch.Tensor:
    """target[t, rows] = value, where t is a whole number or a (1,) tensor; returns the value as it was stored."""
    if isinstance(t, int):
        stored = target[t, rows]
        return stored.copy_(value)
    value = value.to(target.dtype)
    target[:, rows].index_copy_(0, t, value[None])
    return value


class Actor:
    """What acts: the policy, the LSTM's state of every environment, and which episode just ended.

    greedy: take the likeliest action instead of sampling. ranks: the pipeline has this rank's part of all environments.
    """

    def __init__(self, policy: Policy, pipeline: Pipeline, storage: Storage, seed: int, *, greedy: bool = False,
                 ranks: Ranks = ALONE):
        self.policy, self.pipeline, self.storage, self.seed, self.greedy = policy, pipeline, storage, seed, greedy
        self.ranks = ranks
        self.step = 0  # steps taken by every environment; with the seed and the environment it keys the sampling
        self.weights = policy.cast_weights()
        self.h, self.c = policy.initial_state(pipeline.num_envs, pipeline.device)
        self.over = torch.zeros(pipeline.num_envs, device=pipeline.device)  # flags of the last but one observation
        self.seconds = {"forward": 0.0, "sample": 0.0}
        self.steps = [BatchStep(self, batch, pipeline.streams[batch.index].captures) for batch in pipeline.batches]

    def begin(self):
        """Before a rollout: the weights as they are now, and what the rollout starts from."""
        self.policy.cast_weights(self.weights)
        self.storage.h.copy_(self.h)
        self.storage.c.copy_(self.c)
        self.storage.roll()
        for step in self.steps:
            step.clock.begin(self.step)
        self.pipeline.wait_for_caller()

    def state(self) -> dict[str, torch.Tensor]:
        """For a checkpoint: everything but the policy's weights and `step`."""
        return {"h": self.h, "c": self.c, "over": self.over, **self.storage.last}

    def restore(self, state: dict[str, torch.Tensor]):
        """Put back what `state` gave."""
        for name, tensor in self.state().items():
            tensor.copy_(state[name])


class BatchStep:
    """The device's side of one batch's step: store what came, act on it. Reads and writes the same memory at each call."""

    def __init__(self, actor: Actor, batch, in_memory: bool):
        self.actor, self.index, self.rows = actor, batch.index, slice(batch.lo, batch.hi)
        self.first = actor.ranks.rank * actor.pipeline.num_envs + batch.lo  # of all ranks' environments
        self.slab = actor.pipeline.slab(batch)
        device, count = actor.pipeline.device, batch.hi - batch.lo
        self.clock = Clock(device, in_memory)
        self.space = StepSpace(actor.policy, count, device)
        self.ones = torch.ones(count, device=device)
        self.keep, self.keep_next, self.log_prob, self.value, self.over = (torch.zeros(count, device=device) for _ in range(5))
        self.h, self.c = actor.policy.initial_state(count, device)  # of the bootstrap
        self.normal = torch.zeros(self.slab.observation.shape, device=device) if actor.policy.normalizer is not None else None

    @torch.no_grad()
    def __call__(self):
        """A step of the rollout: fills the slab's actions."""
        actor, rows = self.actor, self.rows
        begin = time.perf_counter()
        with span("forward", self.index):
            out = self._forward(actor.over[rows], actor.h[rows], actor.c[rows])
        middle = time.perf_counter()
        with span("sample", self.index):
            self._act(out)
        self.clock.tick()
        actor.seconds["forward"] += middle - begin
        actor.seconds["sample"] += time.perf_counter() - middle

    def _act(self, out):
        """Choose actions by the policy's `out` (B, A + 1), and store them."""
        actor, storage, slab, rows, t = self.actor, self.actor.storage, self.slab, self.rows, self.clock.t
        if storage.action_mask is not None:
            put(storage.action_mask, t, rows, slab.action_mask)
        if actor.greedy:
            logits = out[:, :-1]
            legal = logits if slab.action_mask is None else logits.masked_fill(slab.action_mask == 0, -1e9)
            slab.actions.copy_(legal.argmax(1))
            self.value.copy_(out[:, -1])
        else:
            kernels.sample(out, slab.action_mask, actor.seed, self.first, self.clock.step, slab.actions, self.log_prob,
                           actor.policy.num_actions, self.value)
        put(storage.log_prob, t, rows, self.log_prob)
        put(storage.action, t, rows, slab.actions)
        put(storage.value, t, rows, self.value)

    @torch.no_grad()
    def bootstrap(self):
        """The values after the last step; neither the LSTM's state nor `over` moves on."""
        actor, rows = self.actor, self.rows
        for mine, theirs in ((self.over, actor.over), (self.h, actor.h), (self.c, actor.c)):
            mine.copy_(theirs[rows])
        out = self._forward(self.over, self.h, self.c)
        put(actor.storage.value, self.clock.t, rows, out[:, -1])

    def _forward(self, over, h, c):
        """Store what came with observation t and see it; moves `over`, h and c (B, ...) on to the next step."""
        actor, storage, slab, rows, t = self.actor, self.actor.storage, self.slab, self.rows, self.clock.t
        put(storage.start, t, rows, over)
        torch.sub(self.ones, over, out=self.keep)
        torch.maximum(slab.terminated, slab.truncated, out=over)
        torch.sub(self.ones, over, out=self.keep_next)
        for name in ("reward", "terminated", "truncated"):
            put(getattr(storage, name), t, rows, getattr(slab, name))
        observation = slab.observation
        if storage.sample is not None:
            put(storage.sample, t // (storage.horizon // SAMPLES or 1) % len(storage.sample), rows, observation)
            observation = actor.policy.normalizer(observation, self.normal)
        seen = put(storage.observation, t, rows, observation)[:, None]
        if actor.policy.needs_preprocessing(storage.frames.dtype):
            seen = actor.policy.preprocess(storage.frames[:, rows], storage.starts[:, rows], t, self.space.inputs)[0]
        return actor.policy.step(actor.weights, seen, self.keep, self.keep_next, h, c, self.space)


def collect(actor: Actor, *, bootstrap: bool = True):
    """Play one rollout into the actor's storage; the actor goes on from where it stopped.

    bootstrap: whether to see what the last step brought, too, for learning.
    """
    pipeline, storage = actor.pipeline, actor.storage
    actor.begin()
    for _ in range(storage.horizon):
        for batch in pipeline.batches:
            pipeline.turn(batch, actor.steps[batch.index])
    for batch in pipeline.batches if bootstrap else ():
        pipeline.turn(batch, actor.steps[batch.index].bootstrap, act=False)
    pipeline.make_caller_wait()
    if bootstrap and storage.sample is not None:
        actor.policy.normalizer.update(storage.sample.flatten(0, 1), actor.ranks)
    actor.step += storage.horizon
