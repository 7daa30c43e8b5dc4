"""The kernels on the CPU, shared among as many OpenMP threads as torch has.

    rows.pyx       sampling, losses, advantages and the LSTM; with lstm.h (whole sequences), products.h and units.h
    gaussian.pyx   continuous actions
    mingru.pyx     minimal gated recurrent units, with mingru.h
"""
