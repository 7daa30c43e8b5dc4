"""Runs on disk: folders, checkpoints, metrics, and finding them again."""
