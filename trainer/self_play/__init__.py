"""Self-play: training against past policies in games for two players, and their ratings."""
