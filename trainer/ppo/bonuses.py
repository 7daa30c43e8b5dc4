"""Bonuses that presets add to the rewards for learning (the setting reward_transform); scores stay raw."""

import torch
from torch import Tensor

import envs_c
from trainer.ppo.own_code import Rollout

# Seaquest
LOW = 24          # units of oxygen
AIR = 0.5         # for a unit of oxygen
TANK = 64

# Space Invaders
INVADERS = 6      # in a row, and in a column
APART = 18        # rows, in pixels
TOP = 31          # y of the first row as the first wave begins
LAST = 161        # y of the lowest row as the fifth wave begins; it lands at the next turn
HALF = 20         # pixels above LAST, where an invader is half the danger
DANGER = 100.0    # points for the danger of one invader at LAST


def seaquest(rollout: Rollout) -> Tensor:
    """Rewards (T, N) for Seaquest's features: 1 for a diver taken in, -1 for one who goes ashore, 0.5 for a unit of oxygen.

    Units count that are filled in at the surface while the tank holds less than 24 of 64. Without them a policy learns
    to stay below until the tank is empty, since coming up without a diver costs a life, too. Six divers who are brought home
    together are a rescue, with points of its own.

    Raises ValueError for other observations than the game's features as they are.
    """
    seen, places = _features(rollout, "seaquest", "docked")
    docked = seen[..., places["docked"]]
    divers = (seen[..., places["divers"]] * 3).round()
    oxygen = TANK - seen[..., places["oxygen used"]] * TANK / 2
    fills = (docked[:-1] == 1) & (seen[1:, :, places["waiting"]] == 0)
    come, filled = divers.diff(dim=0), oxygen.diff(dim=0).clamp(min=0)
    bonus = come.clamp(0, 1) - (fills & (come == -1)).float() + AIR * filled * (fills & (oxygen[:-1] < LOW))
    return rollout.reward + rollout.valid * bonus


def space_invaders(rollout: Rollout) -> Tensor:
    """Rewards (T, N) for Space Invaders' features: 100 points for each fall of the danger by 1, -100 for each rise.

    An invader at y is a danger of 2^((y - 161) / 20); the danger is the sum over all of them. Without it a policy learns to
    shoot column by column, and from the fifth wave on the lowest row lands first. Within a wave the differences add up to the
    same in whatever order invaders are shot, so nothing is gained by letting them come down. A new wave and a new episode count
    nothing. This is a heuristic: the shaped rewards of Ng, Harada and Russell (1999, "Policy invariance under reward
    transformations"), which leave the best policy as it is, have a discount, and a potential of 0 at the end of an episode.

    Raises ValueError for other observations than the game's features as they are.
    """
    seen, places = _features(rollout, "space_invaders", "saucer")
    first = places["invaders gone"]
    left = INVADERS - seen[..., first:first + INVADERS ** 2].unflatten(-1, (INVADERS, INVADERS)).sum(-1)  # in each row
    height = TOP + 40 * seen[..., places["formation y"], None] + APART * torch.arange(INVADERS, device=seen.device)
    danger, wave = (left * 2 ** ((height - LAST) / HALF)).sum(-1), seen[..., places["wave"]]
    return rollout.reward - rollout.valid * DANGER * danger.diff(dim=0) * (wave[1:] == wave[:-1])


def _features(rollout: Rollout, game: str, flag: str) -> tuple[Tensor, dict[str, int]]:
    """A rollout's features (T + 1, N, F) float32, and the column of each feature by its name, without those of options.

    flag: a feature that is 0 or 1. Raises ValueError if the observations are not the game's features as they are.
    """
    places, column = {}, 0
    for feature in envs_c.game(game).features:
        places[feature.name] = column
        column += feature.count
    seen = rollout.observation.float()
    flags = seen[..., places[flag]] if seen.ndim == 3 and seen.shape[-1] >= column else None
    if flags is None or not ((flags == 0) | (flags == 1)).all():
        raise ValueError(f"these are not the features of {game} as they are: use this game with view features, without "
                         "normalize_observations, or set reward_transform to none")
    return seen, places
