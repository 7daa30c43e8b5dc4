"""Benchmarks. Each module is a command, `python -m benchmarks.NAME`, and prints a table with the machine it ran on.

    envs.py         steps per second of the games
    bridge.py       cost of the bridge on the CPU
    train.py        steps per second of training
    learning.py     score against minutes, for several seeds
    gallery.py      trains every game with its preset and records a film
    endurance.py    memory over a long training
    compile.py      torch.compile
    foreign.py      environments of Gymnasium with our preset and with stable-baselines3's PPO
    sb3.py          stable-baselines3 with its own environments and with these
    peers/          other packages on the same work: random play, the same training, time to a score
    busy.py         several processes at once on the same cores, alone and beside torch
    busy_player.py  one of these processes
    scaling.py      runtime of a step against the number of environments
    simulations.py  the simulations that scaling.py compares
    gnu_go.py       policies of Go against GNU Go
    seeds.py        the page of a bench: ten seeds of each game
    gpu.py          everything that needs a GPU
    gpu_model/      a model of a training's time on a GPU
    revisions.py    two revisions, built in worktrees and measured alternately
    likeness/       games beside their cartridges, frame by frame
    modified.py     trained policies on games with one rule changed
    cartridges/     the cartridges under ale-py, their RAM in our games' terms
    common.py       shared by all: timing, heads of pages, output
"""

from trainer.waiting import share_cores

share_cores()
