"""Games on the device itself: no observation is copied. CartPole is written as CUDA kernels and as operations on torch tensors;
`OnDevicePipeline` steps both."""
