"""Random numbers for one environment: PCG32 (M. O'Neill, "PCG", 2014, pcg-random.org), 16 bytes of state.

Every environment has a generator of its own, seeded from (seed, index of the environment). Its numbers do not depend on
threads, on batches or on other environments. Its state is part of the environment's state, so snapshots contain it.

For games: `rng_below` for integers, `rng_float` and `rng_double` for fractions, `rng_chance` for events, `rng_next` for bits.
"""

from libc.stdint cimport uint32_t, uint64_t


ctypedef struct Rng:
    uint64_t state
    uint64_t stream  # odd


cdef inline uint64_t rng_mix(uint64_t z) noexcept nogil:
    """The finalizer of SplitMix64: a bijection of 64 bits in which each input bit affects each output bit."""
    z = (z ^ (z >> 30)) * <uint64_t>0xBF58476D1CE4E5B9
    z = (z ^ (z >> 27)) * <uint64_t>0x94D049BB133111EB
    return z ^ (z >> 31)


cdef inline uint32_t rng_next(Rng* rng) noexcept nogil:
    """32 random bits."""
    cdef uint64_t old = rng.state
    cdef uint32_t bits = <uint32_t>(((old >> 18) ^ old) >> 27)
    cdef uint32_t turn = <uint32_t>(old >> 59)
    rng.state = old * <uint64_t>6364136223846793005 + rng.stream
    return (bits >> turn) | (bits << ((32 - turn) & 31))


cdef inline void rng_seed(Rng* rng, uint64_t seed, uint64_t index) noexcept nogil:
    """Seed the generator of environment `index`."""
    cdef uint64_t key = rng_mix(seed + <uint64_t>0x9E3779B97F4A7C15)
    rng.stream = (rng_mix(key ^ index) << 1) | 1
    rng.state = rng_mix(key + rng.stream)
    rng_next(rng)


cdef inline uint32_t rng_below(Rng* rng, uint32_t bound) noexcept nogil:
    """An integer in 0 .. bound-1, for bound >= 1. By multiplication and shift: the bias is less than bound / 2^32."""
    return <uint32_t>((<uint64_t>rng_next(rng) * bound) >> 32)


cdef inline float rng_float(Rng* rng) noexcept nogil:
    """A float32 in [0, 1) with 24 random bits."""
    return <float>(rng_next(rng) >> 8) * <float>(1.0 / 16777216.0)


cdef inline double rng_double(Rng* rng) noexcept nogil:
    """A float64 in [0, 1) with 53 random bits."""
    cdef uint64_t high = rng_next(rng) >> 5
    cdef uint64_t low = rng_next(rng) >> 6
    return <double>((high << 26) | low) * (1.0 / 9007199254740992.0)


cdef inline bint rng_chance(Rng* rng, float probability) noexcept nogil:
    """True with this probability. Uses one call of rng_float."""
    return rng_float(rng) < probability
