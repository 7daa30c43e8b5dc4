"""Proximal policy optimization: learning from rollouts.

    gradients.py     the gradients of a policy; on a GPU in memory that never moves
    losses.py        the loss of a minibatch
    own_code.py      functions of the user's own: terms of the loss, and transforms of rewards
    catch_up.py      learning from a rollout that an older policy has played
    learner.py       epochs of minibatches: advantages, gradients, steps of the optimizers
    optimizers.py    Adam and Muon, and the schedules of the learning rate and the entropy's weight
"""
