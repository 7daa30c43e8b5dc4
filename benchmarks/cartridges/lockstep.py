"""Our game and its cartridge side by side: both get the same actions, frame by frame."""

import envs_c
from benchmarks.cartridges import open_state
from benchmarks.cartridges.twins import TWINS
from envs_c.console.cartridges import PREFIX

# equal to the cartridge in every frame from the start
EXACT = ("breakout", "pong", "freeway", "asterix", "seaquest", "asteroids", "space_invaders",
         "enduro")
SETTINGS = {"pong": {"random_serve": 0}, "freeway": {"scatter": 0}, "asterix": {"scatter": 0}, "seaquest": {"scatter": 0},
            "asteroids": {"scatter": 0}, "asteroids_ufos": {"scatter": 0, "ufos": 1}, "enduro": {"scatter": 0},
            "space_invaders": {"scatter": 0, "flicker": 1}}  # the cartridge's own start
# of the struct at that start, if no setting gives them; the cartridge of space_invaders starts after its first rest
FIELDS = {"breakout": {"turn": 0}, "space_invaders": {"clock": 1, "seed": 213}}


VARIANTS = {"asteroids_ufos": "asteroids"}  # names of games under other options, which SETTINGS has, and of their cartridges


def class_of(game: str) -> type[open_state.Machine]:
    """The class in TWINS of a game or a variant of one."""
    return TWINS[VARIANTS.get(game, game)]


def twin_of(game: str, **settings):
    """Our game at the start that the cartridge has. settings: more of them, for `envs_c.make`."""
    twin = class_of(game)(0, **SETTINGS.get(game, {}), **settings)
    twin.change(**FIELDS.get(game, {}))
    return twin


def twins_of(game: str, count: int, **settings):
    """So many of our games at the start that the cartridge has. Later episodes start as our game does."""
    if game.startswith(PREFIX):
        env = envs_c.make(game, count, **settings)
        env.reset()
        return env
    twin = class_of(game)
    env, layout = envs_c.make(twin.GAME, count, **SETTINGS.get(game, {}), **settings), twin.STATE
    env.reset()
    states = open_state.read(env.core, layout)
    for name, value in FIELDS.get(game, {}).items():
        states[name] = value
    open_state.write(env.core, states)
    return env
