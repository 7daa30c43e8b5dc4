"""The built-in games: a file each, or a folder with NAME.pyx, rules.pxd and more."""
