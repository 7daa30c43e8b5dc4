"""The games on other compilers, instruction sets, processors and Pythons: `make isa`, or `python -m tools.isa [ROW ...]`.

    __main__.py   the rows, and what a run prints
    compile.py    compiles the games' modules with any C compiler, and plays with them
    bare.py       compiles the games without Python (envs_c/bare) and plays with them
    debian.py     fetches Pythons of other Debian suites and processors
    golden.py     compares a Python's games with the golden checksums
"""
