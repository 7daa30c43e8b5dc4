"""Policies: an encoder, a memory, and heads for actions and the value."""
