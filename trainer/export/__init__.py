"""Export of a trained policy to ONNX and safetensors, compared with the policy: `python -m trainer export RUN`."""
