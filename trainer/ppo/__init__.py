"""Proximal policy optimization: learning from rollouts."""
