"""The kernels on a GPU.

    rows.py       launches the kernels of rows.cu: sampling, losses, advantages and the LSTM's steps
    fused.cu      several operations of a rollout or an update in one kernel; ../fused.py launches them
    sequence.cu   the recurrence of an LSTM over whole sequences in bfloat16; ../sequence.py launches it
    threads.h     the work of a thread, shared by rows.cu and fused.cu
"""
