"""The check of environments in a snapshot, before `set_state` copies them."""

from envs_c.game cimport Head, Io, valid_fn
from envs_c.valid cimport between, finite_between


cdef extern from "float.h":
    const double DBL_MAX


cdef enum:
    LONGEST = 2_000_000_000  # steps of an episode; int32 holds many more


cdef inline bint all_zero(const char* bytes, size_t size) noexcept nogil:
    cdef size_t k
    for k in range(size):
        if bytes[k]:
            return False
    return True


cdef inline bint can_exist(const char* state, size_t size, const Io* io, valid_fn valid) noexcept nogil:
    """True if an environment with the settings of `io` can have this state: its head and the game's struct.

    state: aligned as an environment's memory.
    size: bytes of the game's struct.
    valid: the game's function, or NULL: any struct.
    """
    cdef const Head* head = <const Head*>state
    if head.rng.stream % 2 == 0:  # rng_seed makes it odd; with others the numbers may be all the same
        return False
    if head.started == 0:  # only seeded
        return all_zero(state + sizeof(head.rng), sizeof(Head) - sizeof(head.rng) + size)
    if head.started != 1 or head.over > 1 or not finite_between(head.episode_return, -DBL_MAX, DBL_MAX):
        return False
    if not between(head.episode_length, 0, LONGEST) or not between(head.last_action, 0, io.num_actions - 1):
        return False
    return valid == NULL or valid(state + sizeof(Head), io.options, head.over)
