"""The shapes of Seaquest's figures. Picture and collisions read the same rows, since figures collide pixel by pixel."""

from libc.stdint cimport uint8_t

from envs_c.games.seaquest.rules cimport DIES, EMPTIED, Seaquest, last_chance, screw

cdef extern from *:
    """
    static const unsigned char SHARK[2][7] = {
        {0x08, 0x0C, 0xDF, 0x7F, 0x7F, 0xD8, 0x10}, {0x08, 0x8C, 0xDF, 0x7F, 0x7E, 0xDB, 0x91}};
    static const unsigned char SUBMARINE[3][11] = {
        {0x04, 0x0C, 0x0C, 0x0C, 0x0C, 0x3F, 0xFF, 0xFD, 0x7F, 0xFE, 0x80},
        {0x04, 0x0C, 0x0C, 0x0C, 0x0C, 0xBF, 0x7F, 0xFD, 0xFF, 0x7E, 0x80},
        {0x04, 0x0C, 0x0C, 0x0C, 0x0C, 0xBF, 0xFF, 0x7D, 0xFF, 0xFE, 0x00}};
    static const unsigned char SWIMMER[3][14] = {
        {0x00, 0x20, 0x10, 0x00, 0x08, 0x02, 0x02, 0x0C, 0x0F, 0x18, 0xF0, 0x20, 0x40, 0x80},
        {0x20, 0x00, 0x20, 0x10, 0x00, 0x02, 0x02, 0x0C, 0x0F, 0x18, 0x30, 0x60, 0x80, 0x00},
        {0x20, 0x20, 0x00, 0x08, 0x08, 0x02, 0x02, 0x0C, 0x0F, 0x18, 0xF0, 0x20, 0x40, 0x80}};
    static const unsigned char SHOT[4] = {0x3C, 0x00, 0x00, 0xF0};
    static const unsigned char BURST[3][11] = {
        {0, 0, 0, 0, 0, 0x10, 0x28, 0x10}, {0, 0, 0, 0x44, 0x10, 0, 0x28, 0, 0x10, 0x44},
        {0, 0, 0x82, 0x10, 0, 0, 0x54, 0, 0, 0x10, 0x82}};
    static const unsigned char TORPEDO_BITS[1] = {0xFF};
    // Made by prepare(), then constant:
    static unsigned char MIRROR[256];               // [bits]: bits from right to left
    """
    const uint8_t[2][7] SHARK
    const uint8_t[3][11] SUBMARINE
    const uint8_t[3][14] SWIMMER
    const uint8_t[4] SHOT
    const uint8_t[3][11] BURST
    const uint8_t[1] TORPEDO_BITS
    uint8_t[256] MIRROR


cdef inline const uint8_t* hull(const Seaquest* game) noexcept nogil:
    """The rows of the submarine or of its remains."""
    if game.phase == DIES and game.sinks <= EMPTIED:
        return &BURST[(game.sinks <= 12) + (game.sinks <= 10)][0]
    return &SUBMARINE[screw(game)][0]


cdef inline int foam(const Seaquest* game) noexcept nogil:
    """The rows of the water's edge that are lighter: bit k is row 45 + k.

    They are the bits of the random number that the frame began with.
    """
    cdef int chance = game.chance if game.frame & 7 else last_chance(game.chance)
    cdef int rows = MIRROR[chance]
    return (rows << 1 | rows >> 7 | rows << 9) & 1023


cdef inline void make_mirror() noexcept nogil:
    """Fill MIRROR."""
    cdef int bits, k
    for bits in range(256):
        MIRROR[bits] = 0
        for k in range(8):
            MIRROR[bits] |= (bits >> k & 1) << (7 - k)
