"""Every game keeps every rule of the contract suite."""

import pytest

from envs_c import testing


@pytest.mark.parametrize("rule", testing.RULES)
def test_every_game_keeps_every_rule(game, rule):
    testing.RULES[rule](game)
