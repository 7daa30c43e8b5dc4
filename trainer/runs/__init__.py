"""Runs on disk: their folders and checkpoints, how to find and resume them, and whose code they may run.

Importing find, evaluation, summary or trust loads no torch.
"""
