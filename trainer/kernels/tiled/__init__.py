"""The kernels for CPUs that multiply bfloat16, on tiles of 16 rows: by Intel's AMX or by vectors of AVX512-BF16.

    vectors.h      functions of vectors
    products.h     products of tiles, by both units
    shared.pxi     what the modules have in common: the unit that multiplies, addresses in tensors
    tiles.pyx      an LSTM's sequences and steps, and the last layer of a policy; with lstm.h, lstm_back.h, pack.h
                   and heads.h
    dense.pyx      a layer with ReLU, with dense.h
    pictures.pyx   convolutions over pictures of bytes, with pictures.h and pictures_back.h
"""
