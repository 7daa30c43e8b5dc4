from collections.abc import Sequence
from pathlib import Path

from envs_c.game import Game

class Cartridge(Game):
    path: Path | None
    key: int
def insert(data: bytes, key: int, facts: dict) -> None: ...
def try_rom(data: bytes, facts: dict, actions: Sequence[int], *, seed: int = 0) -> bytes: ...
def game_of(name: str, title: str, key: int, facts: dict, names: tuple[str, ...], all_names: tuple[str, ...]) -> Cartridge: ...
