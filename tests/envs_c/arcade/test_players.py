"""The promises of the page's keys, agents, clock and best scores, by the checks in players.mjs: without a browser."""

import json
import re
from itertools import combinations

import pytest
from arcade_support import SCRIPTS, needs_browser_tools, node

import envs_c
from envs_c import built_in
from envs_c.play import keyboard

pytestmark = needs_browser_tools
CHECKS = re.findall(r"^  async (\w+)\(\)", (SCRIPTS / "players.mjs").read_text(encoding="utf-8"), re.MULTILINE)
KEYS = ["up", "down", "left", "right", "space"]


@pytest.mark.parametrize("check", CHECKS)
def test_people_and_agents_on_the_page_play_as_promised(check):
    node("players.mjs", check)


def test_all_keys_held_together_mean_the_same_on_the_page_as_in_a_window():
    games = {name: envs_c.game(name).actions for name in built_in() if name != "go"}  # which has a cursor
    games["atari_pong"] = games["pong"]
    held = [keys for count in range(len(KEYS) + 1) for keys in combinations(KEYS, count)]
    there = [["fire" if key == "space" else key for key in keys] for keys in held]
    found = json.loads(node("players.mjs", "choices", given=json.dumps([[*game, there] for game in games.items()]).encode()))
    for (name, actions), chosen in zip(games.items(), found, strict=True):
        assert chosen == [keyboard.for_actions(actions, name).choose(keys, []) for keys in held], name
