"""CartPole as operations on torch tensors, as one would write it without a kernel. It has the same bits as the kernel.

Every operation writes to a tensor allocated at the start. The operations come in the order of cartpole.pyx and round like C:
no product is fused with a sum. Divisors are tensors: on a GPU torch would replace the division by a number by a multiplication
with its reciprocal.
"""

import math

import numpy as np
import torch

from bridge.on_device.cartpole import MULTIPLIER, CartPole
from bridge.on_device.recent import RECENT

DRAWS = 8  # 32-bit random numbers for a new episode
# The series of cartpole.pyx in the square of the angle, highest power first. The sine is its series times the angle.
SINE = (-1 / 39916800.0, 1 / 362880.0, -1 / 5040.0, 1 / 120.0, -1 / 6.0, 1.0)
COSINE = (1 / 479001600.0, -1 / 3628800.0, 1 / 40320.0, -1 / 720.0, 1 / 24.0, -0.5, 1.0)


class CartPoleTensors(CartPole):
    """CartPole in torch.

    Each step draws the pole of a new episode for all environments. Only new episodes use it.
    """

    def __init__(self, num_envs: int, device, seed: int, **settings):
        super().__init__(num_envs, device, seed, **settings)
        float64, int64 = torch.float64, torch.int64
        self._moved, self._fresh = self._zeros(float64, 4), self._zeros(float64, 4)
        self._rates = self._zeros(float64, 2)  # acceleration, turn
        self._force, self._square, self._sine, self._cosine, self._push, self._part = self._zeros(float64, 6)
        self._old, self._drawn, self._spare = (self._zeros(int64, DRAWS) for _ in range(3))
        self._newest = self._zeros(torch.int32, 1)
        self._next = self._zeros(int64)
        self._uniform = self._zeros(torch.float32)
        self._begins, self._flag, self._other = (self._zeros(torch.bool) for _ in range(3))
        self._action = self._zeros(torch.int32)
        self._total_mass, self._right, self._left, self._four_thirds = (
            torch.tensor(value, dtype=float64, device=self.device) for value in (1.1, 10.0, -10.0, 4.0 / 3.0))
        self._jump, self._jump_stream = (torch.tensor(part, device=self.device)[:, None] for part in jumps(DRAWS + 1))

    def _reset(self, observation, reward, terminated, truncated):
        self._begins.fill_(True)
        self._draw()
        self._begin()
        observation.copy_(self._poles.T)
        for tensor in (reward, terminated, truncated, self.ended):
            tensor.zero_()

    def _step(self, actions, observation, reward, terminated, truncated):
        self._begins.copy_(self._over)
        self._draw()
        self._choose(actions)
        for _ in range(self.work):
            self._move()
        self._poles.copy_(self._moved)
        self._length.add_(1)
        self._begin()
        self._flags(terminated, truncated)
        reward.fill_(self.step_reward).masked_fill_(self._begins, 0.0)
        observation.copy_(self._poles.T)
        self._account()

    def _draw(self):
        """Write the next DRAWS random numbers of every environment to _drawn (DRAWS, N), each in 0 .. 2^32 - 1.

        All are computed at once: after k steps, a generator's state is jump[k] * state + jump_stream[k] * stream. The
        generators themselves do not move; `_advance` moves them.
        """
        old, out, spare = self._old, self._drawn, self._spare
        torch.mul(self._rng[0], self._jump[:DRAWS], out=old)
        old.add_(torch.mul(self._rng[1], self._jump_stream[:DRAWS], out=spare))
        torch.bitwise_right_shift(old, 18, out=out).bitwise_and_((1 << 46) - 1).bitwise_xor_(old)
        out.bitwise_right_shift_(27).bitwise_and_(0xFFFFFFFF)
        old.bitwise_right_shift_(59).bitwise_and_(31)  # bits to rotate by
        torch.bitwise_right_shift(out, old, out=spare)
        old.neg_().bitwise_and_(31)                    # 32 minus the rotation, and 0 for 0
        out.bitwise_left_shift_(old).bitwise_or_(spare).bitwise_and_(0xFFFFFFFF)

    def _advance(self, draws: int, mask: torch.Tensor):
        """Move the generators of the environments in `mask` (N,) forward by `draws` numbers."""
        state, stream = self._rng
        torch.mul(stream, self._jump_stream[draws], out=self._next)
        self._next.add_(torch.mul(state, self._jump[draws], out=self._spare[0]))
        torch.where(mask, self._next, state, out=state)

    def _begin(self):
        """Begin new episodes in the environments in _begins (N,)."""
        high, low = self._drawn[0::2].bitwise_right_shift_(5), self._drawn[1::2].bitwise_right_shift_(6)
        self._fresh.copy_(high.bitwise_left_shift_(26).bitwise_or_(low))
        self._fresh.mul_(2.0**-53).mul_(0.1).sub_(0.05)
        torch.where(self._begins, self._fresh, self._poles, out=self._poles)
        self._advance(DRAWS, self._begins)
        for tensor in (self._length, self._last_action, self._over):
            tensor.masked_fill_(self._begins, 0)

    def _choose(self, actions):
        """Write the force on each cart to _force (N,), from its action, or from the last action if it is sticky."""
        if self.sticky > 0.0:
            self._uniform.copy_(torch.bitwise_right_shift(self._drawn[0], 8, out=self._spare[0])).mul_(2.0**-24)
            torch.lt(self._uniform, np.float32(self.sticky).item(), out=self._flag)
            torch.where(self._flag, self._last_action, actions, out=self._action)
            self._last_action.copy_(self._action)
            self._advance(1, torch.logical_not(self._begins, out=self._other))
            actions = self._action
        torch.where(torch.eq(actions, 1, out=self._flag), self._right, self._left, out=self._force)

    def _move(self):
        """Euler's step from _poles to _moved, (4, N)."""
        theta, theta_dot = self._poles[2:]
        sine, cosine, push, part, (acceleration, turn) = self._sine, self._cosine, self._push, self._part, self._rates
        torch.mul(theta, theta, out=self._square)
        series(self._square, SINE, sine).mul_(theta)
        series(self._square, COSINE, cosine)
        torch.mul(theta_dot, theta_dot, out=push).mul_(0.05).mul_(sine).add_(self._force).div_(self._total_mass)
        torch.mul(cosine, cosine, out=part).mul_(0.1).div_(self._total_mass)
        torch.sub(self._four_thirds, part, out=part).mul_(0.5)
        torch.mul(cosine, push, out=acceleration)
        torch.mul(sine, 9.8, out=turn).sub_(acceleration).div_(part)
        torch.mul(turn, 0.05, out=acceleration).mul_(cosine).div_(self._total_mass)
        torch.sub(push, acceleration, out=acceleration)
        torch.mul(self._poles[1::2], 0.02, out=self._moved[0::2])
        torch.mul(self._rates, 0.02, out=self._moved[1::2])
        self._moved.add_(self._poles)

    def _flags(self, terminated, truncated):
        """Write terminated, truncated and _over. New episodes have length 0 and an upright pole: they have no flag."""
        torch.abs(self._poles[0], out=self._part)
        torch.gt(self._part, 2.4, out=self._flag)
        torch.abs(self._poles[2], out=self._part)
        self._flag.logical_or_(torch.gt(self._part, 12 * 2 * math.pi / 360, out=self._other))
        terminated.copy_(self._flag)
        if self.time_limit:
            torch.ge(self._length, self.time_limit, out=self._other)
        else:
            self._other.zero_()
        truncated.copy_(self._other)
        self._over.copy_(self._flag.logical_or_(self._other))

    def _account(self):
        """Record the episodes ended by this step."""
        self.ended.copy_(self._over)
        torch.where(self._flag, self._length, self.ended_length, out=self.ended_length)
        self.ended_return.copy_(self.ended_length)
        one, steps, row = self._spare[0], self._spare[1], self._spare[2:3]
        torch.remainder(self._totals[:1], RECENT, out=row)
        torch.gather(self._recent, 0, row, out=self._newest)
        torch.where(self._flag, self._length, self._newest, out=self._newest)
        self._recent.scatter_(0, row, self._newest)
        one.copy_(self._over)
        steps.copy_(self._length)
        self._totals[0].add_(one)
        self._totals[1].add_(steps.mul_(one))


def series(b: torch.Tensor, coefficients: tuple[float, ...], out: torch.Tensor) -> torch.Tensor:
    """Write a polynomial in b to `out` by Horner's rule; coefficients have the highest power first."""
    torch.mul(b, coefficients[0], out=out).add_(coefficients[1])
    for coefficient in coefficients[2:]:
        out.mul_(b).add_(coefficient)
    return out


def jumps(count: int) -> tuple[list[int], list[int]]:
    """Return the factors of state and stream for k = 0 .. count-1 steps of the generator at once, as int64.

    k steps of s -> M s + c give M^k s + (1 + M + ... + M^(k-1)) c (F. Brown, "Random Number Generation with Arbitrary Strides",
    1994).
    """
    power, sums = [1], [0]
    for _ in range(count - 1):
        power.append(power[-1] * MULTIPLIER)
        sums.append(sums[-1] * MULTIPLIER + 1)
    return tuple([((value + (1 << 63)) % (1 << 64)) - (1 << 63) for value in values] for values in (power, sums))
