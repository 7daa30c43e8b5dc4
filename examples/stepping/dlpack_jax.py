"""JAX sees the games' observations in their own memory: no copy, one array for all steps.

    pip install jax
    python -m examples.stepping.dlpack_jax

With copy=False every step writes to the same array, which jnp.from_dlpack shares. JAX takes arrays to be constant and computes
in the background: finish with a result before the next step, as `np.asarray` does here; `jnp.array` copies an observation.
"""

import sys

import jax
import jax.numpy as jnp
import numpy as np

import envs_c


def best(weight: jax.Array, observations: jax.Array) -> jax.Array:
    return jnp.argmax(observations @ weight, 1)


policy = jax.jit(best)


def main(steps: int = 1000) -> float:
    """Step 64 games with a random linear policy. Returns the sum of the rewards."""
    env = envs_c.make("cartpole", 64, seed=1, copy=False)
    observations, _ = env.reset()
    shared = jnp.from_dlpack(observations, copy=False)  # (64, 4) float32; an error if it had to be copied
    weight, total = jax.random.normal(jax.random.key(1), (4, 2)), 0.0
    for _ in range(steps):
        actions = np.asarray(policy(weight, shared))  # waits for the result
        _, rewards, _, _, _ = env.step(actions)  # overwrites the observations
        total += float(rewards.sum())
    print(f"{steps * 64:,} steps, sum of the rewards {total:.0f}")
    env.close()
    return total


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
