"""The fuzzer: random and hostile input for every surface that a user's or a stranger's input reaches.

    __main__.py       the command line: `python -m tools.fuzz`, called by `make fuzz`
    pool.py           runs the cases in child processes, and names each case that crashes or hangs its process
    child.py          the main program of a child: runs cases one after another
    case.py           one case: its folder, the calls it makes, and the errors that it may end with
    values.py         hostile values, and damaged copies of bytes, JSON and TOML
    api.py            random calls of envs_c: VecEnv, Batch, the Gymnasium interface, games and their registry
    states.py         snapshots with changed bytes and a right checksum
    checkpoints.py    checkpoint files with changed bytes, headers and tensors
    tables.py         TOML: presets and the ranges of sweeps
    lines.py          command lines

A surface is a module with `setup(box)`, called once in a process, and `case(rng, box)`, called for every case. A case is made
only from the run's seed, the surface's name and the case's number, so that these three repeat it.
"""

# Each surface with its share of the cases, in percent: cheap cases are many.
SURFACES = {"api": 45, "states": 25, "tables": 18, "checkpoints": 8, "lines": 4}
