"""The page in headless Chromium with an agent of the user's own in place of the package's."""

import json

import numpy as np
import pytest
from arcade_support import needs_browser_tools
from browser import READY, needs_browser

import envs_c
from envs_c.arcade import agents

pytestmark = [needs_browser_tools, needs_browser, pytest.mark.slow]
UNITS, PIXELS = 4, 84 * 84


def of_pictures() -> bytes:
    """An agent for cartpole that sees the picture of 84 x 84: zeros, so it takes each action as often."""
    safetensors = pytest.importorskip("safetensors.numpy")
    own = agents.described((agents.FOLDER / "cartpole.safetensors").read_bytes())
    about = {**own, "env": {**own["env"], "view": "pixels"}, "observation_shape": [84, 84], "scale": 1 / 255, "memory": "none",
             "states": {}, "encoder": "mlp", "encoder_size": UNITS, "core_size": UNITS}
    shapes = {"encoder": (UNITS, PIXELS), "layer": (UNITS, UNITS), "heads": (own["num_actions"] + 1, UNITS)}
    weights = {f"{name}.weight": np.zeros(shape, np.float32) for name, shape in shapes.items()}
    biases = {f"{name}.bias": np.zeros(rows, np.float32) for name, (rows, _) in shapes.items()}
    return safetensors.save({**weights, **biases}, {"policy": json.dumps(about)})


def test_look_inside_counts_the_features_also_beside_an_agent_of_pictures(chromium, address):
    page = chromium.new_page()
    page.route("**/agents/cartpole.safetensors", lambda route: route.fulfill(body=of_pictures()))
    page.goto(f"{address}/#inspect/cartpole")
    page.wait_for_selector(".features .row", timeout=READY)
    (count,) = envs_c.game("cartpole").feature_shape
    assert page.locator(".features .row").count() == count
    assert page.locator("h2").all_inner_texts() == ["What the agent thinks", f"{count} features", "The state"]
    page.get_by_role("button", name="Step", exact=True).click()
    assert page.locator(".bars .value").all_inner_texts()[:2] == ["50%", "50%"]
    page.close()
