"""The encoders: they turn observations into vectors for the memory."""
