"""The game in a run's config.json, against that in its checkpoint: a file of another run may have been copied there."""

from pathlib import Path

from trainer.config.games import GameName, place_of
from trainer.files import read_json
from trainer.runs.folder import CONFIG


def other_game(checkpoint: Path, game: str) -> str | None:
    """A sentence if the config.json beside a checkpoint names another game; None also if there is none, or it is damaged.

    game: that of the checkpoint, which counts.
    """
    path = checkpoint.parent / CONFIG
    try:
        named = read_json(path)["config"]["game"]
    except (OSError, ValueError, TypeError, LookupError):
        return None
    if not isinstance(named, str) or game in (named, place_of(GameName(named))):
        return None
    return (f"{path} says that the game is {named}, but {checkpoint.name} is of {game}, which counts here; `list`, `report` "
            "and `compare` read the former: put the run's own file back")
