"""Policies: an encoder, a memory, and heads for actions and the value.

    policy.py         the base class: the interface of a memory, heads, casting and stacking of observations
    lstm.py, mingru.py, feed_forward.py   one memory each
    encoders/         one encoder each
    make.py           make a policy from its settings; the registry of memories
    load.py           load the policy of a checkpoint
    normalize.py      running statistics of observations and returns
    precision.py      float32 or bfloat16 for the matrix products
"""
