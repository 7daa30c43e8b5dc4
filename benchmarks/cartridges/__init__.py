"""Our games beside their cartridges for the Atari 2600, which run under ale-py.

    console.py      a cartridge under ale-py, frame by frame
    GAME.py         a game's cartridge, with its RAM in our game's terms
    open_state.py   the struct of our game, open to read and to change
    twins.py        our games with the layouts of their structs
    features.py     a cartridge's features: our game observes what the cartridge's RAM says

ale-py is an oracle: nothing of it, nor of a cartridge, is in this package.
"""
