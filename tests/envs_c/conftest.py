"""Fixtures for tests with a compiler."""

import pytest


@pytest.fixture(scope="module")
def fast_compiler(tmp_path_factory):
    """A cache of the module's own, which it returns, and no optimization: these tests compile more than they play."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("cache")
        patch.setenv("ENVS_C_CACHE", str(folder))
        patch.setenv("ENVS_C_FLAGS", "-O0")
        yield folder
