"""The trial of a module of the user's own compares two calls by the size of the results."""

import pytest
import torch

from trainer.errors import SettingError
from trainer.policy.trial import try_rows


def trial(size: float, difference: float):
    """Try a function with results up to `size`, which differ between calls by this share of it."""
    def call(x):
        return size * (x + difference * (len(x) - 2) / 2)
    return try_rows("encoder", "mine:Mine", call, (3,), torch.float32, (3,), "(batch, 3)")


@pytest.mark.parametrize("size", [1e-4, 1.0, 1e4])
def test_results_may_differ_by_rounding_and_by_no_more_whatever_their_size(size):
    assert trial(size, 1e-4).shape == (4, 3)
    with pytest.raises(SettingError, match="must give the same result for an input in each call"):
        trial(size, 1e-2)
