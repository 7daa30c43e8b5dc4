"""The games on other compilers, instruction sets, processors and Pythons: `make isa`, or `python -m tools.isa [ROW ...]`."""
