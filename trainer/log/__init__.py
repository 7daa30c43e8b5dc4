"""The log of a run: the dashboard, trackers, curves and tables."""
