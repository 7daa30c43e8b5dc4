"""Agents for pages: a checkpoint's policy as the bytes of an exported file, with rounded weights."""

import contextlib
from pathlib import Path

from envs_c.arcade.agents import compact, described
from trainer.environments import make_source
from trainer.export.graph import StepGraph
from trainer.export.weights import describe, weights_bytes
from trainer.policy.load import load_run
from trainer.runs import checkpoint


def agent_bytes(run: str | Path, *, trust_code: bool = False) -> tuple[str, bytes]:
    """The game and the exported policy of a run's newest checkpoint, or of the given checkpoint. Raises as `load_run`."""
    path, policy, config = load_run(run, "cpu", trust_code=trust_code)
    with contextlib.closing(make_source(config.game, config.env, 1, 0)) as source:
        about = describe(policy, config, source, checkpoint.read_meta(path))
    return config.game, compact(weights_bytes(StepGraph(policy).policy, about))


def not_in_browsers(data: bytes) -> str | None:
    """Why an exported policy cannot play on the page, where policy.js computes it; None if it can."""
    about = described(data)
    parts = {name: about.get(name) for name in ("encoder", "memory", "heads", "observation_transform")}
    own = [f"{name} {value}" for name, value in parts.items() if ":" in (value or "")]
    return f"{' and '.join(own)} has no version for browsers" if own else None
