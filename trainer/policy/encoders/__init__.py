"""Encoders turn observations into vectors for the memory."""
