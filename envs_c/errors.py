"""What goes wrong in `envs_c`, by kind. Each message names the thing, the value it had and what it may be."""


class EnvsError(Exception):
    """Any error that this package raises on purpose."""


class UnknownGame(EnvsError, ValueError):
    """There is no game of that name."""


class InvalidArgument(EnvsError, ValueError):
    """A setting, an action or a buffer is not of the kind, the shape or the range that it must be."""


class InvalidState(EnvsError, ValueError):
    """Bytes that `set_state` cannot take: damaged, or of another game, version or options."""


class NotReset(EnvsError, RuntimeError):
    """`step` came before `reset`, or after an episode's end where autoreset is disabled."""


class Closed(EnvsError, RuntimeError):
    """The environments were closed."""


class CompileFailed(EnvsError, RuntimeError):
    """A game from outside does not compile; the message has the compiler's words."""


class ContractError(EnvsError, TypeError):
    """A game's description breaks the contract in game.pxd."""
