"""Our game and its cartridge side by side: both get the same actions, frame by frame."""

from benchmarks.cartridges.twins import TWINS

# equal to the cartridge in every frame from the start
EXACT = ("breakout", "pong", "freeway", "asterix", "seaquest", "asteroids", "space_invaders",
         "enduro")
SETTINGS = {"pong": {"random_serve": 0}, "freeway": {"scatter": 0}, "asterix": {"scatter": 0}, "seaquest": {"scatter": 0},
            "asteroids": {"scatter": 0}, "enduro": {"scatter": 0},
            "space_invaders": {"scatter": 0, "flicker": 1}}  # the cartridge's own start
FIELDS = {"breakout": {"turn": 0}}  # of the struct at that start, if no setting gives them
REST = {"space_invaders": 128}  # frames of ours before the cartridge's first frame


def twin_of(game: str):
    """Our game at the start that the cartridge has."""
    twin = TWINS[game](0, **SETTINGS.get(game, {}))
    twin.change(**FIELDS.get(game, {}))
    for _ in range(REST.get(game, 0)):
        twin.step(0)
    return twin
