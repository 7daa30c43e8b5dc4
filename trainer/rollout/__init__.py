"""Rollouts: playing `horizon` steps with the policy and storing them.

    storage.py    the tensors of one rollout
    actor.py      `collect`: plays a rollout into the storage
    held_noise.py exploration with random numbers that stay the same for some steps
    faults.py     the first number of a rollout that is not finite, for an error message
"""
