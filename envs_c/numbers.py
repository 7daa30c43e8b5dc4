"""What a number is: Python's numbers and NumPy's alike, and never a bool."""

import math
import sys

import numpy as np

LARGEST = 1e100  # of a number that is read from a file: sums, squares and differences of such numbers are numbers too

BOOLEANS = (bool, np.bool_)
INTEGERS = (int, np.integer)
NUMBERS = (int, float, np.integer, np.floating)


def is_boolean(value: object) -> bool:
    """True for True and False."""
    return isinstance(value, BOOLEANS)


def is_integer(value: object) -> bool:
    """True for an integer."""
    return isinstance(value, INTEGERS) and not isinstance(value, BOOLEANS)


def is_number(value: object) -> bool:
    """True for an integer or a float that is finite as a float: neither infinite, nor NaN, nor an integer of 400 digits."""
    if is_integer(value):
        return abs(plain(value)) <= sys.float_info.max
    return isinstance(value, NUMBERS) and not isinstance(value, BOOLEANS) and math.isfinite(value)


def is_stored(value: object) -> bool:
    """True for a number of a file, after JSON, that can be computed with."""
    return type(value) in (int, float) and abs(value) <= LARGEST  # type: ignore[operator]  # not NaN either


def plain(value: object) -> object:
    """Python's own number or bool for NumPy's; other objects as they are."""
    if isinstance(value, np.floating):
        return float(value)
    return value.item() if isinstance(value, np.generic) else value
