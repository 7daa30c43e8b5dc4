"""An option of a cartridge that is one of some numbers, such as its mode."""

from envs_c.engine import checks
from envs_c.errors import InvalidArgument
from envs_c.game import Option


class Choice(Option):
    """An option that must be one of `numbers`, a sorted list."""

    def check(self, game, name, value):
        super().check(game, name, value)
        if value not in self.numbers:
            raise InvalidArgument(f"option {name!r} of {game} must be {' or '.join(map(str, self.numbers))} ({self.help}), "
                                  f"not {checks.shown(value)}")
        return float(value)


def choice(numbers: list[int], meaning: str) -> Choice:
    """The option that is one of these numbers; its default is the smallest."""
    option = Choice(min(numbers), min(numbers), max(numbers), meaning)
    option.numbers = sorted(set(numbers))
    return option
