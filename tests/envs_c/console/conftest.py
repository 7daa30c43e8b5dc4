"""Fixtures for tests with cartridges."""

import own_rom
import pytest

from envs_c.console import cartridges


@pytest.fixture(scope="session")
def own_cartridge(tmp_path_factory):
    """The `Game` of the cartridge in tests/support/own_rom.py, a file with a row in the table."""
    path = tmp_path_factory.mktemp("cartridges") / "own.bin"
    path.write_bytes(own_rom.DATA)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(cartridges.table(), "own_rom", own_rom.ROW)
        yield cartridges.game_of_file(path)
