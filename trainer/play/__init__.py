"""Playing with a trained policy: evaluation, films, a window, the terminal."""
