"""Self-play: past policies as opponents, and their ratings."""
