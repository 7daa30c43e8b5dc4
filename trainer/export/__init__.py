"""A trained policy as ONNX and safetensors."""
