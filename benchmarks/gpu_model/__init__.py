"""A model of a training's time on a GPU: `python -m benchmarks.gpu_model --device h100`."""
