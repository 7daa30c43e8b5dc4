"""The trainer: PPO with an LSTM over the games of envs_c, run as `python -m trainer GAME`.

Importing this package loads nothing else; torch arrives with the modules that need it.
"""
