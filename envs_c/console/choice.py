"""An option of a cartridge that is one of some numbers, such as its mode."""

from envs_c.engine import checks
from envs_c.errors import InvalidArgument
from envs_c.game import Option


class Choice(Option):
    """An option that must be one of `numbers`, a sorted list."""

    @property
    def span(self):
        """The numbers in words; three neighbours or more are a range: "0 to 31 or 128"."""
        first = [number for number in self.numbers if number - 1 not in self.numbers]
        last = [number for number in self.numbers if number + 1 not in self.numbers]
        return " or ".join(str(low) if low == high else f"{low} {'or' if high == low + 1 else 'to'} {high}"
                           for low, high in zip(first, last, strict=True))

    def check(self, game, name, value):
        try:
            number = super().check(game, name, value)
        except InvalidArgument:
            number = None
        if number not in self.numbers:
            raise InvalidArgument(f"option {name!r} of {game} must be {self.span} ({self.help}), not {checks.shown(value)}")
        return number


def choice(numbers: list[int], meaning: str) -> Choice:
    """The option that is one of these numbers; its default is the smallest."""
    option = Choice(min(numbers), min(numbers), max(numbers), meaning)
    option.numbers = sorted(set(numbers))
    return option
