"""A minibatch of PPO: its sequences, its loss with the gradient, and its end.

`minibatch` has the functions and chooses their versions. `reference` is the loss to read, in plain torch.
"""

from envs_c import isa

__path__[:] = isa.search(__path__)
