"""How like its cartridge each game is, frame by frame: `python -m benchmarks.likeness`."""
