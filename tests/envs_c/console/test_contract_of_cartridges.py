"""The contract's tests on a cartridge of our own: the same tests as for every game, collected again."""

import importlib
import inspect

import pytest

from envs_c.testing import RULES

MODULES = ("test_contract", "states.test_state", "states.test_determinism", "stepping.test_threads", "faces.test_copies",
           "faces.test_gymnasium", "faces.test_sb3", "asynchronous.test_sequences")
FIXTURES = ("plain", "copied")  # of these modules
# Of the rules, these are for games in a module of their own, or with grey pictures that are the mean of the coloured ones.
OTHER_RULES = {"is_plain_data", "declares_every_action", "is_safe_in_accepted_states", "paints_one_picture"}
LEFT_OUT = {"test_equal_seeds_give_equal_bits_and_different_seeds_different_bits"}  # only sticky actions depend on the seed


def collected() -> dict:
    """The tests with a parameter `game` that these modules have."""
    found = {}
    for name in MODULES:
        module = importlib.import_module(f"tests.envs_c.{name}")
        found |= {name: getattr(module, name) for name in FIXTURES if hasattr(module, name)}
        found |= {name: test for name, test in inspect.getmembers(module, inspect.isfunction)
                  if name.startswith("test_") and "game" in inspect.signature(test).parameters and name not in LEFT_OUT}
    return found


globals().update(collected())


@pytest.fixture
def game(own_cartridge):
    """The game of these tests."""
    return own_cartridge


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule not in OTHER_RULES])
def test_a_cartridge_keeps_the_rules_of_games(game, rule):
    RULES[rule](game)
