"""CartPole simulated on the device: in torch tensors and in one CUDA kernel."""
