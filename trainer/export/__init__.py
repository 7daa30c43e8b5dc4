"""Export of a trained policy to ONNX and safetensors.

export.py writes the files. graph.py is one step as a graph, for ONNX; weights.py is the safetensors file; check.py compares
both with the policy.
"""
