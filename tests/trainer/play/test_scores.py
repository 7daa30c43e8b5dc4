"""Equal episodes are one observation: intervals, standard errors, and which episodes are equal."""

import numpy as np
import pytest

from trainer.play import scores


def test_episodes_are_equal_if_all_their_parts_are():
    fingerprints = scores.Fingerprints(4)
    running = np.ones(4, bool)
    fingerprints.add(np.array([1, 1, 2, 1], np.int32), running)
    fingerprints.add(np.array([[0.5, 1], [0.5, 1], [0.5, 1], [0.5, -1]], np.float32), running)
    first, count = scores.groups(fingerprints.numbers)
    assert (first.tolist(), count.tolist()) == ([0, 2, 3], [2, 1, 1])


@pytest.mark.parametrize(("parts", "groups"), [([[1, 1], [2, 2]], 1), ([[1, 2], [2, 1]], 2), ([[0, 1], [0, 0]], 2)])
def test_the_order_of_the_parts_matters(parts, groups):
    fingerprints = scores.Fingerprints(2)
    for part in parts:
        fingerprints.add(np.array(part, np.int32), np.ones(2, bool))
    assert len(scores.groups(fingerprints.numbers)[0]) == groups


def test_an_episode_that_has_ended_takes_no_more_parts():
    fingerprints = scores.Fingerprints(2)
    fingerprints.add(np.array([1, 1]), np.ones(2, bool))
    fingerprints.add(np.array([5, 7]), np.array([False, False]))
    assert fingerprints.numbers[0] == fingerprints.numbers[1]


def test_repeated_episodes_do_not_narrow_the_interval():
    """Four games, each played 25 times: the interval is that of four games, not of a hundred."""
    values = np.array([100.0, 200.0, 300.0, 400.0])
    assert scores.interval(values, np.full(4, 25)) == pytest.approx(scores.interval(values))
    low, high = scores.interval(np.repeat(values, 25))
    assert high - low < 0.35 * np.diff(scores.interval(values))[0]
    assert scores.error(values, np.full(4, 25)) == pytest.approx(np.std(values) / 2, rel=0.03)  # of the bootstrap: 1 / n
    assert scores.error(values, np.ones(4)) == pytest.approx(np.std(values, ddof=1) / 2)


def test_a_group_counts_as_often_as_it_was_played():
    means = scores.resampled_means(np.array([0.0, 10.0]), np.array([9, 1]))
    assert sorted(set(means.round(6))) == [0, 1, 10] and scores.error(np.array([5.0]), np.array([7])) == 0
    assert scores.interval(np.array([5.0]), np.array([7])) is None
