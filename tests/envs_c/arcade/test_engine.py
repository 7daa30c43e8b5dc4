"""The promises of engine.js, by the checks in engine.mjs."""

import re

import pytest
from arcade_support import SCRIPTS, compiled, needs_browser_tools, node

CHECKS = re.findall(r"^  async (\w+)\(\)", (SCRIPTS / "engine.mjs").read_text(encoding="utf-8"), re.MULTILINE)


@needs_browser_tools
@pytest.mark.parametrize("check", CHECKS)
def test_the_engine_in_javascript_keeps_its_promises(check):
    for name in ("breakout", "cartpole", "pong", "snake"):
        folder = compiled(name)
    node("engine.mjs", folder, check)
