"""How like its cartridge each game is: `python -m benchmarks.likeness`.

    games.py     what is compared in each game, and where the starts come from
    compare.py   both play on from a start with the same actions; differences of objects and pictures
    random.py    scores of random play on both sides
    pictures.py  pictures side by side, with the difference below
"""
