"""Our game and its cartridge side by side: both get the same actions, frame by frame."""

from benchmarks.cartridges.twins import TWINS

EXACT = ("breakout", "pong", "freeway", "asterix", "asteroids")  # equal to the cartridge in every frame from the start
SETTINGS = {"pong": {"random_serve": 0}, "freeway": {"scatter": 0}, "asterix": {"scatter": 0},
            "asteroids": {"scatter": 0}}  # the cartridge's own start
REST = {"space_invaders": 128}  # frames of ours before the cartridge's first frame


def twin_of(game: str):
    """Our game at the start that the cartridge has."""
    if game == "breakout":
        return next(twin for twin in (TWINS[game](seed) for seed in range(100)) if twin.turn & 3 == 0)
    twin = TWINS[game](0, **SETTINGS.get(game, {}))
    for _ in range(REST.get(game, 0)):
        twin.step(0)
    return twin
