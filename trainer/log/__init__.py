"""The log of a run: its metrics on disk, in trackers, on the terminal and in pictures.

Importing run_log, numbers or text loads neither torch nor matplotlib.
"""
