"""Rollouts: playing `horizon` steps with the policy, and storing them."""
