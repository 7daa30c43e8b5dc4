"""The built-in games: a file each, or a folder with NAME.pyx, rules.pxd and more."""

from envs_c import isa

__path__[:] = isa.search(__path__)
