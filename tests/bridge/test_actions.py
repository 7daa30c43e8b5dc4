"""Actions: their kinds by the space of Gymnasium, and the way from the policy's numbers to the environment's."""

import numpy as np
import pytest
from gymnasium import spaces

from bridge.actions import actions_of, discrete

INF = np.inf
# Space, actions of the policy, and those of the environment.
ROWS = {
    "discrete": (spaces.Discrete(3), [0, 2], [0, 2]),
    "discrete from 5": (spaces.Discrete(3, start=5), [0, 2], [5, 7]),
    "discrete from 2 ** 40": (spaces.Discrete(3, start=1 << 40), [0, 2], [1 << 40, (1 << 40) + 2]),
    "discrete to 2 ** 31": (spaces.Discrete(3, start=(1 << 31) - 2), [0, 2], [(1 << 31) - 2, 1 << 31]),
    "several": (spaces.MultiDiscrete([3, 2]), [[2, 0], [0, 1]], [[2, 0], [0, 1]]),
    "several from 1 and -1": (spaces.MultiDiscrete([3, 2], start=[1, -1]), [[2, 0], [0, 1]], [[3, -1], [1, 0]]),
    "several in a square": (spaces.MultiDiscrete([[3, 2], [2, 2]]), [[2, 0, 1, 0]], [[[2, 0], [1, 0]]]),
    "bits": (spaces.MultiBinary(3), [[0, 1, 1]], [[0, 1, 1]]),
    "within bounds": (spaces.Box(-2, 2, (1,)), [[0.5], [-1.0]], [[1.0], [-2.0]]),
    "beyond bounds": (spaces.Box(-2, 2, (1,)), [[1.5], [-7.0]], [[2.0], [-2.0]]),
    "bounds not around 0": (spaces.Box(0, 10, (1,)), [[0.0], [-0.5]], [[5.0], [2.5]]),
    "no bounds": (spaces.Box(-INF, INF, (1,)), [[17.5]], [[17.5]]),
    "far bounds": (spaces.Box(-1e30, 1e30, (1,)), [[17.5]], [[17.5]]),
    "one bound": (spaces.Box(0, INF, (1,)), [[3.0], [-3.0]], [[3.0], [0.0]]),
    "a square": (spaces.Box(np.array([[-1, 0], [0, -3]], np.float64), np.ones((2, 2)), dtype=np.float64),
                 [[-1.0, 0.0, 1.0, 0.0]], [[[-1.0, 0.5], [1.0, -1.0]]]),
}


@pytest.mark.parametrize(("space", "rows", "wanted"), ROWS.values(), ids=ROWS)
def test_an_environment_gets_actions_of_its_space(space, rows, wanted):
    actions = actions_of(space)
    given = actions.to_environment(np.array(rows, actions.row_dtype))
    assert np.array_equal(given, wanted) and given.dtype.kind == space.dtype.kind
    assert np.array(rows).shape[1:] == actions.row
    assert all(space.contains(space.dtype.type(one) if one.ndim == 0 else one) for one in given)


@pytest.mark.parametrize(("space", "columns"), [
    (spaces.Discrete(4), 4), (spaces.MultiDiscrete([3, 2]), 5), (spaces.MultiBinary((2, 2)), 8),
    (spaces.Box(-1, 1, (2, 3)), 6)])
def test_the_policy_has_an_output_for_each_choice_or_number(space, columns):
    assert actions_of(space).columns == columns


def test_the_actions_of_a_discrete_space_are_those_of_a_game():
    assert actions_of(spaces.Discrete(4)) == discrete(4)


@pytest.mark.parametrize("space", [spaces.Text(5), spaces.Dict({"x": spaces.Discrete(2)}), spaces.Box(0, 9, (1,), np.int32)])
def test_other_spaces_are_refused_with_what_to_do(space):
    with pytest.raises(ValueError, match=r"actions must be .* or a Box of floats, not .*: wrap the environment"):
        actions_of(space)
