"""The trainer: PPO with recurrent policies for the games of envs_c and for Gymnasium, run as `python -m trainer GAME`.

    commands/         the verbs of the command line
    training/         the training loop and its session
    sweep/, export/   searches of settings; trained policies as ONNX and safetensors
    play/             evaluation, films, watching and playing
    self_play/        opponents, pool and ratings for games of two players
    ppo/, rollout/    learning from rollouts; playing them
    log/              metrics, trackers, dashboard and curves
    policy/           policies, encoders and normalizers
    runs/             runs on disk: folders, checkpoints, finding them
    kernels/          compiled kernels for CPU and CUDA
    environments.py   the environments of a run
    config/           the settings
    ranks.py, process.py, files.py, errors.py, tensors.py, imports.py

Imports run down this list. Importing this package loads nothing else.
"""
