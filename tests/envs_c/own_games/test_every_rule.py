"""Every game keeps the rules of the contract suite."""

import pytest

from envs_c import testing

# More of what these rules say is tried for each of our games by states/test_state.py and states/test_crafted_states.py.
OF_STATES = ("is_plain_data", "accepts_its_own_states", "is_safe_in_accepted_states")


@pytest.mark.parametrize("rule", [rule for rule in testing.RULES if rule not in OF_STATES])
def test_every_game_keeps_every_rule(game, rule):
    testing.RULES[rule](game)


def test_a_rule_has_a_text_without_docstrings(monkeypatch):
    """As under `python -OO`."""
    assert testing.rule_text("is_plain_data") != "is plain data"
    monkeypatch.setattr(testing.RULES["is_plain_data"], "__doc__", None)
    assert testing.rule_text("is_plain_data") == "is plain data"


@pytest.mark.parametrize("rule", OF_STATES)
def test_a_game_from_outside_keeps_the_rules_of_states(toy, rule):
    testing.RULES[rule](toy)
