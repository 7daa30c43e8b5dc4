"""`Overlap`: the next rollout is played while the last one is learned from, as the setting `overlap` asks.

    iteration k        rollout k is copied to the learner's storage, and the policy to the actor's policy; then
    update k           learns from the learner's storage and changes the policy, and at the same time
    rollout k + 1      is played with the actor's policy into the actor's storage

So the policy that plays is one update older than the policy that learns, from the second rollout on; the learner corrects that
(trainer/ppo/catch_up.py). The two sides share no memory that one of them writes, so the numbers do not depend on their speed.

On the CPU a second thread plays. Torch, the kernels and the games release Python's lock. Each side uses as many threads as it
would alone (`num_threads`), and the operating system divides the cores between them.

On a GPU one thread queues both: first the update on the learner's stream, then the steps on the streams of the batches.
"""

import time
from concurrent.futures import ThreadPoolExecutor

import torch

from trainer.ppo.learner import Learner
from trainer.rollout.actor import Actor, play
from trainer.self_play.league import League
from trainer.training.shares import use_own_threads


class Overlap:
    """The rollout that is played ahead of the learning.

    actor: has a policy and a storage of its own, except for the normalizer of the learner's policy.
    learner: learns from its storage.
    league: the opponents of self-play, or None.
    """

    def __init__(self, actor: Actor, learner: Learner, league: League | None):
        self.actor, self.learner, self.league = actor, learner, league
        self.ready = False                      # the actor's storage holds a rollout that the learner does not have
        self.seconds = 0.0                      # of the last update, without the time in which it waited for the rollout
        self.failure: BaseException | None = None  # of the last rollout
        on_cpu = actor.pipeline.device.type == "cpu"
        self._threads = ThreadPoolExecutor(1, "insertcoin-rollout", initializer=use_own_threads) if on_cpu else None

    def fetch(self):
        """Copy the rollout that was played ahead to the learner's storage. If there is none, play it first."""
        if not self.ready:
            self._prepare()
            play(self.actor)
            self._finish()
        self.learner.storage.restore(self.actor.storage.state())
        self.ready = False

    def update(self) -> dict[str, float]:
        """Learn from the rollout in the learner's storage, and play the next one. Returns the metrics of `Learner.update`.

        An error of the rollout is raised by `require_rollout`: the update counts.
        """
        self._prepare()
        metrics = self._in_one_thread() if self._threads is None else self._in_two_threads()
        if self.failure is None:
            self._finish()
        return metrics

    def require_rollout(self):
        """Raises the error that ended the last rollout."""
        failure, self.failure = self.failure, None
        if failure is not None:
            raise failure

    def drop(self):
        """Forget the rollout that was played ahead."""
        if self.ready:
            self.ready = False
            self.actor.step -= self.actor.storage.horizon

    def state(self) -> dict[str, torch.Tensor]:
        """Tensors for a checkpoint: the rollout that was played ahead; empty if there is none."""
        return self.actor.storage.state() if self.ready else {}

    def environment_dims(self) -> dict[str, int]:
        """The environment dimension of each tensor of a rollout."""
        return self.actor.storage.environment_dims()

    def restore(self, state: dict[str, torch.Tensor]):
        """Take the result of `state`. The caller sets the actor's step."""
        self.ready = bool(state)
        if state:
            self.actor.storage.restore(state)

    def close(self):
        """End the thread."""
        if self._threads is not None:
            self._threads.shutdown()

    def _prepare(self):
        """Prepare the next rollout, while nothing is learned."""
        if self.league is not None:
            self.league.begin(self.actor.step // self.actor.storage.horizon)
        self.actor.policy.load_state_dict(self.learner.policy.state_dict())

    def _finish(self):
        """End a rollout, when nothing is learned any more: ranks exchange numbers."""
        self.actor.note_observations()
        self.ready = True

    def _in_two_threads(self) -> dict[str, float]:
        playing = self._threads.submit(play, self.actor)
        begin = time.perf_counter()
        try:
            return self.learner.update()
        finally:
            self.seconds = time.perf_counter() - begin
            self.failure = playing.exception()  # waits for the rollout

    def _in_one_thread(self) -> dict[str, float]:
        begin = time.perf_counter()
        self.learner.begin()
        self.seconds = time.perf_counter() - begin
        try:
            play(self.actor)
        except Exception as error:
            self.failure = error
        begin = time.perf_counter()
        metrics = self.learner.end()
        self.seconds += time.perf_counter() - begin
        return metrics
