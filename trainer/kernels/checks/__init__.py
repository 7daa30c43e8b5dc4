"""Compares the kernels on this machine's GPU with plain torch; `first_start` does so at a trainer's first start on a GPU."""
