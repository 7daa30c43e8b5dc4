"""Bonuses that presets add to the rewards for learning (the setting reward_transform); scores stay raw."""

from torch import Tensor

import envs_c
from trainer.ppo.own_code import Rollout

LOW = 24          # units of oxygen
AIR = 0.5         # for a unit of oxygen
TANK = 64


def seaquest(rollout: Rollout) -> Tensor:
    """Rewards (T, N) for Seaquest's features: 1 for a diver taken in, -1 for one who goes ashore, 0.5 for a unit of oxygen.

    Units count that are filled in at the surface while the tank holds less than 24 of 64. Without them a policy learns
    to stay below until the tank is empty, since coming up without a diver costs a life, too. Six divers who are brought home
    together are a rescue, with points of its own.

    Raises ValueError for other observations than the game's features as they are.
    """
    seen, places = rollout.observation.float(), _places("seaquest")
    docked = seen[..., places["docked"]] if seen.ndim == 3 and seen.shape[-1] >= len(places) else None
    if docked is None or not ((docked == 0) | (docked == 1)).all():
        raise ValueError("these are not Seaquest's features as they are: use the game seaquest with view features, without "
                         "normalize_observations, or set reward_transform to none")
    divers = (seen[..., places["divers"]] * 3).round()
    oxygen = TANK - seen[..., places["oxygen used"]] * TANK / 2
    fills = (docked[:-1] == 1) & (seen[1:, :, places["waiting"]] == 0)
    come, filled = divers.diff(dim=0), oxygen.diff(dim=0).clamp(min=0)
    bonus = come.clamp(0, 1) - (fills & (come == -1)).float() + AIR * filled * (fills & (oxygen[:-1] < LOW))
    return rollout.reward + rollout.valid * bonus


def _places(game: str) -> dict[str, int]:
    """The column of each of a game's features by its name, without those of options."""
    places, column = {}, 0
    for feature in envs_c.game(game).features:
        places[feature.name] = column
        column += feature.count
    return places
