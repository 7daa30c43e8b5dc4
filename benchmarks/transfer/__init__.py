"""Scores of trained policies on the cartridges: `python -m benchmarks.transfer`.

    play.py     whole episodes on a cartridge, and the same in our game
    replay.py   a cartridge's episodes once more in our game, with the same action in each frame
    table.py    the table, its options, and the file of episodes; examples/play_the_cartridge.py is a short program on it
"""
