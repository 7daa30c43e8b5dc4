"""Many trainings: sweeps, which search for the best settings for a game with Optuna, and benches, which train many seeds.

    sweep.py       runs trials, prunes them, and ends with a report
    space.py       the ranges to search: reads them from a file, draws from them
    default.toml   the ranges of a sweep without --space
    study.py       the study of a sweep in its storage: opens it, joins it, repairs it
    folder.py      the folder of a sweep: it belongs to one study, and leftovers of a killed sweep are ended
    trial.py       one trial: a training in a process of its own
    report.py      the table, the pictures and best.toml of a sweep
    bench.py       runs the trainings of a bench
    tasks.py       the trainings of a bench in its storage: done, taken, waiting
    table.py       the table of a bench
"""
