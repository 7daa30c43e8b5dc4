"""Enduro.

    enduro.pyx         the rules in prose; the observation, the picture and its tables, and `GAME`
    state.pxd          the state and its constants
    rules.pxd          how a frame changes the state
    road.pxd           the road on the screen: bends, edges, where the cars are
    contact.pxd        whether the own car touches a car or an edge
    picture.pxd        how road, cars and panel are painted
    tables.pxd         colours and shapes of the cartridge, and the tables computed from them
    valid.pxd          the check of a restored state
"""

from envs_c.games.enduro.enduro import GAME

__all__ = ["GAME"]
