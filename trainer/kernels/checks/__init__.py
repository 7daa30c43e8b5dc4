"""Compares the kernels on this machine's GPU with plain torch.

    cases.py        each kernel on small inputs
    first_start.py  the check at a trainer's first start on a GPU, and its memory
"""
