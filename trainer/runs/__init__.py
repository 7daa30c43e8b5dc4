"""Runs on disk.

    folder.py            a run's folder: its name, its lock, config.json and README.md
    checkpoint.py        the checkpoints in the folder
    checkpoint_file.py   the bytes of one checkpoint, and their checks
    resume.py            settings of a run that is resumed
    metrics.py           metrics.jsonl
    evaluation.py        evaluation.json, and protocols of evaluations
    machine.py           facts about machine and software, for config.json
    find.py              finds runs by name
    summary.py           `Run`: a summary of a run
    trust.py             code that a run names, and whether it may run

find.py, evaluation.py, summary.py and trust.py load no torch.
"""
