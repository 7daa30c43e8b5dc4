"""Searching settings with Optuna."""
