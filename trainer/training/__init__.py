"""The training loop and everything that it holds."""
