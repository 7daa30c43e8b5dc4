"""Playing: the storage of a rollout and the actor that fills it."""
