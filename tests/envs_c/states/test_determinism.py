"""The outputs of environment i depend on (seed, i) and on its actions only: hashes of all outputs are compared.

`PYTHONPATH=.:tests/support python tests/envs_c/states/test_determinism.py` prints the table of golden checksums. After a change
of a game's rules, picture or random numbers, its checksum differs: add a line to the change log, and increase the game's
version unless only the picture changed.
"""

import pytest
from support import play_core, play_gymnasium

import envs_c

SIZES = {"features": (150, 120), "pixels": (40, 60)}  # environments, steps: enough for several chunks and episodes
ALL_AT_ONCE = {"sticky": 0.25, "time_limit": 45, "reward_clip": 1.0}
GOLDEN_SIZE = {"num_envs": 16, "steps": 400, "seed": 7}
GOLDEN = {
    ("asterix", "features"): "f312f782dfc1b43f",
    ("asterix", "pixels"): "06c679644c6ef9f2",
    ("asteroids", "features"): "ce345c98eb33adfd",
    ("asteroids", "pixels"): "4077a90131db0032",
    ("breakout", "features"): "889b7c00af1ef688",
    ("breakout", "pixels"): "136aa40ebc76b510",
    ("cartpole", "features"): "736152a0b57f9fde",
    ("cartpole", "pixels"): "ce1b2fa2457e6b21",
    ("enduro", "features"): "754ef3c96a4e84e6",
    ("enduro", "pixels"): "ff91072de1b1c72e",
    ("freeway", "features"): "8afe30ee5030dcb4",
    ("freeway", "pixels"): "c0e5f65ef7c6a446",
    ("g2048", "features"): "c392d3cedf01d9de",
    ("g2048", "pixels"): "70f9a22a42d29b22",
    ("go", "features"): "a813a205b683fc2e",
    ("go", "pixels"): "e452bb145ee2ec21",
    ("pacman", "features"): "72ef82b00bbe1449",
    ("pacman", "pixels"): "d17a2b49260ccc08",
    ("platformer", "features"): "a5bb12c214b34811",
    ("platformer", "pixels"): "db1799a70068cc99",
    ("pong", "features"): "312c8635d8f630c0",
    ("pong", "pixels"): "78f83b23c344674c",
    ("seaquest", "features"): "4c4f4dbb8e413959",
    ("seaquest", "pixels"): "82624892c5e07cbc",
    ("snake", "features"): "f5a000c045f10303",
    ("snake", "pixels"): "d11211a2445c500d",
    ("space_invaders", "features"): "26f5c65ee123e2d3",
    ("space_invaders", "pixels"): "627ca3b4bc2c3637",
    ("tetris", "features"): "7ef9e223c0fb0497",
    ("tetris", "pixels"): "1fec853973dfdd4b",
    ("tmaze", "features"): "9308ec27b7b8328b",
    ("tmaze", "pixels"): "f7daf9988c6dd7ef",
}


def settings_of(game, view, autoreset, **more):
    noops = {"noop_max": 5} if game.actions[0] == "NOOP" else {}
    return {"view": view, "autoreset": autoreset, "seed": 1, **ALL_AT_ONCE, **noops, **more}


@pytest.fixture(scope="module")
def plain():
    """The hash with one thread, one chunk and one batch, computed once for each game, view and mode."""
    made = {}

    def hash_of(game, view, autoreset):
        key = (game.name, view, autoreset)
        if key not in made:
            made[key] = play_core(game, *SIZES[view], **settings_of(game, view, autoreset, num_threads=1))
        return made[key]

    return hash_of


HOW = {
    "2 threads": {"num_threads": 2},
    "3 threads": {"num_threads": 3},
    "chunks of 1": {"num_threads": 2, "chunk_size": 1},
    "chunks of 7": {"num_threads": 3, "chunk_size": 7},
    "chunks of 64": {"num_threads": 2, "chunk_size": 64},
    "2 batches": {"num_threads": 2, "cuts": (21,)},
    "3 batches in any order": {"num_threads": 3, "chunk_size": 4, "cuts": (3, 31), "shuffle": True},
}


def check(game, view, plain, how):
    settings = settings_of(game, view, "same_step", **HOW[how])
    assert play_core(game, *SIZES[view], **settings) == plain(game, view, "same_step")


@pytest.mark.threads
@pytest.mark.parametrize("how", HOW)
def test_outputs_do_not_depend_on_threads_chunks_or_batches(each_kind, view, plain, how):
    check(each_kind, view, plain, how)


@pytest.mark.threads
def test_no_game_s_outputs_depend_on_them(game, view, plain):
    check(game, view, plain, "3 batches in any order")


def test_outputs_are_the_same_bits_through_gymnasium(each_kind, view, autoreset, plain):
    through_gymnasium = play_gymnasium(each_kind, *SIZES[view], **settings_of(each_kind, view, autoreset, num_threads=1))
    assert through_gymnasium == plain(each_kind, view, autoreset)


def test_an_environment_does_not_depend_on_how_many_there_are(game):
    settings = settings_of(game, "features", "same_step")
    assert play_core(game, 5, 200, **settings) == play_core(game, 150, 200, rows=5, **settings)


def test_equal_seeds_give_equal_bits_and_different_seeds_different_bits(game, view):
    hashes = [play_core(game, 3, 50, view=view, seed=seed) for seed in (0, 1, 2, 2**64 - 1, 0, 1, 2, 2**64 - 1)]
    assert hashes[:4] == hashes[4:]
    assert len(set(hashes)) == 4


@pytest.mark.parametrize("view", ["features", "pixels"])
@pytest.mark.parametrize("name", envs_c.games())
def test_golden_checksums_hold_on_every_machine(name, view):
    assert (name, view) in GOLDEN, f"no golden checksum of {name} {view}: run this file (see its first lines)"
    assert play_core(envs_c.game(name), view=view, **GOLDEN_SIZE) == GOLDEN[name, view]


if __name__ == "__main__":
    for name in envs_c.games():
        for view in SIZES:
            print(f'    ("{name}", "{view}"): "{play_core(envs_c.game(name), view=view, **GOLDEN_SIZE)}",')
