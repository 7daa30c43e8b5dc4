"""Many trainings: sweeps, which search for the best settings for a game with Optuna, and benches, which train many seeds."""
