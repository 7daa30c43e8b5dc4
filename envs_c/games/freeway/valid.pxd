"""The check of a restored game of Freeway."""

from envs_c.games.freeway.rules cimport (
    BOTTOM, CHANGE_PACES, FLAP, FRAMES, HARMLESS_CARS, KIND, LANES, PADDED, REST, SLOWEST, STUN, STUNNED, TOP, WON, Freeway,
    changes_of, first_pace, move_of, pause_of, rules_of)
from envs_c.stamp cimport WIDTH
from envs_c.valid cimport all_between, between


cdef inline bint has_lanes(const Freeway* game, int number) noexcept nogil:
    """True if the lanes can be those of this game. number: the cartridge's game, less 1."""
    cdef int lane, rest = PADDED - LANES
    cdef bint changing = game.changing & CHANGE_PACES != 0
    for lane in range(LANES):
        if game.kind[lane] != KIND[number & 3][lane]:
            return False
        if game.pace[lane] != first_pace(game.rules, number, lane) and (not changing or game.pace[lane] > SLOWEST):
            return False
        if game.pause[lane] != pause_of(game.pace[lane]) or game.move[lane] != move_of(lane, game.pace[lane]):
            return False
    return (all_between(game.x, LANES, 0, WIDTH - 1) and all_between(game.wait, LANES, 0, SLOWEST - 1)
            and all_between(game.x + LANES, rest, 0, 0) and all_between(game.wait + LANES, rest, 0, 0)
            and all_between(game.pause + LANES, rest, 0, 0) and all_between(game.move + LANES, rest, 0, 0))


cdef inline bint valid(const void* state, const double* options, bint over) noexcept nogil:
    """True if lanes and chicken can be those of one game."""
    cdef const Freeway* game = <const Freeway*>state
    cdef int number = <int>options[0] - 1
    return (game.rules == rules_of(options) and game.changing == changes_of(game.rules, number)
            and game.difficulty == (options[1] != 0.0) and has_lanes(game, number)
            and between(game.frame, 0, FRAMES - 1 + over) and between(game.y, BOTTOM, TOP)
            and game.score * (TOP + 1 - BOTTOM) + game.y - BOTTOM <= game.frame  # the chicken walks 1 pixel a frame
            and (game.timer == 0 or (between(game.timer, STUNNED + 1, STUNNED + STUN) and not game.rules & HARMLESS_CARS)
                 or between(game.timer, WON + 1, WON + REST))
            and game.unseen <= (game.score > 0) and (game.fell == 0 or between(game.fell, BOTTOM, TOP))
            and game.pose <= FLAP and game.touch <= 1 and game.late <= 1 and game.register != 0
            and game.met <= (0 if game.rules & HARMLESS_CARS else 1))
