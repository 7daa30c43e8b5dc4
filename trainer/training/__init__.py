"""The training of a policy: its parts, its loop, and the Python API (`from trainer import train, Session`)."""
