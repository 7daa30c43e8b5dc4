"""The networks: an encoder, a memory, and heads for actions and values."""
