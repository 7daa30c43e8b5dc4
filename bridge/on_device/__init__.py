"""Games on the device itself: no observation is copied.

    pipeline.py          OnDevicePipeline: the pipeline for these games
    cartpole.py          CartPole: the base class, and CartPoleKernel, which runs cartpole.cu
    cartpole.cu          CartPole as CUDA kernels
    cartpole_tensors.py  CartPoleTensors: CartPole as operations on torch tensors
"""
