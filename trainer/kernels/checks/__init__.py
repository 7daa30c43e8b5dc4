"""Compares the kernels on this machine's GPU with plain torch.

    cases.py        each kernel on small inputs
    inputs.py       the inputs and outputs
    fused_cases.py  those of fused.cu; minibatch_cases.py: those of loss/cuda.cu
    first_start.py  the check at a trainer's first start on a GPU, and its memory
"""
