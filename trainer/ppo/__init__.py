"""Learning: the losses of PPO, the learner and the optimizers."""
