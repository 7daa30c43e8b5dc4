"""The training of a policy.

    api.py       the Python API: train, load, evaluate, preset, Session
    build.py     `decide` and `build`: make a session from the settings
    session.py   `TrainingSession`: the parts and counters of a training, saved and restored
    overlap.py   the next rollout, played while the last one is learned from
    callbacks.py functions of the user's own that a training calls
    initial.py   a start with the weights of another run
    shares.py    shares of a run among ranks
    train.py     the training loop
    profile.py   a trace of a few iterations
"""
