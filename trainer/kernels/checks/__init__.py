"""Compares the kernels on this machine's GPU with plain torch.

    cases.py        each kernel on small inputs
    inputs.py       the inputs and outputs
    rollout_cases.py  those of a step of a rollout; minibatch_cases.py: those of loss/cuda.cu
    sources.py      the sources of all CUDA kernels
    first_start.py  the check at a trainer's first start on a GPU, and its memory
"""
