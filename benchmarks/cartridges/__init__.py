"""Our games beside their cartridges for the Atari 2600, which run under ale-py.

ale-py is an oracle: nothing of it, nor of a cartridge, is in this package.
"""
