"""The kernels for CPUs with Intel's AMX, a unit that multiplies tiles of bfloat16.

    products.h     products of tiles, and the vector functions beside them
    tiles.pyx      an LSTM's sequences and steps, and the last layer of a policy; with lstm.h, lstm_back.h, pack.h
                   and heads.h
    dense.pyx      a layer with ReLU, with dense.h
    pictures.pyx   convolutions over pictures of bytes, with pictures.h and pictures_back.h
"""
