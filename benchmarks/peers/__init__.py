"""insertcoin beside its peers, on the same work in the same run.

    __main__.py       the command: processes in turn, and the tables
    child.py          one process: it measures one row when it is told to
    environments.py   Breakout, or what comes nearest to it, of each package
    trainings.py      the same PPO with an LSTM of each package
    puffer.py         an installation of PufferLib without its set-up
"""
