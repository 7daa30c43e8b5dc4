"""How cartridges are named, found and made: files, Gymnasium's ids, ALE's settings, views, and what is said of wrong ones."""

import pickle
import threading
import time
import tomllib
import warnings
from pathlib import Path

import gymnasium
import numpy as np
import own_rom
import pytest
from support import vector

import envs_c
from envs_c import testing
from envs_c.__main__ import main
from envs_c.console import cartridges, console
from envs_c.console.choice import choice
from envs_c.engine.state import close_state, memory_of
from envs_c.errors import InvalidArgument, InvalidState, UnknownGame
from envs_c.machine import cores
from tools.fuzz import pool

ROMS = cartridges.folder_of_ale()
needs_ale = pytest.mark.skipif(ROMS is None, reason="needs the cartridges of ale-py")


def played(env, steps: int = 30) -> list:
    """The observations of some steps with all actions in turn."""
    return [env.reset(seed=1)[0], *(env.step(np.full(env.num_envs, k % 3))[0] for k in range(steps))]


@needs_ale
def test_ram_is_the_features_of_a_cartridge():
    ram, features = (envs_c.make("atari:pong", 2, view=view) for view in ("ram", "features"))
    assert ram.single_observation_space == gymnasium.spaces.Box(0, 255, (128,), np.uint8)
    assert np.array_equal(played(ram), played(features))


@pytest.mark.parametrize("settings", [{"view": "ram"}, {"obs_type": "ram"}])
def test_a_game_without_a_ram_refuses_the_view(settings):
    with pytest.raises(InvalidArgument, match=r"not 'ram': .* RAM"):
        envs_c.make("breakout", **settings)


def test_a_cartridge_is_no_game_to_check(own_cartridge):
    with pytest.raises(InvalidArgument, match=rf"with a \.pyx of its own, not the cartridge '{own_cartridge.name}'"):
        testing.check(own_cartridge)


@needs_ale
@pytest.mark.parametrize(("theirs", "ours"), [
    ({"obs_type": "ram", "frameskip": 3}, {"view": "ram", "frame_skip": 3}),
    ({"obs_type": "rgb", "repeat_action_probability": 0.25}, {"view": "rgb", "sticky": 0.25}),
    ({"obs_type": "grayscale"}, {"view": "pixels", "picture_size": (210, 160)}),
    ({"full_action_space": True}, {"full_action_space": 1}), ({"full_action_space": False}, {}),
    ({"max_num_frames_per_episode": 400}, {"time_limit": 100}),
    ({"max_num_frames_per_episode": 400, "frameskip": 2}, {"time_limit": 200, "frame_skip": 2})])
def test_ales_settings_are_ours(theirs, ours):
    one, other = envs_c.make("atari:qbert", seed=0, **theirs), envs_c.make("atari:qbert", seed=0, **ours)
    assert (one.core.time_limit, one.single_action_space) == (other.core.time_limit, other.single_action_space)
    assert np.array_equal(played(one), played(other))


@pytest.mark.parametrize(("limit", "message"), [(402, "a multiple of frame_skip, whole steps of one length, not 402"),
                                                (-4, "an integer from 0"), ("1", "an integer from 0")])
def test_a_limit_of_frames_must_be_whole_steps(limit, message):
    with pytest.raises(InvalidArgument, match=f"max_num_frames_per_episode must be .*{message}"):
        envs_c.make("breakout", frame_skip=4, max_num_frames_per_episode=limit)


@needs_ale
def test_gymnasiums_ids_make_cartridges():
    single = gymnasium.make("envs_c:Atari/MsPacman-v0", obs_type="ram")
    assert single.unwrapped.get_action_meanings() == list(cartridges.cartridge("atari:ms_pacman").actions)
    assert single.reset()[0].shape == (128,) and single.unwrapped.ale.lives() == 3
    assert gymnasium.make_vec("envs_c:Atari/Qbert-v0", 3, obs_type="rgb").reset()[0].shape == (3, 210, 160, 3)
    assert gymnasium.make_vec("Atari/Qbert-v0", 1, rom=ROMS / "qbert.bin").unwrapped.game.name == "atari_qbert"


def test_every_row_of_the_table_has_an_id():
    names = tomllib.loads(cartridges.TABLE.read_text())
    assert cartridges.ids() == {f"Atari/{cartridges.title_of(name)}-v0": f"atari:{name}" for name in names}
    assert set(cartridges.ids()) <= set(gymnasium.registry)


def test_a_file_plays_by_its_path(own_cartridge):
    path = str(own_cartridge.path)
    for env in (envs_c.make(f"atari:{path}", 2), envs_c.make("atari", 2, rom=path), envs_c.make("atari:own_rom", 2, rom=path)):
        assert env.game.name == "atari_own_rom" and played(env)[-1][0, 0x10] == 1  # of three lives, after 120 frames


@pytest.mark.filterwarnings("ignore:the cartridge")
def test_a_path_is_the_file_that_lies_there_now(tmp_path, monkeypatch):
    found = []
    for folder, number in (("one", 4), ("other", 5), ("one", 4), ("one", 6)):
        monkeypatch.chdir(tmp_path)
        Path(folder).mkdir(exist_ok=True)
        monkeypatch.chdir(folder)
        Path("game.bin").write_bytes(own_rom.another(number))
        found.append(envs_c.make("atari:game.bin").game)
        assert found[-1].path == tmp_path / folder / "game.bin"
    assert found[0] is found[2] and len({game.key for game in found}) == 3


@pytest.mark.parametrize("ending", ["BIN", "A26", "Rom"])
def test_endings_of_files_are_in_small_or_capital_letters(own_cartridge, tmp_path, monkeypatch, ending):
    path = tmp_path / f"GAME.{ending}"
    path.write_bytes(own_rom.DATA)
    assert envs_c.make(f"atari:{path}").game.key == own_cartridge.key
    monkeypatch.setenv("ENVS_C_ROMS", str(tmp_path))
    assert cartridges.present()["own_rom"] == path


def test_a_cartridge_travels_in_a_pickle_by_its_file(own_cartridge, tmp_path):
    env = envs_c.make(f"atari:{own_cartridge.path}", 2, view="pixels", seed=0)
    env.reset()
    env.step([1, 2])
    again = pickle.loads(pickle.dumps(env))
    assert all(np.array_equal(env.step([2, k])[0], again.step([2, k])[0]) for k in range(3))
    other = tmp_path / "other.bin"
    other.write_bytes(own_rom.DATA[::-1])
    with pytest.warns(UserWarning), pytest.raises(InvalidArgument, match="has changed"):
        cartridges.again(str(other), own_cartridge.key)


def test_own_files_are_known_by_their_bytes(own_cartridge, tmp_path, monkeypatch):
    (tmp_path / "a game (1982).a26").write_bytes(own_rom.DATA)
    (tmp_path / "qbert.bin").write_bytes(b"not qbert")
    (tmp_path / "notes.txt").write_bytes(own_rom.DATA)
    monkeypatch.setenv("ENVS_C_ROMS", str(tmp_path))
    monkeypatch.setattr(cartridges, "folder_of_ale", lambda: None)
    assert cartridges.present() == {"own_rom": tmp_path / "a game (1982).a26"}


def test_an_unknown_cartridge_plays_without_reward_and_says_so_once(tmp_path):
    path = tmp_path / "unknown.bin"
    path.write_bytes(own_rom.DATA[:4000] + bytes(96))
    with pytest.warns(UserWarning, match="not in the table of games: it plays with screen and RAM, without rewards"):
        env = envs_c.make(f"atari:{path}", view="rgb")
    assert env.reset()[0].shape == (1, 210, 160, 3) and not env.step([2])[1].any()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        envs_c.make("atari", rom=path)


@pytest.mark.parametrize(("numbers", "span"), [
    ([0], "0"), ([3, 0], "0 or 3"), ([*range(32), 128], "0 to 31 or 128"), ([0, 1, 2], "0 to 2"), ([1, 0], "0 or 1"),
    ([0, 4, 8], "0 or 4 or 8")])
def test_an_option_that_is_no_interval_names_its_numbers(numbers, span):
    option = choice(numbers, "ALE's mode")
    assert option.span == span and option.check("mine", "mode", max(numbers)) == max(numbers)
    for value in (-1, 99, 0.5, "0", *([] if span == "0 or 1" else [True])):
        with pytest.raises(InvalidArgument, match=rf"option 'mode' of mine must be {span} \(ALE's mode\), not"):
            option.check("mine", "mode", value)


def test_names_files_and_folders_that_are_wrong_are_named(own_cartridge, tmp_path, monkeypatch):
    wrong = tmp_path / "wrong.bin"
    wrong.write_bytes(own_rom.DATA)
    monkeypatch.setattr(cartridges, "folder_of_ale", lambda: None)
    for error, message, name, settings in [
            (UnknownGame, "not on this machine: pip install ale-py", "atari:tennis", {}),
            (UnknownGame, "named atari:NAME, or atari with rom=PATH", "atari", {}),
            (UnknownGame, "named atari:NAME, or atari with rom=PATH", "atari", {"rom": None}),
            (UnknownGame, "did you mean tennis", "atari:tenis", {}),
            (UnknownGame, "the console plays a cartridge of this name, atari:qbert", "qbert", {}),
            (InvalidArgument, "tennis must have the MD5 .* has .*, the one of atari:own_rom", "atari:tennis", {"rom": wrong}),
            (InvalidArgument, "cannot be read: No such file", "atari", {"rom": tmp_path / "none.bin"}),
            (InvalidArgument, "cannot be read: No such file", "atari", {"rom": "~no such user/x.bin"}),
            (InvalidArgument, "cannot be read: No such file", "atari:~no such user/x.bin", {}),
            (InvalidArgument, "which is a folder, pipe or device", "atari", {"rom": tmp_path}),
            (InvalidArgument, "which is a folder, pipe or device", "atari", {"rom": "/dev/zero"}),
            (InvalidArgument, "rom must be left out for atari:x.bin", "atari:x.bin", {"rom": wrong}),
            (InvalidArgument, "rom must be the path of a cartridge, a str or Path, not 3", "atari", {"rom": 3}),
            (InvalidArgument, "unexpected keyword argument 'rom'", "breakout", {"rom": wrong})]:
        with pytest.raises(error, match=message):
            envs_c.make(name, **settings)
    for folder in (str(tmp_path / "nowhere"), "~no such user/x"):
        monkeypatch.setenv("ENVS_C_ROMS", folder)
        with pytest.raises(InvalidArgument, match="ENVS_C_ROMS must name a folder"):
            envs_c.make("atari:tennis")


def test_the_list_of_games_has_the_cartridges_and_says_how_to_get_them(monkeypatch, capsys):
    monkeypatch.setattr(cartridges, "present", lambda: {"pong": Path("pong.bin"), "qbert": Path("qbert.bin")})
    monkeypatch.setattr(envs_c, "games", lambda: ())
    assert main(["games"]) == 0
    out = capsys.readouterr().out
    assert f"cartridges for the Atari 2600 that are here: 2 of {len(cartridges.table())}" in out
    assert "    pong qbert\n" in out and "pip install ale-py" in out


@needs_ale
def test_a_cartridge_steps_alike_through_every_interface():
    sb3 = pytest.importorskip("envs_c.sb3", exc_type=ImportError)
    settings = {"sticky": 0.25, "noop_max": 5, "autoreset": "same_step", "seed": 3}
    plain, threads = envs_c.make("atari:pong", 4, **settings), envs_c.make("atari:pong", 4, num_threads=2, **settings)
    other, own = envs_c.make_async("atari:pong", 4, num_threads=2, **settings), envs_c.make("atari:pong", 4, **settings)
    wrapped = sb3.ArcadeVecEnv(own)
    other.async_reset()
    first = plain.reset()[0]
    assert all(np.array_equal(first, seen) for seen in (threads.reset()[0], other.recv()[0], wrapped.reset()))
    for row in np.random.default_rng(0).integers(6, size=(25, 4)):
        other.send(row)
        seen = plain.step(row)[0]
        assert all(np.array_equal(seen, one) for one in (threads.step(row)[0], other.recv()[0], wrapped.step(row)[0]))


def test_no_stranger_s_cartridge_harms_the_console():
    found = pool.run([pool.Job("roms", 0, 39)], 5, 1, 60, pytest.fail)["roms"]
    assert (found.cases, found.counts["accepted"], found.faults) == (40, 40, [])


@pytest.mark.slow
def test_no_stranger_s_cartridge_of_ten_thousand_harms_the_console():
    assert pool.run(pool.jobs({"roms": 10_000}, cores()), 6, cores(), 60, pytest.fail)["roms"].cases == 10_000


@pytest.mark.parametrize("call", [
    lambda key: console.attach(key, 0), lambda key: console.trace(key, b""), console.for_gpu],
    ids=["attach", "trace", "for_gpu"])
def test_a_key_of_no_inserted_cartridge_is_refused(call):
    with pytest.raises(InvalidArgument, match="key must be the one of an inserted cartridge, not 123"):
        call(123)


def test_a_cartridge_stays_that_is_inserted_while_another_one_is_tried():
    data, facts = cartridges.made(own_rom.DATA, own_rom.ROW)
    other = threading.Thread(target=console.insert, args=(data, 77, facts))

    class Actions:
        def __iter__(self):
            if not other.ident:
                other.start()
                time.sleep(0.2)
            return iter([0])

    console.try_rom(data, facts, Actions())
    other.join()
    assert console.for_gpu(77)[2] > 0


def test_a_wrong_action_of_a_rom_that_is_tried_leaves_no_cartridge():
    data, facts = cartridges.made(own_rom.DATA, own_rom.ROW)
    with pytest.raises(TypeError):
        console.try_rom(data, facts, ["a"])
    with pytest.raises(InvalidArgument, match="not 0"):
        console.for_gpu(0)


@pytest.mark.parametrize(("field", "value"), [
    ("score", (1 << 31) - 1), ("score", -1 << 31), ("ohm", (1 << 31) - 1), ("ohm", -1)])
def test_a_state_with_a_score_or_a_paddle_out_of_bounds_is_refused(own_cartridge, field, value):
    env = vector(own_cartridge)
    env.reset()
    core, state = env.core, env.core.get_state()
    core.set_state(state)
    raw, key = bytearray(memory_of(state)), own_cartridge.key.to_bytes(8, "little")
    at = raw.index(key) + {"score": 12, "ohm": 20}[field]  # behind `cartridge`, in state.pxd
    raw[at: at + 4] = value.to_bytes(4, "little", signed=True)
    with pytest.raises(InvalidState, match="could have produced"):
        core.set_state(close_state(core._signature(), 1, bytes(raw)))
