"""Encoders turn observations into vectors for the memory.

    make.py          the interface of an encoder, the registry, and the choice of "auto"
    mlp.py           one layer, for feature vectors
    pictures.py      convolutions, for pictures and for boards
    cells.py         one-hot inputs, for cells of few kinds
    parts.py         observations of several parts, such as a Dict
    custom.py        a torch module of the user's own
    transformed.py   an encoder behind a function of the user's own
    convolution.py   a convolution with a faster gradient in bfloat16
"""
