"""Go, on boards of 5x5 to 19x19, by area scoring and positional superko.

Board. Black and White move in turn, Black first, on the points of a square board, empty at first. Stones of one colour
that touch along lines form a chain; the empty points beside a chain are its liberties. A chain with one liberty is in
atari.

Moves. A move puts a stone of one's colour on an empty point, or passes. Chains of the other colour that are without
liberties then are captured: they leave the board. Two moves are forbidden:
  - suicide: after captures, one's own chain would be without liberties;
  - superko: the board would look, stone by stone, as it did after any earlier move of the game. Whose turn it is does
    not count, and a pass is never forbidden.
The mask says what is allowed. An action that is not counts as a pass.

End. Two passes in a row end the game, and so does its move number 2 * size * size, where passes count. A side's area is
its stones and the empty points from which one reaches only its stones along empty ones; no stone is taken for dead. Black
wins if its area exceeds White's by more than `komi`, White if by less; there may be a draw.

Reward. Nothing until the end, then 1 for a win, -1 for a loss, 0 for a draw.

Opponents. The agent has the colour of option `colour` (0 black, 1 white, 2 drawn anew for each game), an opponent the
other: a step is the agent's move and the opponent's answer. By option `opponent`:
  0  random: any allowed point, all alike likely, those that fill its own eyes too;
  1  greedy: of the first of these that has an allowed point, any, all alike likely: a capture of as many stones as can
     be had by one move; a liberty of an own chain in atari that gives it two or more; a point that is not an eye of its
     own, that is not all of whose neighbours are its own stones;
  2  none: the agent moves for both sides. The reward is then that of who moved last; `colour` plays no part.
An opponent that finds no such point passes.
"""

from libc.stdint cimport int16_t, uint8_t, uint64_t
from libc.string cimport memcpy, memset

from envs_c.game cimport Game, Io, run_chunk
from envs_c.games.go.opponents cimport GREEDY, NONE, RANDOM, answer
from envs_c.games.go.rules cimport find_banned, find_legal, move, result
from envs_c.games.go.sets cimport BLACK, WHITE, WORDS, Go
from envs_c.rng cimport Rng, rng_below
from envs_c.screen cimport SMALL, Canvas, canvas_rect, canvas_row, canvas_swap, grey_of
from envs_c.game import Option, TwoPlayers


cdef enum:
    DRAWN = 2               # option `colour`
    SIDE = 2 * SMALL        # of the screen, pixels
    VECTORS = 96            # bytes of a row, rounded up to whole vectors
    WOOD = 0xDCB35C, LINE = 0x8A6A30, INK = 0x101010, PAPER = 0xF8F8F8

cdef extern from *:
    """
    #define ONES 0x0101010101010101ULL      // 1 in each byte
    #define SEVENS 0x7F7F7F7F7F7F7F7FULL    // 127 in each byte
    #define DIAGONAL 0x8040201008040201ULL  // bit k in byte k
    """
    const uint64_t ONES, SEVENS, DIAGONAL


cdef inline void begin(Go* go, Rng* rng, int n) noexcept nogil:
    """The opponent's first move, if it has Black, and what is legal after it."""
    find_legal(go, n)
    if go.opponent != NONE and go.agent == WHITE:
        move(go, answer(go, rng, n), n)


cdef inline float turn(Go* go, int action, Rng* rng, bint* over, int n) noexcept nogil:
    """The agent's move and the opponent's answer, on a board of n words."""
    cdef int mover = go.to_play
    cdef bint allowed = action < go.size * go.size and go.word[action >> 6].legal >> (action & 63) & 1
    over[0] = move(go, action if allowed else -1, n)
    if not over[0] and go.opponent != NONE:
        over[0] = move(go, answer(go, rng, n), n)
    find_banned(go, n)
    return result(go, mover, n) if over[0] else 0.0


cdef void reset(void* state, const double* options, Rng* rng) noexcept nogil:
    cdef Go* go = <Go*>state
    cdef int point, size = <int>options[0]
    memset(go, 0, sizeof(Go))
    go.size, go.komi, go.opponent = <uint8_t>size, options[1], <uint8_t>options[2]
    go.agent = <uint8_t>(rng_below(rng, 2) if options[3] == DRAWN else options[3])
    go.limit = <int16_t>(2 * size * size)
    go.words = <uint8_t>((size * size + 63) // 64)
    for point in range(size * size):
        go.word[point >> 6].board |= <uint64_t>1 << (point & 63)
        go.word[point >> 6].inner |= <uint64_t>(point % size > 0) << (point & 63)
    if go.words == 1:
        begin(go, rng, 1)
    elif go.words == 2:
        begin(go, rng, 2)
    else:
        begin(go, rng, max(3, go.words))


cdef float step(void* state, int action, Rng* rng, bint* over) noexcept nogil:
    cdef Go* go = <Go*>state
    if go.words == 1:  # each of the three is compiled by itself; in the first two, sets are registers
        return turn(go, action, rng, over, 1)
    if go.words == 2:
        return turn(go, action, rng, over, 2)
    return turn(go, action, rng, over, max(3, go.words))


cdef inline void write_bits(uint64_t bits, uint8_t* out, int count) noexcept nogil:
    """The lowest bits as bytes of 0 and 1."""
    cdef int k
    cdef uint64_t eight
    for k in range(count >> 3):
        eight = ((bits & 255) * ONES) & DIAGONAL
        eight = ((eight + SEVENS) >> 7) & ONES
        memcpy(out + 8 * k, &eight, 8)
        bits >>= 8
    for k in range(count & ~7, count):
        out[k] = bits & 1
        bits >>= 1


cdef void observe(const void* state, void* out) noexcept nogil:
    """Planes of size x size: own stones, the other's, stones in atari, points that superko forbids, all 1 if Black is to play.

    Own stones are those of who is to play.
    """
    cdef const Go* go = <const Go*>state
    cdef uint8_t* plane = <uint8_t*>out
    cdef int i, area = go.size * go.size, count
    for i in range(go.words):
        count = min(64, area - 64 * i)
        write_bits(go.word[i].stones[go.to_play], plane + 64 * i, count)
        write_bits(go.word[i].stones[1 - go.to_play], plane + area + 64 * i, count)
        write_bits(go.word[i].atari, plane + 2 * area + 64 * i, count)
        write_bits(go.word[i].banned, plane + 3 * area + 64 * i, count)
    memset(plane + 4 * area, go.to_play == BLACK, area)


cdef inline int cell_of(int size) noexcept nogil:
    """Grey pixels a point; some are left on all sides of the board."""
    return (SMALL - 2) // size


cdef inline int start_of(int size) noexcept nogil:
    """x and y of the top left point's cell, in grey pixels."""
    return (SMALL - size * cell_of(size)) // 2


cdef void backdrop(const double* options, Canvas* canvas) noexcept nogil:
    """Wood and lines. All edges are even, so that they are those of grey pixels, too."""
    cdef int k, size = <int>options[0], cell = 2 * cell_of(size), middle = 2 * start_of(size) + (cell - 1) // 4 * 2
    canvas_rect(canvas, 0, 0, SIDE, SIDE, WOOD)
    for k in range(size):
        canvas_rect(canvas, middle, middle + k * cell, (size - 1) * cell + 2, 2, LINE)
        canvas_rect(canvas, middle + k * cell, middle, 2, (size - 1) * cell + 2, LINE)


cdef inline void draw_row(Canvas* canvas, const uint8_t* stone, int size, int y) noexcept nogil:
    """A row of the board, 1 a black stone and 2 a white one; in grey as bytes, since all edges are those of grey pixels."""
    cdef int k, column, cell = cell_of(size), start = start_of(size), top = start + y * cell
    cdef uint64_t[3] shade = [0, grey_of(INK) * ONES, grey_of(PAPER) * ONES]
    cdef uint64_t[2] ink                # a stone's bytes, 16 with those of the next
    cdef uint8_t[VECTORS] cover, keep   # what hides the board, or 0; all bits where it is seen
    cdef const uint8_t* under
    cdef uint8_t* row
    cdef long x
    if canvas.rgb != NULL:
        for column in range(size):
            if stone[column]:
                canvas_rect(canvas, 2 * (start + column * cell + 1), 2 * (top + 1), 2 * cell - 4, 2 * cell - 4,
                            INK if stone[column] == 1 else PAPER)
        return
    memset(cover, 0, VECTORS)
    for column in range(size):
        ink[0] = shade[stone[column]] & (~<uint64_t>0 if cell >= 10 else (<uint64_t>1 << 8 * (cell - 2)) - 1)
        ink[1] = shade[stone[column]] & ((<uint64_t>1 << 8 * (cell - 10)) - 1 if cell > 10 else 0)
        memcpy(cover + start + column * cell + 1, ink, 16)
    for x in range(VECTORS):
        keep[x] = 255 if cover[x] == 0 else 0
    for k in range(top + 1, top + cell - 1):
        row = canvas_row(canvas, k)
        under = canvas.screen.backdrop_grey + k * SMALL
        for x in range(VECTORS):  # what this writes of the next row is written again
            row[x] = (under[x] & keep[x]) | cover[x]


cdef void draw(const void* state, Canvas* canvas) noexcept nogil:
    """Stones, and below the board a strip in the colour of who is to play."""
    cdef const Go* go = <const Go*>state
    cdef uint8_t[64 * WORDS] stone, white
    cdef int i
    for i in range(go.words):
        write_bits(go.word[i].stones[BLACK], stone + 64 * i, 64)
        write_bits(go.word[i].stones[WHITE], white + 64 * i, 64)
    for i in range(go.size * go.size):
        stone[i] += 2 * white[i]
    for i in range(go.size):
        draw_row(canvas, stone + i * go.size, go.size, i)
    canvas_swap(canvas, 0, SIDE - 2, SIDE, 2, WOOD, PAPER if go.to_play else INK)


cdef void mask(const void* state, uint8_t* legal) noexcept nogil:
    cdef const Go* go = <const Go*>state
    cdef int i, area = go.size * go.size
    for i in range(go.words):
        write_bits(go.word[i].legal, legal + 64 * i, min(64, area - 64 * i))
    legal[area] = 1


cdef void chunk(char* states, Io* io, int lo, int hi) noexcept nogil:
    run_chunk(reset, step, observe, draw, mask, sizeof(Go), states, io, lo, hi)


def actions(options):
    """A9 .. J1 (there is no I), by rows from the top left, and PASS."""
    size = int(options["size"])
    return (*(f"{'ABCDEFGHJKLMNOPQRST'[column]}{size - row}" for row in range(size) for column in range(size)), "PASS")


GAME = Game(
    name="go", title="Go", version=1, summary="Surround more of the board than the other side.",
    actions=actions, feature_shape=lambda options: (5, int(options["size"]), int(options["size"])),
    feature_dtype="uint8", feature_low=0, feature_high=1, screen=(SIDE, SIDE),
    options={
        "size": Option(9, 5, 19, "points a side of the board"),
        "komi": Option(7.5, -400, 400, "points that White has for moving second", integer=False),
        "opponent": Option(RANDOM, 0, 2, "0 random, 1 greedy, 2 none: both sides are the agent's"),
        "colour": Option(BLACK, 0, 2, "the agent's: 0 black, 1 white, 2 drawn anew for each game"),
    }, fps=3,
    two_players=TwoPlayers({"opponent": NONE}, {"random": {"opponent": RANDOM, "colour": DRAWN},
                                                "greedy": {"opponent": GREEDY, "colour": DRAWN}}),
).bind(chunk, backdrop, draw, sizeof(Go), True)
