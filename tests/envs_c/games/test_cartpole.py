"""CartPole compared with Gymnasium's CartPole-v1, from the same states."""

import gymnasium
import numpy as np
from support import restart

import envs_c

N = 8
STEPS = 100_000


def poles(env) -> np.ndarray:
    """The float64 states in a snapshot of `env`, (N, 4).

    They are found as the only four successive numbers that are the observation when rounded to float32.
    """
    state = env.core.get_state()
    raw = state[12 + int.from_bytes(state[8:12], "little") :]
    numbers = np.frombuffer(raw, np.float64).reshape(env.num_envs, -1)
    seen = env.set_state(env.get_state())
    with np.errstate(all="ignore"):  # the other bytes are not floats
        found = [k for k in range(numbers.shape[1] - 3) if np.array_equal(np.float32(numbers[:, k : k + 4]), seen)]
    assert len(found) == 1
    return numbers[:, found[0] : found[0] + 4]


def oracles(count):
    made = [gymnasium.make("CartPole-v1", disable_env_checker=True) for _ in range(count)]
    for oracle in made:
        oracle.reset(seed=0)
    return made


def begin(oracle, state):
    """Start an episode of Gymnasium's CartPole from `state`."""
    oracle.reset()
    oracle.unwrapped.state = state.copy()


def test_rewards_ends_and_observations_equal_gymnasiums_over_100_000_random_steps():
    env = envs_c.make("cartpole", N, seed=1, autoreset="disabled")
    theirs = oracles(N)
    env.reset()
    for oracle, state in zip(theirs, poles(env), strict=True):
        begin(oracle, state)
    ends = 0
    for actions in np.random.default_rng(0).integers(0, 2, (STEPS // N, N)):
        seen, rewards, terminated, truncated, _ = env.step(actions)
        expected = [oracle.step(action) for oracle, action in zip(theirs, actions, strict=True)]
        assert np.array_equal(rewards, [one[1] for one in expected])
        assert np.array_equal(terminated, [one[2] for one in expected])
        assert np.array_equal(truncated, [one[3] for one in expected])
        np.testing.assert_allclose(seen, [one[0] for one in expected], rtol=1e-6, atol=1e-7)
        over = terminated | truncated
        if over.any():
            ends += over.sum()
            env.reset(options={"reset_mask": over})
            states = poles(env)
            for i in np.flatnonzero(over):
                begin(theirs[i], states[i])
    assert ends > STEPS / 30


def test_a_balanced_pole_is_truncated_after_500_steps_as_gymnasiums():
    """Gymnasium takes over our state before each step.

    The system is unstable and doubles a rounding error every few steps, so after 500 steps two correct programs differ.
    """
    env = envs_c.make("cartpole", 1, seed=3, autoreset="disabled")
    (oracle,) = oracles(1)
    seen, _ = env.reset()
    begin(oracle, poles(env)[0])
    for step in range(1, 501):
        oracle.unwrapped.state = poles(env)[0].copy()
        x, x_dot, theta, theta_dot = seen[0]
        action = int(theta + 0.5 * theta_dot + 0.02 * x + 0.05 * x_dot > 0)
        seen, rewards, terminated, truncated, infos = env.step(np.array([action]))
        expected = oracle.step(action)
        assert (rewards[0], terminated[0], truncated[0]) == expected[1:4]
        np.testing.assert_allclose(seen[0], expected[0], rtol=1e-6, atol=1e-7)
        assert truncated[0] == (step == 500) and not terminated[0]
    assert infos["episode_stats"]["r"][0] == infos["episode_stats"]["l"][0] == 500


def test_a_step_moves_the_state_as_gymnasiums_to_float64_rounding():
    env = envs_c.make("cartpole", 50, seed=2, autoreset="disabled")
    (oracle,) = oracles(1)
    env.reset()
    for actions in np.random.default_rng(1).integers(0, 2, (60, 50)):
        before = poles(env)
        _, _, terminated, truncated, _ = env.step(actions)
        for state, action, after in zip(before, actions, poles(env), strict=True):
            begin(oracle, state)
            oracle.step(action)
            np.testing.assert_allclose(after, oracle.unwrapped.state, rtol=1e-14, atol=1e-15)
        restart(env, terminated | truncated)


def test_spaces_are_gymnasiums():
    env, (oracle,) = envs_c.make("cartpole"), oracles(1)
    assert env.single_action_space == oracle.action_space
    assert env.single_observation_space == oracle.observation_space


def test_episodes_begin_evenly_between_minus_and_plus_0_05():
    seen, _ = envs_c.make("cartpole", 20_000, seed=1).reset()
    assert np.abs(seen).max() <= 0.05
    shares = [np.histogram(column, bins=10, range=(-0.05, 0.05))[0] / len(seen) for column in seen.T]
    assert np.abs(np.array(shares) - 0.1).max() < 0.01
    assert np.abs(np.corrcoef(seen.T) - np.eye(4)).max() < 0.04
