"""The fuzzer: random and hostile input for every surface that a user's or a stranger's input reaches.

A surface is a module with `setup(box)`, called once in a process, and `case(rng, box)`, called for every case. A case is made
only from the run's seed, the surface's name and the case's number, so that these three repeat it.
"""

# Each surface with its share of the cases: cheap cases are many.
SURFACES = {"api": 447, "states": 240, "roms": 10, "tables": 180, "checkpoints": 80, "lines": 28, "links": 3, "pipes": 3,
            "disks": 3, "characters": 3, "damaged": 3}
