"""envs_c.testing: the contract suite names each broken rule. test_every_rule.py runs it on all games."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support import TOY

import envs_c
from envs_c import outside, testing
from envs_c.__main__ import main
from envs_c.testing import causes
from envs_c.testing.workers import module_of

TOY_TEXT = TOY.read_text(encoding="utf-8")


STEP = "    toy.frames += 1\n"
PLAIN = [("    toy.action = action\n", ""), ("<uint8_t>toy.action", "0")]  # without the action in the state, as in most games
OBSERVE = "    features[0], features[1]"
GLOBAL = ("cdef void reset(", "cdef int shared = 0\n\n\ncdef void reset(")
RESET = "    toy.action, toy.frames"
LIBRARY = ("from libc.stdint", "from libc.stdlib cimport malloc, rand\nfrom libc.stdint")
DYING = 'import atexit, os, sys\nif "envs_c.testing.__main__" in sys.modules:\n    atexit.register(os.abort)\n'
POINTER = ("    float wind\n", "    float wind\n    int32_t* here\n")
LEGAL = "    action_mask[JUMP] = toy.jumps > 0\n"
LOOP = "    while toy.{0}:\n        pass\n"
LIVES = (", valid=valid)", ", valid=valid, lives=lives)")
COUNT = "cdef int lives(const void* state) noexcept nogil:\n    return {0}\n\n\ncdef void chunk("
BREAKERS = {  # the mistake: how the toy is changed, the rule broken by it, a part of the message
    "a struct larger than its size": (
        [("sizeof(Toy)", "sizeof(Toy) - 8")], "stays_in_its_state", "behind the struct of 40 bytes"),
    "a neighbour's state": (
        [(STEP, STEP + "    toy[3].cell += 1\n")], "stays_in_its_state", "changed the state of its neighbours"),
    "a feature too many": (
        [(OBSERVE, "    features[6] = 1\n" + OBSERVE)], "stays_in_its_buffers", "beside the buffer observation"),
    "a byte in front of the features": (
        [(OBSERVE, "    features[-1] = 1\n" + OBSERVE)], "stays_in_its_buffers", "beside the buffer observation"),
    "a feature left out": (
        [(", features[5] =", ", features[4] =")], "stays_in_its_buffers", "is not written"),
    "an action too many in the mask": (
        [(LEGAL, LEGAL + "    action_mask[4] = 1\n")], "stays_in_its_buffers", "beside the buffer action_mask"),
    "a feature beyond its bound": (
        [('feature_dtype="uint8"', 'feature_dtype="uint8", feature_high=8')], "lies_in_its_spaces", "beyond its bound 8"),
    "a reward that is no number": (
        [("else -0.25", "else <float>0.0 / toy.wind * (toy.cell > 9)")], "lies_in_its_spaces", "a reward is not finite"),
    "no legal action": (
        [("action_mask[NOOP] = 1\n", "action_mask[NOOP] = 0\n"), ("toy.cell > 0", "0"), ("toy.cell < toy.length - 1", "0")],
        "lies_in_its_spaces", "no action is legal"),
    "lives that end before the episode": (
        [LIVES, ("cdef void chunk(", COUNT.format("(<const Toy*>state).jumps"))],
        "lies_in_its_spaces", "`lives` gives 0 in step"),
    "a count of lives that changes the state": (
        [LIVES, ("cdef void chunk(", "cdef int lives(const void* state) noexcept nogil:\n    (<Toy*>state).noise = 7\n"
                                     "    return 1\n\n\ncdef void chunk(")], "looks_without_touching", "gave different"),
    "random numbers of its own": (
        [LIBRARY, ("toy.noise = rng_below(rng, 256)", "toy.noise = rand() % 256")],
        "is_deterministic", "random numbers from the C library, as by rand()"),
    "a reset that forgets": (
        [("toy.jumps = NOOP, 0, 2", "toy.jumps = NOOP, 0, toy.jumps + 2")], "resets_everything", "differed from a new one"),
    "a variable for all": (
        [GLOBAL, (STEP, STEP + "    global shared\n    shared += action\n    toy.jumps = shared & 1\n")],
        "shares_nothing", "keeps state outside its struct, in a global or static variable"),
    "an observation that changes the state": (
        [(OBSERVE, "    (<Toy*>state).jumps += 1\n" + OBSERVE)], "looks_without_touching", "a second call gave different"),
    "a pointer to itself": (
        [POINTER, (RESET, "    toy.here = &toy.cell\n" + RESET), ("toy.cell += 1", "toy.here[0] += 1")],
        "is_plain_data", "pointer"),
    "a pointer to memory of its own": (
        [LIBRARY, POINTER, (RESET, "    toy.here = <int32_t*>malloc(4)\n    toy.here[0] = 0\n" + RESET),
         (STEP, STEP + "    toy.here[0] += 1\n    toy.jumps = toy.here[0]\n"), ("between(toy.jumps, 0, 2)", "True")],
        "is_plain_data", "pointer"),
    "three actions and a fourth read": (
        [*PLAIN, ('("NOOP", "LEFT", "RIGHT", "JUMP")', '("NOOP", "LEFT", "RIGHT")'), (LEGAL, "")],
        "declares_every_action", "it declares 3 actions, 0 to 2 (NOOP, LEFT, RIGHT), but action 3 does"),
    "a swap of another colour": (
        [("SKY, PAINT)", "GROUND, PAINT)"), ('Option(0, 0, 3, "what', 'Option(3, 3, 3, "what')],
        "paints_one_picture", "away from"),
    "a swap of another colour under an option": (
        [("SKY, PAINT)", "GROUND, PAINT)")], "paints_one_picture", "with {'figure': 3}"),
    "a crash": (
        [(STEP, STEP + "    if action == JUMP:\n        (<int*>NULL)[0] = 1\n")], "stays_in_its_state", "ended"),
    "no check of restored states": (
        [(", has_mask=True, valid=valid)", ", has_mask=True)")], "accepts_its_own_states", "it has no function valid"),
    "a check that refuses too much": (
        [("between(toy.jumps, 0, 2)", "between(toy.jumps, 1, 2)")], "accepts_its_own_states", "valid refuses a state that the"),
    "a check that forgets the last frame": (
        [("toy.length - 2 + over", "toy.length - 2")], "accepts_its_own_states", "an episode had ended there"),
    "a check that accepts an index": (
        [("between(toy.jumps, 0, 2)", "True"), ("cdef void reset(", "cdef int[3] TABLE = [0, 1, 1]\n\n\ncdef void reset("),
         (STEP, STEP + "    toy.frames += TABLE[toy.jumps]\n")], "is_safe_in_accepted_states", "SIGSEGV, after a state with"),
    "a check that accepts an infinite loop": (
        [("between(toy.noise, 0, 255)", "True"), (STEP, STEP + LOOP.format("noise > 255"))],
        "is_safe_in_accepted_states", "step did not return within 3 seconds: it has an infinite loop, after a state with"),
    "a crash at the very end": (  # of the process under test, not of this one
        [("GAME = Game(", f"{DYING}GAME = Game(")], "stays_in_its_state", "by SIGABRT"),
}


def broken(tmp_path, changes) -> str:
    """The path of a changed toy."""
    text = TOY_TEXT
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    path = tmp_path / "mine.pyx"
    path.write_text(text.replace('name="toy", title="Toy"', 'name="mine", title="Mine"'))
    return str(path)


def faults(game, rule, rules=None) -> str:
    """The fault for which `check` with these rules names `rule`."""
    with pytest.raises(envs_c.ContractError, match="game 'mine' breaks") as caught:
        testing.check(game, rules)
    (fault,) = re.findall(rf"^  {rule}: .*\n      (.*)", str(caught.value), re.MULTILINE)
    return fault


@pytest.mark.parametrize("breaker", BREAKERS)
def test_a_game_that_breaks_a_rule_is_named_with_it(fast_compiler, tmp_path, breaker):
    changes, rule, part = BREAKERS[breaker]
    assert part in faults(outside.load(broken(tmp_path, changes)), rule, [rule])


@pytest.mark.slow
@pytest.mark.parametrize("breaker", BREAKERS)
def test_all_rules_together_name_the_broken_one(fast_compiler, tmp_path, breaker):
    changes, rule, part = BREAKERS[breaker]
    assert part in faults(outside.load(broken(tmp_path, changes)), rule)


LOOPS = {  # a function: the change that makes it loop forever, the rule, the message
    "step": (STEP, STEP + LOOP.format("frames > 2"), "stays_in_its_state", "step did not return"),
    "reset": ("    toy.noise = rng_below(rng, 256)\n\n", LOOP.format("length") + "\n\n", "stays_in_its_state", "reset did not"),
    "observe": (OBSERVE, LOOP.format("frames > 2") + OBSERVE, "stays_in_its_state", "observe or mask did not return"),
    "draw": ("    if toy.figure == 1:", LOOP.format("frames > 2") + "    if toy.figure == 1:", "stays_in_its_buffers", "draw"),
    "valid": ("    return (toy.", LOOP.format("frames > 2") + "    return (toy.", "is_plain_data", "valid did not"),
}


@pytest.mark.parametrize("function", ["step", *(pytest.param(name, marks=pytest.mark.slow) for name in list(LOOPS)[1:])])
def test_an_infinite_loop_is_named_with_its_function_and_ends_the_test(fast_compiler, tmp_path, function):
    old, new, rule, part = LOOPS[function]
    game = outside.load(broken(tmp_path, [(old, new)]))
    (*kept, (named, fault)) = testing.verdicts(game, list(testing.RULES))
    assert named == rule and part in fault and "it has an infinite loop; not tested after this: " in fault
    assert all(fault is None for _, fault in kept)
    assert not processes_with(module_of(game))


@pytest.mark.skipif(sys.platform != "linux", reason="other systems end the child by its watchdog")
def test_a_killed_check_leaves_no_process_that_loops(fast_compiler, tmp_path):
    """The child is stopped, and its watchdog with it: only the system can end it."""
    broken(tmp_path, [LOOPS["step"][:2]])
    process = subprocess.Popen([sys.executable, "-m", "envs_c", "check", str(tmp_path / "mine.pyx")], stdout=subprocess.DEVNULL)
    (child,) = wait_for(lambda: processes_with(fast_compiler))
    os.kill(child, signal.SIGSTOP)
    try:
        process.kill()
        process.wait()
        wait_for(lambda: not processes_with(fast_compiler))
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)


def wait_for(found):
    """Wait until a function returns something; returns it."""
    deadline = time.monotonic() + 60
    while not (value := found()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return value


def processes_with(place: Path) -> list[int]:
    """The processes that test a game and have loaded its module from this place."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if b"envs_c.testing" in (folder / "cmdline").read_bytes() and str(place) in (folder / "maps").read_text():
                found.append(int(folder.name))
    return found


def test_damaged_memory_ends_the_test(fast_compiler, tmp_path):
    game = outside.load(broken(tmp_path, BREAKERS["a struct larger than its size"][0]))
    verdicts = list(testing.verdicts(game, ["describes_itself", "stays_in_its_state", "is_deterministic", "shares_nothing"]))
    assert [rule for rule, _ in verdicts] == ["describes_itself", "stays_in_its_state"]
    assert verdicts[1][1].endswith("; not tested after this: is_deterministic, shares_nothing")


def test_every_rule_that_rand_breaks_names_it(fast_compiler, tmp_path):
    game = outside.load(broken(tmp_path, BREAKERS["random numbers of its own"][0]))
    found = dict(testing.verdicts(game, ["stays_in_its_buffers", "shares_nothing", "is_plain_data"]))
    assert set(found.values()) == {causes.LIBRARY}


def test_a_game_whose_episodes_never_end_gives_a_warning(fast_compiler, tmp_path, capsys):
    path = broken(tmp_path, [("over[0] = toy.cell == toy.length - 1", "over[0] = False"),
                             ("toy.length - 2 + over", "toy.length - 1")])
    assert main(["check", path]) == 0
    printed = capsys.readouterr()
    assert len(re.findall("^ok ", printed.out, re.MULTILINE)) == len(testing.RULES)
    assert "warning: no episode of 'mine' ended in a million random steps: set over[0]" in printed.err


@pytest.mark.parametrize("changes", [
    pytest.param([], id="the toy", marks=pytest.mark.slow),  # test_every_rule.py tries each of its rules
    pytest.param(PLAIN, id="without the action in its state", marks=pytest.mark.slow),
    pytest.param([*PLAIN, GLOBAL, ("cdef int shared = 0", "cdef int[4] MOVE = [0, -1, 1, 2]"),
                  (STEP, STEP + "    toy.cell += MOVE[action]\n")], id="with a table of its actions"),
])
def test_a_game_that_keeps_all_rules_passes(fast_compiler, tmp_path, changes):
    reports = {}
    testing.check(outside.load(broken(tmp_path, changes)), report=reports.__setitem__)
    assert reports == dict.fromkeys(testing.RULES)


def test_rules_can_be_chosen_and_wrong_ones_are_refused(toy):
    reports = {}
    testing.check(toy, ["resets_everything"], report=reports.__setitem__)
    assert reports == {"resets_everything": None}
    with pytest.raises(envs_c.InvalidArgument, match="no rule 'nonsense'; the rules are describes_itself"):
        testing.check(toy, ["nonsense"])


def test_the_command_line_names_the_rules_that_a_game_breaks(fast_compiler, tmp_path, capsys):
    assert main(["check", broken(tmp_path, BREAKERS["a reset that forgets"][0])]) == 1
    printed = capsys.readouterr()
    assert "BROKEN  resets_everything" in printed.out and "differed from a new one" in printed.err
    assert main(["check", "cartpoel"]) == 2
    assert "did you mean cartpole?" in capsys.readouterr().err


PRINTING = [("from libc.stdint", "from libc.stdio cimport printf\nfrom libc.stdint"),
            (STEP, STEP + '    printf(b"at \\x1b[%d\\n", toy.frames)\n')]


def test_what_a_game_prints_is_shown_under_the_rule_that_ran(tmp_path, capfd):
    printed, rules = {}, ["stays_in_its_state", "is_deterministic"]
    testing.check(broken(tmp_path, PRINTING), rules, prints=printed.__setitem__)
    assert list(printed) == rules
    assert all(lines[0].startswith(r"at \x1b[") and lines[-1] == "..." and len(lines) == 21 for lines in printed.values())
    assert capfd.readouterr() == ("", "")


def test_what_a_game_prints_before_it_crashes_is_shown_too(tmp_path):
    crash = [PRINTING[0], (STEP, PRINTING[1][1] + "    (<int32_t*>NULL)[0] = 1\n")]
    printed = {}
    with pytest.raises(envs_c.ContractError, match="SIGSEGV"):
        testing.check(broken(tmp_path, crash), ["stays_in_its_state"], prints=printed.__setitem__)
    assert sys.platform != "linux" or printed["stays_in_its_state"][0].startswith(r"at \x1b[")
