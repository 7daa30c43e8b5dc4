"""Policies: an encoder, a memory, and heads for actions and the value.

    policy.py         the base class: the interface of a memory, heads, casting and stacking of observations
    lstm.py, mingru.py, feed_forward.py   one memory each
    encoders/         one encoder each
    heads.py          the last layer: linear, or a module of the user's own
    trial.py          the trial of modules and functions of the user's own
    make.py           make a policy from its settings; the registry of memories
    load.py           load the policy of a checkpoint
    normalize.py      running statistics of observations and returns
    precision.py      float32 or bfloat16 for the matrix products
"""
