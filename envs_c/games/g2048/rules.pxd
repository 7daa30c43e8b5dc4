"""The moves of 2048, in two implementations.

play_any works on any board. It pushes four lines at once, in integers of 32 bits that hold one cell of each line.
play_small looks lines up in tables of all 65,536 lines with exponents up to 15, four bits each. It is two and a half times as
fast. It is used as long as no tile is larger than 2^14; few games get larger ones.
"""

from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy

from envs_c.rng cimport Rng, rng_below


cdef enum:
    UP, RIGHT, DOWN, LEFT                   # the odd ones push along rows
    SIDE = 4
    ONES = 0x01010101, TOPS = 0x80808080    # lowest and highest bit of each byte

cdef extern from *:
    """
    // The index is a line: four exponents of 4 bits, the first cell in the lowest bits.
    static unsigned short PUSHED[2][65536];     // the line after a push towards the first cell, and towards the last
    static unsigned GAINED[65536];              // points of a push, the same in both directions
    static unsigned char WAYS[65536];           // bit 0: a push towards the first cell is legal; bit 1: towards the last
    #define NIBBLES 0x1111111111111111ULL
    """
    uint16_t[2][65536] PUSHED
    uint32_t[65536] GAINED
    uint8_t[65536] WAYS
    const uint64_t NIBBLES


ctypedef struct Board:
    uint8_t[16] cells  # exponents of 2, row by row; 0: empty
    uint8_t legal      # bits UP .. LEFT


cdef inline uint32_t filled(uint32_t cells) noexcept nogil:
    """255 in each byte of `cells` that is not 0. All bytes must be less than 128."""
    cdef uint32_t tops = (cells + (TOPS - ONES)) & TOPS
    return (tops << 1) - (tops >> 7)


cdef inline uint32_t choose(uint32_t mask, uint32_t yes, uint32_t no) noexcept nogil:
    return no ^ ((yes ^ no) & mask)


cdef inline void close_up(uint32_t* line, int at) noexcept nogil:
    """If line[at] is empty, move the cells after it by one towards the front."""
    cdef uint32_t mask = filled(line[at])
    cdef int k
    for k in range(at, SIDE - 1):
        line[k] = choose(mask, line[k], line[k + 1])
    line[SIDE - 1] &= mask


cdef inline uint32_t merge(uint32_t* line, int at) noexcept nogil:
    """Merge line[at] with line[at + 1] if they are equal. Returns 255 in the bytes of the lines that merged."""
    cdef uint32_t mask = filled(line[at]) & ~filled(line[at] ^ line[at + 1])
    cdef int k
    line[at] += mask & ONES
    for k in range(at + 1, SIDE - 1):
        line[k] = choose(mask, line[k + 1], line[k])
    line[SIDE - 1] &= ~mask
    return mask


cdef inline uint32_t points(uint32_t merged, uint32_t values) noexcept nogil:
    """The sum of 2^exponent over the bytes of `values` whose byte of `merged` is 255."""
    cdef uint32_t total = 0
    cdef int k
    values &= merged
    for k in range(0, 32, 8):
        total += (<uint32_t>1 << (values >> k & 255)) & ~<uint32_t>1
    return total


cdef inline uint32_t push(uint32_t* line) noexcept nogil:
    """Push four lines at once towards line[0]. Byte k of each integer belongs to line k. Returns the points."""
    cdef uint32_t merged, total = 0
    cdef int at
    close_up(line, 0)
    close_up(line, 0)
    close_up(line, 0)
    close_up(line, 1)
    close_up(line, 1)
    close_up(line, 2)
    for at in range(SIDE - 1):
        merged = merge(line, at)
        total += points(merged, line[at])
    return total


cdef inline void transpose(uint32_t* line) noexcept nogil:
    """Swap rows and columns: byte k of line[i] becomes byte i of line[k]."""
    cdef uint32_t a, b, c, d
    a = (line[0] & 0x00FF00FF) | (line[1] & 0x00FF00FF) << 8
    b = (line[0] >> 8 & 0x00FF00FF) | (line[1] & <uint32_t>0xFF00FF00)
    c = (line[2] & 0x00FF00FF) | (line[3] & 0x00FF00FF) << 8
    d = (line[2] >> 8 & 0x00FF00FF) | (line[3] & <uint32_t>0xFF00FF00)
    line[0] = (a & 0xFFFF) | c << 16
    line[1] = (b & 0xFFFF) | d << 16
    line[2] = a >> 16 | (c & <uint32_t>0xFFFF0000)
    line[3] = b >> 16 | (d & <uint32_t>0xFFFF0000)


cdef inline void turn(uint32_t* line, bint across, bint back) noexcept nogil:
    """Swap rows and columns if `across`, then reverse the order if `back`. No branches: a CPU cannot predict actions."""
    cdef uint32_t[4] other = [line[0], line[1], line[2], line[3]]
    cdef uint32_t mask = -<uint32_t>across
    cdef int k
    transpose(other)
    for k in range(SIDE):
        line[k] = choose(mask, other[k], line[k])
    mask = -<uint32_t>back
    for k in range(SIDE):
        other[k] = choose(mask, line[SIDE - 1 - k], line[k])
    memcpy(line, other, 16)


cdef inline int ways(const uint32_t* line) noexcept nogil:
    """Whether tiles can move towards line[0] (bit 0), and towards line[3] (bit 1)."""
    cdef uint32_t here, there, forth = 0, back = 0
    cdef int k
    for k in range(SIDE - 1):
        here, there = filled(line[k]), filled(line[k + 1])
        forth |= there & ~here
        back |= here & ~there
        here &= ~filled(line[k] ^ line[k + 1])  # equal tiles
        forth |= here
        back |= here
    return (forth != 0) | (back != 0) << 1


cdef inline void add_tile(uint32_t* line, Rng* rng) noexcept nogil:
    """Put a 2 or a 4 into an empty cell. There must be one."""
    cdef uint32_t[4] empty  # byte k: number of empty cells among the row's first k + 1
    cdef uint32_t found, tile
    cdef int row, total = 0, chosen
    for row in range(SIDE):
        empty[row] = (~filled(line[row]) & ONES) * ONES
        total += empty[row] >> 24
    chosen = 1 + <int>rng_below(rng, total)
    tile = 1 + (rng_below(rng, 10) == 0)
    for row in range(SIDE):
        found = ~filled(empty[row] ^ <uint32_t>chosen * ONES)  # the first byte of 255 is the chosen cell
        found = (found & -found) * tile
        line[row] |= found if 0 < chosen <= <int>(empty[row] >> 24) else 0
        chosen -= empty[row] >> 24


cdef inline void keep(Board* board, uint32_t* line) noexcept nogil:
    """Store the rows and the legal moves."""
    cdef int rows, columns
    memcpy(board.cells, line, 16)
    rows = ways(line)
    transpose(line)
    columns = ways(line)
    board.legal = (rows & 1) << UP | (rows >> 1) << DOWN | (columns & 1) << LEFT | (columns >> 1) << RIGHT


cdef inline uint64_t packed(const uint8_t* cells) noexcept nogil:
    """Pack eight bytes, each at most 15, into four bits each."""
    cdef uint64_t word
    memcpy(&word, cells, 8)
    word = (word | word >> 4) & <uint64_t>0x00FF00FF00FF00FF
    word = (word | word >> 8) & <uint64_t>0x0000FFFF0000FFFF
    return (word | word >> 16) & <uint64_t>0xFFFFFFFF


cdef inline void unpack(uint64_t word, uint8_t* cells) noexcept nogil:
    word = (word | word << 16) & <uint64_t>0x0000FFFF0000FFFF
    word = (word | word << 8) & <uint64_t>0x00FF00FF00FF00FF
    word = (word | word << 4) & <uint64_t>0x0F0F0F0F0F0F0F0F
    memcpy(cells, &word, 8)


cdef inline uint64_t transposed(uint64_t board) noexcept nogil:
    """Swap rows and columns of 4x4 cells of four bits."""
    board = ((board & <uint64_t>0xF0F00F0FF0F00F0F) | (board & <uint64_t>0x0000F0F00000F0F0) << 12
             | (board & <uint64_t>0x0F0F00000F0F0000) >> 12)
    return ((board & <uint64_t>0xFF00FF0000FF00FF) | (board & <uint64_t>0x00FF00FF00000000) >> 24
            | (board & <uint64_t>0x00000000FF00FF00) << 24)


cdef inline uint64_t empty_cells(uint64_t board) noexcept nogil:
    """1 in the four bits of each empty cell, 0 in the others."""
    board |= board >> 1
    board |= board >> 2
    return ~board & NIBBLES


cdef inline int all_ways(uint64_t board) noexcept nogil:
    """WAYS of all four rows together."""
    return (WAYS[board & 0xFFFF] | WAYS[board >> 16 & 0xFFFF] | WAYS[board >> 32 & 0xFFFF] | WAYS[board >> 48])


cdef inline uint32_t play_small(Board* board, int action, Rng* rng) noexcept nogil:
    """Make a legal move with the tables, and add the new tile; returns the points. No tile may be larger than 2^14."""
    cdef uint64_t cells = packed(board.cells) | packed(board.cells + 8) << 32, found
    cdef uint64_t across = -<uint64_t>(action & 1)  # all bits set if the move goes along rows
    cdef const uint16_t* pushed = PUSHED[action == RIGHT or action == DOWN]
    cdef uint32_t gained
    cdef int rows, columns, chosen
    found = transposed(cells)
    cells = found ^ ((cells ^ found) & across)
    gained = (GAINED[cells & 0xFFFF] + GAINED[cells >> 16 & 0xFFFF] + GAINED[cells >> 32 & 0xFFFF] + GAINED[cells >> 48])
    cells = (<uint64_t>pushed[cells & 0xFFFF] | <uint64_t>pushed[cells >> 16 & 0xFFFF] << 16
             | <uint64_t>pushed[cells >> 32 & 0xFFFF] << 32 | <uint64_t>pushed[cells >> 48] << 48)
    found = transposed(cells)
    cells = found ^ ((cells ^ found) & across)
    found = empty_cells(cells) * NIBBLES    # in each cell: the number of empty cells up to it; after a move never 16
    chosen = 1 + <int>rng_below(rng, <uint32_t>(found >> 60))
    found = empty_cells(found ^ <uint64_t>chosen * NIBBLES)  # the first 1 is the chosen cell
    cells |= (found & -found) << (rng_below(rng, 10) == 0)
    unpack(cells & <uint64_t>0xFFFFFFFF, board.cells)
    unpack(cells >> 32, board.cells + 8)
    rows, columns = all_ways(cells), all_ways(transposed(cells))
    board.legal = (columns & 1) << UP | (columns >> 1) << DOWN | (rows & 1) << LEFT | (rows >> 1) << RIGHT
    return gained


cdef inline uint32_t play_any(Board* board, int action, Rng* rng) noexcept nogil:
    """Make a legal move on any board, and add the new tile; returns the points."""
    cdef bint across = action & 1, back = action == RIGHT or action == DOWN
    cdef uint32_t[4] line
    cdef uint32_t gained
    memcpy(line, board.cells, 16)
    turn(line, across, back)
    gained = push(line)
    turn(line, False, back)  # undo the turn: each half of `turn` is its own inverse
    turn(line, across, False)
    add_tile(line, rng)
    keep(board, line)
    return gained


cdef inline bint is_small(const Board* board) noexcept nogil:
    """Whether no tile is larger than 2^14."""
    cdef uint64_t[2] words
    memcpy(words, board.cells, 16)
    words[0] = (words[0] + <uint64_t>0x7171717171717171) | (words[1] + <uint64_t>0x7171717171717171)
    return not words[0] & <uint64_t>0x8080808080808080


cdef inline void make_tables() noexcept nogil:
    """Fill the tables with `push`, one line at a time, in the lowest byte of each integer."""
    cdef uint32_t[4] line
    cdef int cells, way, k
    cdef uint32_t after
    for cells in range(65536):
        WAYS[cells] = 0
        for way in range(2):
            for k in range(SIDE):
                line[k if way == 0 else SIDE - 1 - k] = cells >> 4 * k & 15
            GAINED[cells] = push(line)
            after = 0
            for k in range(SIDE):
                after |= line[k if way == 0 else SIDE - 1 - k] << 4 * k
            PUSHED[way][cells] = <uint16_t>after  # wrong for lines with two 15s, which play_small does not meet
            WAYS[cells] |= (after != <uint32_t>cells) << way
