"""The check of a restored game of Asterix."""

from envs_c.games.asterix.rules cimport (
    AGAIN, BONUS, ENTRY, EXIT, FAST, HARMLESS_LYRES, LANES, LAST_STAGE, LEFT_END, LYRE, MOST_LIVES, OBELIX, POINTS, RIGHT_END,
    STAGE, STUN, TREASURE, Asterix, rules_of, stage_after)
from envs_c.valid cimport between


cdef enum:
    MOST_BONUS = 5                  # of `bonus`
    HIGHEST_SCORE = 2_000_000_000   # int32 holds some more
    FASTEST = 6                     # pixels a frame of the hero
    KINDS = POINTS + 6


cdef inline bint has_score(const Asterix* game) noexcept nogil:
    """True if the next life comes at the points that follow this score."""
    cdef int k, next_bonus = 0
    if game.bonus > MOST_BONUS or not between(game.next_bonus, 0, HIGHEST_SCORE):
        return False
    for k in range(game.bonus + 1):
        next_bonus += BONUS[k]
    if game.bonus == MOST_BONUS and game.next_bonus > next_bonus:
        next_bonus += (game.next_bonus - next_bonus) // BONUS[MOST_BONUS] * BONUS[MOST_BONUS]
    return game.next_bonus == next_bonus and between(game.score, next_bonus - BONUS[game.bonus], next_bonus - 1)


cdef inline bint has_things(const Asterix* game) noexcept nogil:
    """True if all things are in their lanes, and only points wait."""
    cdef int i
    for i in range(LANES):
        if game.kind[i] >= KINDS or (game.kind[i] >= POINTS) != (game.wait[i] > 0):
            return False
        if not between(game.x[i], ENTRY if i & 1 else ENTRY - 1, EXIT + 2 if i & 1 else EXIT - 1):
            return False
    return True


cdef inline bint has_met_obelix(const Asterix* game, const double* options) noexcept nogil:
    """True if Obelix was met in his first stage. If that begins in a stun, he comes when the stun has ended."""
    if game.stage == OBELIX and game.stun and options[1] < OBELIX and game.taken == 0 and game.met_obelix == 0:
        return True
    return game.met_obelix == (game.stage >= OBELIX)


cdef inline bint has_old_look(const Asterix* game) noexcept nogil:
    """True if no lane looks as in the stage before, or the last treasure of that stage was just taken."""
    return game.old_lanes == 0 or (
        game.old_lanes < LANES and game.old_stage <= LAST_STAGE and game.stage == stage_after(game.old_stage)
        and game.taken == 0 and game.kind[game.old_lanes] >= POINTS)


cdef inline bint valid(const void* state, const double* options, bint over) noexcept nogil:
    """True if hero, things and counts can be those of one game."""
    cdef const Asterix* game = <const Asterix*>state
    cdef int least = 2 if game.stun == 1 else 1  # lives; the last one ends with a stun of 1
    return (game.rules == rules_of(options) and game.stun <= (0 if game.rules & HARMLESS_LYRES else STUN)
            and between(game.lives, 0 if over else least, MOST_LIVES) and has_score(game) and has_things(game)
            and between(game.hero, LEFT_END - FASTEST - (AGAIN if game.stun else 0), RIGHT_END + FASTEST)
            and game.lane < LANES and game.right <= 1 and game.late <= LANES and game.again <= (game.stun == STUN)
            and between(game.stage, min(<int>options[1], FAST), LAST_STAGE) and game.taken < STAGE
            and has_met_obelix(game, options) and has_old_look(game)
            and (game.title == 0 or (game.stage == OBELIX and game.stun == 0))
            and (game.touch == 0 or (game.touch == 1 and game.kind[game.lane] in (LYRE, TREASURE))))
