"""Enduro.

    enduro.pyx         the rules in prose; the observation, the picture and its tables, and `GAME`
    rules.pxd          the state, its constants, and how a frame changes it
    picture.pxd        how road, cars and panel are painted
    tables.pxd         colours and shapes of the cartridge, and the tables computed from them
    valid.pxd          the check of a restored state
"""

from envs_c.games.enduro.enduro import GAME

__all__ = ["GAME"]
