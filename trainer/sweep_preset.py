"""Settings as a preset's TOML text, which `--preset FILE` reads."""

import json
from typing import Any

from trainer.config import Config

# Where a run is played and written, and what it shows: of a trial's own preset, not of one that is handed on.
_HERE = {"env": {"num_threads", "num_batches"}}
_NEVER = {"run_dir", "resume", "stop_at"}


def preset_text(config: Config, comment: str, *, own: bool = False) -> str:
    """The settings that differ from the defaults; a preset's file says no more.

    own: those of the run as well (seed, device, evaluation), and of this machine, such as num_threads.
    """
    default, lines = Config(config.game).to_dict(), [f"# {line}" for line in comment.splitlines()]
    for section, settings in config.to_dict().items():
        if section == "game" or (section == "run" and not own):
            continue
        left_out = _NEVER if own else _HERE.get(section, set())
        changed = {name: value for name, value in settings.items()
                   if value != default[section][name] and name not in left_out}
        if changed:
            lines += ["", f"[{section}]", *(f"{name} = {_toml(value)}" for name, value in changed.items())]
    return "\n".join(lines) + "\n"


def _toml(value: Any) -> str:
    """A value as TOML writes it: a text, a boolean, a number, or a table of numbers in a line."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(key)} = {_toml(one)}" for key, one in value.items()) + " }"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str | bool) else repr(value)
