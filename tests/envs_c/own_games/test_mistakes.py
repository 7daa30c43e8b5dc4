"""`insertcoin check` finds the mistakes of beginners and says each once: indexes, ranges in `valid`, rewards, ends, typos."""

import re
from pathlib import Path

import pytest
from support import TOY

import envs_c
from envs_c import outside, testing
from envs_c.__main__ import main
from envs_c.game import Feature, Game, Option, TwoPlayers
from envs_c.new import new
from envs_c.testing import causes
from envs_c.testing.bounds import module_to_test, wrong_index
from envs_c.testing.fields import layout
from envs_c.testing.workers import ask, module_of

TOY_TEXT = TOY.read_text(encoding="utf-8")
ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "writing_a_game.md").read_text(encoding="utf-8")
EXAMPLE = ROOT / "examples" / "new_game" / "cave.pyx"
STEP = "    toy.frames += 1\n"
PATH = ("    float wind\n\n", "    float wind\n    int32_t[3] path\n\n")
LOOP = "    cdef int k\n    cdef int32_t* here = &toy.path[0]\n    for k in range(4):\n        "


def changed(tmp_path, *changes, text=TOY_TEXT):
    """A changed game, loaded from its file."""
    for old, new_text in changes:
        assert old in text, old
        text = text.replace(old, new_text)
    path = tmp_path / "mine.pyx"
    path.write_text(text.replace('name="toy", title="Toy"', 'name="mine", title="Mine"'), encoding="utf-8")
    return outside.load(path)


@pytest.mark.parametrize(("given", "part"), [
    ({"name": "Two Words"}, "a game's name must be a lower-case identifier, not 'Two Words'"),
    ({"title": "Two Words"}, "title must be of letters, digits and _, as in SpaceInvaders, not 'Two Words'"),
    ({"title": ""}, "title must be of letters, digits and _"), ({"title": "A/B"}, "title must be of letters, digits and _"),
    ({"actions": ()}, "actions must name at least one action"),
    ({"actions": "NOOP"}, "actions must be a sequence of names, such as (\"NOOP\", \"FIRE\"), not 'NOOP'"),
    ({"actions": (0, 1)}, "actions must be a sequence of names, such as (\"NOOP\", \"FIRE\"), not (0, 1)"),
    ({"frame_skip": 0}, "frame_skip must be an integer from 1 to 1,000, not 0"), ({"fps": 0}, "fps must be an integer from 1"),
    ({"version": -1}, "version must be an integer from 0"), ({"time_limit": "a"}, "time_limit must be an integer from 0"),
    ({"time_limit": -1}, "time_limit must be an integer from 0"),
    ({"feature_low": 5, "feature_high": 1}, "numbers, or arrays of the shape (3,), with low <= high, not 5 and 1"),
    ({"feature_low": float("nan")}, "with low <= high, not nan and inf"), ({"feature_high": "a"}, "not -inf and 'a'"),
    ({"feature_low": (0, 0)}, "arrays of the shape (3,), with low <= high, not (0, 0) and inf"),
    ({"feature_dtype": "float64"}, "feature_dtype must be float32 or uint8, not float64"),
    ({"screen": (160,)}, "screen must be (width, height), each at least 84, not (160,)"),
    ({"screen": 168}, "screen must be a sequence, such as (160, 210), not 168"),
    ({"screen": (168.0, 168)}, "screen must be (width, height), each at least 84, not (168.0, 168)"),
    ({"actions": 3}, "actions must be a sequence, such as (\"NOOP\", \"FIRE\"), not 3"),
    ({"feature_shape": 5}, "feature_shape must be a sequence, such as (5,), not 5"),
    ({"feature_shape": (5.0,)}, "feature_shape must be integers from 1 on, such as (5,), not (5.0,)"),
    ({"features": Feature("x", 0, 1)}, "features must be rows of Feature(...), each of one feature or more, not ('x', 0, 1"),
    ({"features": (Feature("x", "0", 1, 3),)}, "the row 'x' of features must have numbers low <= high, not '0' and 1"),
    ({"features": (Feature("x", 2, 1, 3),)}, "the row 'x' of features must have numbers low <= high, not 2 and 1"),
    ({"features": (Feature("x", 0, 1, 0),) * 3}, "features must be rows of Feature(...), each of one feature or more"),
    ({"feature_dtype": "real"}, "feature_dtype must be float32 or uint8, not 'real'"),
    ({"version": "1"}, "version must be an integer from 0 to 1,073,741,824, not '1'"),
    ({"two_players": 2}, "two_players must be None or TwoPlayers(...), not 2"),
    ({"two_players": TwoPlayers({"side": 1}, {})}, "in TwoPlayers(both={'side': 1}, opponents={}): unknown option 'side'"),
    ({"two_players": TwoPlayers({}, {"weak": 3})}, "two_players' options must be a dict or None, not 3"),
    ({"two_players": TwoPlayers({}, 7)}, "in TwoPlayers(both={}, opponents=7): "),
    ({"options": [Option(1, 0, 2, "x")]}, "options must be a dict of names and Option(...), not [Option("),
    ({"options": {"far": Option(0, 1, 1_234_567, "x")}}, "must be an integer from 1 to 1,234,567 (x), not 0"),
    ({"options": {"lives": 5}}, "options must be a dict of names and Option(...), not 'lives': 5"),
    ({"options": {5: Option(1, 0, 2, "x")}}, "options must be a dict of names and Option(...), not 5: "),
    ({"options": {"lives": Option(9, 1, 5, "lives")}}, "the default of option 'lives' of mine must be an integer from 1 to 5"),
    ({"options": {"lives": Option("9", 1, 5, "lives")}}, "the default of option 'lives' of mine must be an integer")])
def test_a_mistake_in_the_description_is_named_with_its_value(given, part):
    right = {"name": "mine", "title": "Mine", "summary": "A game.", "version": 1, "actions": ("GO",), "feature_shape": (3,)}
    assert Game(**right | {"title": "Mine_2"}).gym_id == "Arcade/Mine_2-v0"
    with pytest.raises(envs_c.ContractError) as caught:
        Game(**right | given)
    assert part in str(caught.value)


@pytest.mark.parametrize("name", ["seed", "view", "rom", "num_envs", "max_episode_steps", "vector_kwargs", "n_stack"])
def test_an_option_with_the_name_of_a_setting_is_refused(name):
    game = Game(name="mine", title="Mine", summary="A game.", version=1, actions=("GO",), feature_shape=(3,),
                options={name: Option(1, 0, 2, "x")})
    with pytest.raises(envs_c.InvalidArgument, match=f"game 'mine' has an option '{name}', which is a setting of make"):
        envs_c.register(game)


@pytest.mark.parametrize(("change", "part"), [
    (("draw, sizeof(Toy), has", "draw, sizeof(Toy) - 8, has"), "48 bytes and a mask to run_chunk, but bind has 40 bytes"),
    (("has_mask=True, ", "has_mask=False, "), "48 bytes and a mask to run_chunk, but bind has 48 bytes and has_mask=False"),
    (("draw, mask, sizeof", "draw, NULL, sizeof"), "48 bytes and NULL for the mask to run_chunk, but bind has 48 bytes"),
    (("    run_chunk(", "    pass  # ("), "chunk must call run_chunk, as in games/cartpole.pyx, not return without it")])
def test_a_chunk_and_a_bind_that_do_not_agree_are_refused(fast_compiler, tmp_path, change, part):
    with pytest.raises(envs_c.ContractError, match=r"^game 'mine': ") as caught:
        changed(tmp_path, change)
    assert part in str(caught.value)


def test_a_struct_without_a_size_is_refused(fast_compiler, tmp_path):
    with pytest.raises(envs_c.ContractError, match=r"game 'mine': state_size must be sizeof\(State\), not 0"):
        changed(tmp_path, ("draw, sizeof(Toy), has_mask", "draw, 0, has_mask"))


@pytest.mark.parametrize(("body", "part"), [
    ("here[k] = 0\n", "the bytes behind the struct of 60 bytes were written"),
    ("toy.jumps += here[k] > 0\n", "it reads behind its struct of 60 bytes: outputs depend on bytes there, from")])
def test_a_loop_through_a_pointer_that_goes_one_element_too_far_is_found(fast_compiler, tmp_path, body, part):
    """It writes zeros, and reads bytes that are mostly 0: only another pattern behind the struct shows it."""
    game = changed(tmp_path, PATH, ("    toy.noise = rng_below(rng, 256)\n\n", "    toy.noise = rng_below(rng, 256)\n"
                                    "    toy.path[0] = toy.path[1] = toy.path[2] = 0\n\n"), (STEP, STEP + LOOP + body))
    (_, fault), = testing.verdicts(game, ["stays_in_its_state"])
    assert part in fault


@pytest.mark.parametrize("body", ["toy.path[k] = 0\n", "toy.jumps += toy.path[k] > 0\n"])
def test_an_index_beyond_its_array_is_named_with_its_line(fast_compiler, tmp_path, body):
    loop = "    cdef int k\n    for k in range(4):\n        "
    game = changed(tmp_path, PATH, (STEP, STEP + loop + body))
    _, (_, fault) = testing.verdicts(game, ["describes_itself", "stays_in_its_state"], module=module_to_test(game))
    line = (tmp_path / "mine.pyx").read_text().splitlines().index("        " + body.rstrip()) + 1
    assert fault == f"index 3 out of bounds for type 'int32_t [3]' (mine.pyx, line {line})"


def test_tuples_of_python_are_no_wrong_index(fast_compiler):
    """The module of the example fills tuples; the headers of Python declare their elements as an array of one."""
    game = outside.load(EXAMPLE)
    assert [fault for _, fault in testing.verdicts(game, ["describes_itself"], module=module_to_test(game))] == [None]


def test_a_report_of_the_sanitizer_is_read_and_other_errors_are_none():
    assert wrong_index("x\n/tmp/a b/mine.pyx:7:3: runtime error: index -1 out of bounds for type 'int [2]'\n") == (
        "index -1 out of bounds for type 'int [2]' (mine.pyx, line 7)")
    assert wrong_index("ImportError: no module") is None


def test_a_game_that_changed_after_it_was_loaded_is_refused(fast_compiler, tmp_path):
    game = changed(tmp_path)
    (tmp_path / "mine.pyx").write_text("x")
    with pytest.raises(envs_c.ContractError, match="must be as it was when the game was loaded"):
        module_to_test(game)
    assert module_to_test(envs_c.game("pong")) == module_of(envs_c.game("pong"))


@pytest.mark.parametrize(("old", "new_text", "fault"), [
    ("between(toy.jumps, 0, 2)", "between(toy.jumps, 1, 2)", "its field jumps is 0, and valid accepts 1 to 2 there"),
    ("toy.length - 2 + over", "toy.length - 2", "its field cell is 8, and valid accepts 0 to 7 there"),
    ("toy.wind == <float>options[1]", "toy.wind == 0", "its field wind is 0.25, and valid accepts 0 to 0 there")])
def test_a_refused_state_names_the_field_its_value_and_its_range_once(fast_compiler, tmp_path, old, new_text, fault):
    game = changed(tmp_path, (old, new_text))
    with pytest.raises(envs_c.ContractError) as caught:
        testing.check(game, ["accepts_its_own_states", "is_plain_data", "declares_every_action"])
    assert "breaks 1 of the contract's rules" in str(caught.value)
    assert re.findall(r"valid refuses a state .*", str(caught.value))[0].endswith(fault)


def test_large_whole_numbers_of_a_refused_field_are_told_in_full(fast_compiler, tmp_path):
    game = changed(tmp_path, ("    toy.frames += 1\n", "    toy.frames += 1_234_567\n"),
                   (" and toy.wind ==", " and between(toy.frames, 0, 2_000_000) and toy.wind =="))
    (_, fault), = testing.verdicts(game, ["accepts_its_own_states"])
    assert fault.endswith("its field frames is 2,469,134, and valid accepts 0 to 2,000,000 there")


def test_a_feature_beyond_the_range_of_its_row_is_named(fast_compiler, tmp_path):
    file = new("narrow", tmp_path) / "narrow.pyx"
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace('Feature("fruit y", -1, 1', 'Feature("fruit y", 0, 1'), encoding="utf-8")
    (_, fault), = testing.verdicts(outside.load(file), ["lies_in_its_spaces"])
    assert fault == "feature 2 (fruit y) is -1 in step 0, but its Feature(...) says 0 to 1"


def test_a_title_that_a_game_may_have_passes_the_check(fast_compiler, tmp_path):
    game = changed(tmp_path, ('title="Toy"', 'title="My_2"'), text=TOY_TEXT)
    assert game.title == "My_2" and [fault for _, fault in testing.verdicts(game, ["describes_itself"])] == [None]


def test_a_board_of_thousands_of_tiles_in_the_struct_is_checked(fast_compiler, tmp_path):
    game = changed(tmp_path, ("    float wind\n\n", "    float wind\n    int32_t[9000] board\n\n"))
    assert [fault for _, fault in testing.verdicts(game, ["describes_itself"])] == [None]


def test_a_file_in_another_encoding_than_utf_8_is_checked(fast_compiler, tmp_path):
    file = new("strasse", tmp_path) / "strasse.pyx"
    file.write_bytes(("# coding: latin-1\n# Stra\u00dfe\n" + file.read_text(encoding="utf-8")).encode("latin-1"))
    testing.check(file, ["describes_itself"])


def test_a_game_may_print_any_bytes_while_it_is_checked(fast_compiler, tmp_path):
    printed = {}
    game = changed(tmp_path, ("from libc.stdint", "from libc.stdio cimport printf\nfrom libc.stdint"),
                   (STEP, STEP + '    printf(b"\\xe9\\n")\n'))
    testing.check(game, ["stays_in_its_state"], prints=printed.__setitem__)
    assert set(printed["stays_in_its_state"]) == {"\ufffd", "..."}


def test_a_forgotten_bind_is_said_once_and_nothing_else_is_tested(fast_compiler, tmp_path):
    file = new("unbound", tmp_path) / "unbound.pyx"
    text = file.read_text(encoding="utf-8")
    file.write_text(text[:text.index(").bind(")] + ")\n", encoding="utf-8")
    reports = []
    with pytest.raises(envs_c.ContractError) as caught:
        testing.check(file, report=lambda *given: reports.append(given))
    assert str(caught.value) == ("game 'unbound' has no compiled functions: end its file with "
                                 "GAME = Game(...).bind(chunk, ...)")
    assert reports == []


def test_rand_is_named_though_it_is_first_called_after_some_steps(fast_compiler, tmp_path):
    """In the game that `new` writes, the first fruit lands in frame 27."""
    file = new("dice", tmp_path) / "dice.pyx"
    text = file.read_text(encoding="utf-8")
    for old, new_text in [("<int16_t>rng_below(rng, SIDE)\n    return reward", "<int16_t>(rand() % SIDE)\n    return reward"),
                          ("from libc.stdint", "from libc.stdlib cimport rand\nfrom libc.stdint")]:
        assert old in text
        text = text.replace(old, new_text)
    file.write_text(text, encoding="utf-8")
    found = dict(testing.verdicts(outside.load(file), ["is_deterministic", "resets_everything", "shares_nothing"]))
    assert set(found.values()) == {causes.LIBRARY}


@pytest.mark.parametrize(("text", "size", "names"), [
    ("ctypedef struct S:  # x\n    int16_t a, b  # c\n    # d\n    float[2] e\n\n\nG = Game().bind(chunk, sizeof(S))", 12,
     ["a", "b", "e[0]", "e[1]"]),
    ("    SIDE = 2  # of tiles\nctypedef struct S:\n    uint8_t[SIDE] a\n    double b\n\nGame().bind(1, sizeof(S))", 16,
     ["a[0]", "a[1]", "b"]),
    ("ctypedef struct S:\n    Other a\n\nGame().bind(1, sizeof(S))", 4, []),
    ("ctypedef struct S:\n    int a\n\nGame().bind(1, sizeof(S))", 8, []), ("", 4, [])])
def test_the_fields_of_a_struct_are_read_from_the_file_or_not_known(text, size, names):
    assert [name for name, _, _ in layout(text, size)] == names


def test_the_summary_names_what_is_suspicious(fast_compiler, tmp_path):
    """A step without `return`, an action without effect, an end that only the limit brings."""
    game = changed(tmp_path, ("    return 10.0 if over[0] else -0.25\n", ""), ("action == JUMP and toy.jumps > 0", "False"),
                   ("    toy.action = action\n", ""), ("<uint8_t>toy.action", "0"),
                   ("over[0] = toy.cell == toy.length - 1", "over[0] = False"), ("toy.length - 2 + over", "toy.length - 1"),
                   ('feature_dtype="uint8"', 'feature_dtype="uint8", time_limit=9'))
    lines, warnings = testing.summary(game)
    assert lines[0] == "rewards   mean 0, from 0 to 0"
    assert re.fullmatch(r"episodes  \d+, of 9 to 9 steps, mean 9; ended by the game: 0, by its time limit: \d+", lines[1])
    assert lines[2].startswith("actions   of 15 states, each did something else than NOOP in: LEFT")
    assert lines[2].endswith("JUMP 0")
    assert lines[3].startswith("features  [0] 0 to ") and "[2] 0, " in lines[3]
    assert warnings == ["every reward is 0: let `step` return it, as in `return reward`",
                        "no effect of JUMP was seen: each did the same as NOOP in every state that was tried"]
    assert ask(module_of(game), "ends") == (0, b'"limit"\n')


def test_the_summary_of_a_sound_game_warns_of_nothing(fast_compiler, tmp_path):
    lines, warnings = testing.summary(changed(tmp_path))
    assert warnings == [] and "from -1 to 10" not in lines[0] and "by its time limit: 0" in lines[1]


def test_the_summary_names_features_beyond_their_range_and_rewards_that_cannot_be_added(fast_compiler, tmp_path):
    game = changed(tmp_path, ('feature_dtype="uint8"', 'feature_dtype="uint8", feature_high=200'),
                   ("return 10.0 if over[0]", "return 3e38 if over[0]"))
    _, (rewards, features) = testing.summary(game)
    assert "rewards are not finite, or too large to be added" in rewards
    assert re.search(r"features leave the range .* declare: \[\d\] 0 to 25\d, not -inf to 200", features)


def test_one_typo_is_one_error(tmp_path, capsys):
    path = tmp_path / "mine.pyx"
    path.write_text(TOY_TEXT.replace("toy.cell -= 1", "tyo.cell -= 1; tyo.cell += 1").replace("toy.jumps -= 1", "oyt.jumps"))
    assert main(["check", str(path)]) == 2
    text = capsys.readouterr().err
    assert len(re.findall(r"mine\.pyx:\d+", text)) == 1 and re.search(r"\(and \d+ more, which may follow from this one\)", text)


def test_the_first_game_of_the_page_keeps_the_rules_and_its_mistake_is_named(fast_compiler, tmp_path):
    file = new("my_game", str(tmp_path)) / "my_game.pyx"
    text = file.read_text(encoding="utf-8")
    for old, new_text in [
            ("    int16_t lives\n", "    int16_t lives\n    int16_t fruit\n"),
            ("    game.row = 0\n    game.column", "    game.row = 0\n    game.fruit = 0\n    game.column"),
            ("    game.row += 1\n    if game.row == SIDE - 1:\n",
             "    game.row = min(game.row + (2 if game.fruit % 3 == 2 else 1), SIDE - 1)\n    if game.row == SIDE - 1:\n"
             "        game.fruit = (game.fruit + 1) % 3\n"),
            ("    features[4] =", "    features[5] = game.fruit == 2\n    features[4] ="),
            ("feature_shape=(5,)", "feature_shape=(6,)"),
            ('help="of 10"),\n', 'help="of 10"),\n        Feature("fast", 0, 1),\n'),
            ("<int>options[0]))\n", "<int>options[0]) and between(game.fruit, 0, 1))\n")]:
        assert text.count(old) == 1, old
        text = text.replace(old, new_text)
    for quoted in ("game.row = min(game.row + (2 if game.fruit % 3 == 2 else 1), SIDE - 1)",
                   "game.fruit = (game.fruit + 1) % 3", "features[5] = game.fruit == 2", "between(game.fruit, 0, 1)"):
        assert quoted in text and quoted in PAGE
    file.write_text(text, encoding="utf-8")
    with pytest.raises(envs_c.ContractError, match="its field fruit is 2, and valid accepts 0 to 1 there"):
        testing.check(str(file), ["accepts_its_own_states"])
    file.write_text(text.replace("between(game.fruit, 0, 1)", "between(game.fruit, 0, 2)"), encoding="utf-8")
    testing.check(str(file), ["stays_in_its_state", "lies_in_its_spaces", "resets_everything", "accepts_its_own_states"])
