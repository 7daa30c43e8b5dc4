"""A game without `valid`, for tests of tools/crafted_states.py: a struct that no game has written does harm.

Rules. All places are 0 and stay 0. If one of them is not, then a step does what the options say: `crash` reads far away,
`hang` never returns, `strange` gives a reward that is not a number, and `stray` writes into the next environment.
"""

from libc.stdint cimport int32_t, uint8_t
from libc.string cimport memset

from envs_c.game cimport Game, Io, run_chunk, state_stride
from envs_c.game import Option
from envs_c.rng cimport Rng
from envs_c.screen cimport Canvas


cdef enum:
    PLACES = 16


ctypedef struct Fragile:
    uint8_t crash, hang, strange, stray
    int32_t[PLACES] place


cdef void reset(void* state, const double* options, Rng* rng) noexcept nogil:
    cdef Fragile* game = <Fragile*>state
    memset(game, 0, sizeof(Fragile))
    game.crash, game.hang, game.strange, game.stray = (
        <uint8_t>options[0], <uint8_t>options[1], <uint8_t>options[2], <uint8_t>options[3])


cdef float step(void* state, int action, Rng* rng, bint* over) noexcept nogil:
    cdef Fragile* game = <Fragile*>state
    cdef int k, wrong = 0
    cdef const int32_t* nowhere = NULL
    for k in range(PLACES):
        wrong += game.place[k] != 0
    if game.crash and wrong:
        wrong += nowhere[wrong]
    while game.hang and wrong:
        wrong = -wrong
    if game.stray and wrong:
        (<uint8_t*>state)[state_stride(sizeof(Fragile))] += 1
    return 1e38 * 1e38 if game.strange and wrong else 0


cdef void observe(const void* state, void* out) noexcept nogil:
    (<uint8_t*>out)[0] = 0


cdef void backdrop(const double* options, Canvas* canvas) noexcept nogil:
    pass


cdef void draw(const void* state, Canvas* canvas) noexcept nogil:
    pass


cdef void chunk(char* states, Io* io, int lo, int hi) noexcept nogil:
    run_chunk(reset, step, observe, draw, NULL, sizeof(Fragile), states, io, lo, hi)


FLAG = Option(0, 0, 1, "1: do it")
GAME = Game(
    name="fragile", title="Fragile", version=1, summary="Do harm.", actions=("NOOP", "STEP"), feature_shape=(1,),
    feature_dtype="uint8", feature_low=0, feature_high=0, screen=(168, 168),
    options={"crash": FLAG, "hang": FLAG, "strange": FLAG, "stray": FLAG},
).bind(chunk, backdrop, draw, sizeof(Fragile))
