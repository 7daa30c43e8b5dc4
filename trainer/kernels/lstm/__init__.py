"""An LSTM: in single steps, and over whole sequences with its gradient."""

from envs_c import isa

__path__[:] = isa.search(__path__)
