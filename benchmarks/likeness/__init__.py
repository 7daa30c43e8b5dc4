"""How like its cartridge each game is: `python -m benchmarks.likeness`.

    games.py     what is compared in each game, and where the starts come from
    pairs.py     both play on from a start with the same actions; differences of objects and pictures
    players.py   a scripted player for each game, which plays both sides
    scores.py    scores of random play and of the scripted players on both sides
    table.py     the table in a Markdown file
    pictures.py  pictures and films side by side, with the difference below
"""
