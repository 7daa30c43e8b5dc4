"""The Atari 2600: a console that plays the user's own cartridges as ale-py plays them."""

from envs_c import isa

__path__[:] = isa.search(__path__)
