"""A row of games.toml, as cartridges.py reads it, as the console's Facts."""

from libc.stdint cimport uint32_t
from libc.string cimport memset

from envs_c.console.cartridge.facts cimport (
    BCD, BCD7, BIN, COUNTED, EIGHTH, FALLS, GLYPH, HI, HI3, HI10, LO, LO10, LOW1, LOW2, LOW3, NOW, ONCE, ONES, ONES3, SIGNED,
    STOCK, WHILE, WON8)
from envs_c.console.state cimport BLANKS, ENDS, LIVES, MODES, SCORES, SELECTS, STEPS, TESTS, End, Facts


cdef inline void fill_condition(End* end, tests):
    """A condition from its tests. Raises ValueError if there are too many."""
    cdef int k, v
    if len(tests) > TESTS:
        raise ValueError(f"an end of a game must have {TESTS} tests at most, not {len(tests)}")
    end.count = len(tests)
    for k, (addresses, values, before) in enumerate(tests):
        end.tests[k].address, end.tests[k].last, end.tests[k].before = min(addresses) - 128, max(addresses) - 128, before
        for v in values:
            end.tests[k].values[v >> 3] |= 1 << (v & 7)


cdef inline void fill(Facts* f, facts):
    """The facts of a game from its row. Raises ValueError if the row does not fit into them."""
    cdef int k, v
    memset(f, 0, sizeof(Facts))
    codes = {"bin": BIN, "bcd": BCD, "lo": LO, "hi": HI, "signed": SIGNED, "low3": LOW3, "hi3": HI3, "ones": ONES,
             "lo10": LO10, "hi10": HI10, "eighth": EIGHTH, "glyph": GLYPH, "low1": LOW1, "low2": LOW2,
             "ones3": ONES3, "bcd7": BCD7, "stock": STOCK, "won8": WON8}
    rules = {"now": NOW, "while": WHILE, "falls": FALLS, "once": ONCE, "counted": COUNTED}
    for name, most in (("steps", STEPS), ("select", SELECTS), ("modes", MODES), ("score", SCORES), ("lives", LIVES),
                       ("over", ENDS), ("points", ENDS), ("blank", BLANKS)):
        if len(facts[name]) > most:
            raise ValueError(f"a game's {name} must have {most} entries at most, not {len(facts[name])}")
    for k, (switches, action, frames, body) in enumerate(facts["steps"]):
        f.steps[k].switches, f.steps[k].action, f.steps[k].frames, f.steps[k].body = switches, action, frames, body
    f.step_count = len(facts["steps"])
    for k, v in enumerate(facts["select"]):
        f.select[k] = v - 128
    f.selects = len(facts["select"])
    for k, (mode, *values) in enumerate(facts["modes"]):
        f.modes[k] = mode
        for v in range(f.selects):
            f.values[k][v] = values[v]
    f.mode_count = len(facts["modes"])
    for k, v in enumerate(facts["actions"]):
        f.actions[k] = v
    f.idle, f.instructions = facts["idle"], facts["instructions"]
    f.ohm_most = facts["ohm_most"]
    f.paddles, f.last_line, f.top, f.height = facts["paddles"], facts["last_line"], facts["top"], facts["height"]
    for v in facts["ignored"]:
        f.ignored |= <uint32_t>1 << v
    f.no_comb, f.right_port, f.older_rows = not facts["comb"], facts["right_port"], facts["older_rows"]
    for k, (address, coding, factor) in enumerate(facts["score"]):
        f.score[k].address, f.score[k].coding, f.score[k].multiplier = address - 128, codes[coding], factor
    f.scores, f.wrap, f.most_reward = len(facts["score"]), facts["wrap"], facts["most_reward"]
    f.holes = facts["holes"]
    f.points_count, f.scores_small = len(facts["points"]), facts["scores_small"]
    for k, v in enumerate(facts["points"]):
        f.points[k] = v
    for k, tests in enumerate(facts["blank"]):
        fill_condition(&f.blank[k], tests)
    f.blanks = len(facts["blank"])
    for k, (address, coding, factor) in enumerate(facts["lives"]):
        f.lives[k].address, f.lives[k].coding, f.lives[k].multiplier = address - 128, codes[coding], factor
    f.lives_terms, f.lives_more = len(facts["lives"]), facts["lives_more"]
    f.lives_rule, f.lives_first = rules[facts["lives_rule"]], facts["lives_first"]
    fill_condition(&f.lives_tests, facts["lives_tests"])
    for k, tests in enumerate(facts["over"]):
        fill_condition(&f.ends[k], tests)
    f.lives_stay = facts["lives_stay"]
    f.ends_count = len(facts["over"])
