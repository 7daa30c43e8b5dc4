"""Proximal policy optimization: learning from rollouts.

    gradients.py     the gradients of a policy; on a GPU in memory that never moves
    losses.py        the loss of a minibatch
    learner.py       epochs of minibatches: advantages, gradients, steps of the optimizers
    optimizers.py    Adam and Muon, and the schedules of the learning rate and the entropy's weight
"""
