"""A model of a training's time on a GPU: `python -m benchmarks.gpu_model --device h100`.

    devices.py    GPUs: published figures, and assumptions
    cubin.py      a kernel's registers, shared memory and spills, from the compiled file
    record.py     the operations of an iteration, from the device without a GPU (tests/device)
    simulate.py   a simulation of these operations in time
    report.py     the tables, and the timeline for Perfetto
"""
