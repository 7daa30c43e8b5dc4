"""Fixtures that several files share: the games one by one, the views and autoreset modes, and a game from outside."""

import trainer.openmp  # noqa: F401  isort: skip  (before anything that loads OpenMP)

import importlib.util
from pathlib import Path

import pytest

import envs_c

TOY = Path(__file__).parent / "toy" / "toy.pyx"


@pytest.fixture(scope="session")
def toy(tmp_path_factory):
    """The `Game` of tests/toy, compiled in a folder of its own against nothing but envs_c's .pxd files."""
    from Cython.Build import cythonize
    from setuptools import Distribution, Extension

    folder = tmp_path_factory.mktemp("toy")
    above_package = str(Path(envs_c.__file__).parent.parent)
    extension = Extension("toy", [str(TOY)], extra_compile_args=["-O1", "-ffp-contract=off", "-w"])
    modules = cythonize([extension], include_path=[above_package], build_dir=str(folder), quiet=True,
                        compiler_directives={"language_level": 3, "cdivision": True})
    build = Distribution({"name": "toy", "ext_modules": modules}).get_command_obj("build_ext")
    build.build_lib = build.build_temp = str(folder)
    build.ensure_finalized()
    build.run()
    spec = importlib.util.spec_from_file_location("toy", build.get_ext_fullpath("toy"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.GAME


@pytest.fixture(params=[*envs_c.games(), "toy"])
def game(request):
    """Every game, and the one from outside."""
    return request.getfixturevalue("toy") if request.param == "toy" else envs_c.game(request.param)


@pytest.fixture(params=["features", "pixels"])
def view(request):
    """Both kinds of observation."""
    return request.param


@pytest.fixture(params=["next_step", "same_step", "disabled"])
def autoreset(request):
    """All of Gymnasium's autoreset modes."""
    return request.param
