"""The log of a run: its metrics on disk, in trackers, on the terminal and in pictures.

    run_log.py      `RunLog` writes the log of one session; the training loop calls it after each iteration
    progress.py     speed, stage shares and score history of the running session
    dashboard.py    the live dashboard, and the plain line without a terminal
    ticker.py       the progress of an evaluation
    trackers.py     `TRACKERS`: Weights & Biases, Trackio, and trackers by import path
    tensorboard.py  the tracker for TensorBoard
    numbers.py      number formats
    text.py         tables as text
    curves.py       pictures: curves.png of a run, and several runs in one picture

Importing run_log, numbers or text loads neither torch nor matplotlib.
"""
