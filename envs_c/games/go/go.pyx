"""Go, on boards of 5x5 to 19x19, by area scoring and positional superko.

Board. Black and White move in turn, Black first, on the points of a square board that is empty at first. Stones of one
colour that touch along lines form a chain. The empty points beside a chain are its liberties. A chain with one liberty is
in atari.

Actions. A move puts a stone of the mover's colour on an empty point, or passes. The actions are the points, row by row from
the top left, and then PASS. Points have names from A9 to J1 on a 9x9 board; there is no column I. After the stone is put,
all chains of the other colour without liberties are captured: they leave the board.

Forbidden moves. An action that is not allowed counts as a pass. `info["action_mask"]` shows the allowed ones. A pass is
always allowed. Two kinds of moves on empty points are forbidden:
  - Suicide: after captures, the mover's own chain would have no liberty.
  - Superko: the board would have the same stones as after any earlier move of the game, no matter whose turn it was.

Score. The area of a side is its stones and the empty points from which, along empty points, only its stones are reached.
All stones on the board count; none is removed as dead. Black wins if its area is larger than White's by more than `komi`.
White wins if the difference is less. If it is equal, the game is a draw.

End. The game ends with two passes in a row, or with move number 2 * size * size; passes are counted as moves.

Points. The reward is 0 until the end. Then it is 1 for a win, -1 for a loss and 0 for a draw.

Opponents. The agent has the colour of option `colour`: 0 black, 1 white, 2 random in each game. The opponent has the
other colour. A step is the agent's move and the opponent's answer. Option `opponent` chooses how it plays; an opponent
without a point to choose passes:
  - 0, random: any allowed point, all with the same probability, also those that fill its own eyes.
  - 1, greedy: a point from the first of these three groups that has an allowed point, all in it with the same probability.
    First, points that capture the largest number of stones. Second, liberties of its own chains in atari that give the
    chain two liberties or more. Third, points that are not its own eyes; an eye is a point whose neighbours are all its own
    stones.
  - 2, none: the agent moves for both sides. The reward is that of the side that moved last, and `colour` has no effect.
"""

from libc.stdint cimport int16_t, uint8_t, uint64_t
from libc.string cimport memcpy, memset

from envs_c.game cimport Game, Io, run_chunk
from envs_c.games.go.opponents cimport GREEDY, NONE, RANDOM, answer
from envs_c.games.go.rules cimport find_banned, find_legal, move, result
from envs_c.games.go.sets cimport BLACK, WHITE, WORDS, Go
from envs_c.games.go.valid cimport set_board, valid
from envs_c.rng cimport Rng, rng_below
from envs_c.screen cimport SMALL, Canvas, canvas_rect, canvas_row, canvas_swap, grey_of
from envs_c.game import Feature, Option, TwoPlayers


cdef enum:
    DRAWN = 2               # value of option `colour`
    SIDE = 2 * SMALL        # of the screen, in pixels
    VECTORS = 96            # bytes of a grey row, rounded up to whole vectors
    WOOD = 0xDCB35C, LINE = 0x8A6A30, INK = 0x101010, PAPER = 0xF8F8F8

cdef extern from *:
    """
    #define ONES 0x0101010101010101ULL      // 1 in each byte
    #define SEVENS 0x7F7F7F7F7F7F7F7FULL    // 127 in each byte
    #define DIAGONAL 0x8040201008040201ULL  // bit k in byte k
    """
    const uint64_t ONES, SEVENS, DIAGONAL


cdef inline void begin(Go* go, Rng* rng, int n) noexcept nogil:
    """Find the legal moves; the opponent moves first if it has Black. n: words of the board's sets."""
    find_legal(go, n)
    if go.opponent != NONE and go.agent == WHITE:
        move(go, answer(go, rng, n), n)


cdef inline float turn(Go* go, int action, Rng* rng, bint* over, int n) noexcept nogil:
    """Play the agent's move and the opponent's answer; returns the reward. n: words of the board's sets."""
    cdef int mover = go.to_play
    cdef bint allowed = action < go.size * go.size and go.word[action >> 6].legal >> (action & 63) & 1
    over[0] = move(go, action if allowed else -1, n)
    if not over[0] and go.opponent != NONE:
        over[0] = move(go, answer(go, rng, n), n)
    find_banned(go, n)
    return result(go, mover, n) if over[0] else 0.0


cdef void reset(void* state, const double* options, Rng* rng) noexcept nogil:
    cdef Go* go = <Go*>state
    cdef int size = <int>options[0]
    memset(go, 0, sizeof(Go))
    go.komi, go.opponent = options[1], <uint8_t>options[2]
    go.agent = <uint8_t>(rng_below(rng, 2) if options[3] == DRAWN else options[3])
    go.limit = <int16_t>(2 * size * size)
    set_board(go, size)
    if go.words == 1:
        begin(go, rng, 1)
    elif go.words == 2:
        begin(go, rng, 2)
    else:
        begin(go, rng, max(3, go.words))


cdef float step(void* state, int action, Rng* rng, bint* over) noexcept nogil:
    cdef Go* go = <Go*>state
    if go.words == 1:  # the compiler makes three versions; in the first two, sets are registers
        return turn(go, action, rng, over, 1)
    if go.words == 2:
        return turn(go, action, rng, over, 2)
    return turn(go, action, rng, over, max(3, go.words))


cdef inline void write_bits(uint64_t bits, uint8_t* out, int count) noexcept nogil:
    """Write the lowest `count` bits as bytes of 0 and 1."""
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
    """Write the planes that GAME describes, (5, size, size) uint8."""
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
    """Side of a point's cell, in grey pixels. A margin is left around the board."""
    return (SMALL - 2) // size


cdef inline int start_of(int size) noexcept nogil:
    """x and y of the cell of the top left point, in grey pixels."""
    return (SMALL - size * cell_of(size)) // 2


cdef void backdrop(const double* options, Canvas* canvas) noexcept nogil:
    """Paint wood and lines. All edges are at even pixels, so they are edges of grey pixels, too."""
    cdef int k, size = <int>options[0], cell = 2 * cell_of(size), middle = 2 * start_of(size) + (cell - 1) // 4 * 2
    canvas_rect(canvas, 0, 0, SIDE, SIDE, WOOD)
    for k in range(size):
        canvas_rect(canvas, middle, middle + k * cell, (size - 1) * cell + 2, 2, LINE)
        canvas_rect(canvas, middle + k * cell, middle, 2, (size - 1) * cell + 2, LINE)


cdef inline void draw_row(Canvas* canvas, const uint8_t* stone, int size, int y) noexcept nogil:
    """Paint the stones of row y: 0 none, 1 black, 2 white. In grey as bytes, since all edges are edges of grey pixels."""
    cdef int k, column, cell = cell_of(size), start = start_of(size), top = start + y * cell
    cdef uint64_t[3] shade = [0, grey_of(INK) * ONES, grey_of(PAPER) * ONES]
    cdef uint64_t[2] ink                # 16 bytes from a stone's left end on; the next stone overwrites the rest
    cdef uint8_t[VECTORS] cover, keep   # greys of stones, or 0; 255 where no stone hides the board
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
        for x in range(VECTORS):  # bytes beyond this row belong to the next one, which is written later
            row[x] = (under[x] & keep[x]) | cover[x]


cdef void draw(const void* state, Canvas* canvas) noexcept nogil:
    """Paint the stones, and below the board a strip in the colour of the side to play."""
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


cdef void mask(const void* state, uint8_t* action_mask) noexcept nogil:
    cdef const Go* go = <const Go*>state
    cdef int i, area = go.size * go.size
    for i in range(go.words):
        write_bits(go.word[i].legal, action_mask + 64 * i, min(64, area - 64 * i))
    action_mask[area] = 1


cdef void chunk(char* states, Io* io, int lo, int hi) noexcept nogil:
    run_chunk(reset, step, observe, draw, mask, sizeof(Go), states, io, lo, hi)


def actions(options):
    """The names of the actions: A9 .. J1 on a 9x9 board (there is no I), row by row from the top left, and PASS."""
    size = int(options["size"])
    return (*(f"{'ABCDEFGHJKLMNOPQRST'[column]}{size - row}" for row in range(size) for column in range(size)), "PASS")


GAME = Game(
    name="go", title="Go", version=1, summary="Surround more of the board than the other side.",
    actions=actions, feature_shape=lambda options: (5, int(options["size"]), int(options["size"])),
    feature_dtype="uint8", feature_low=0, feature_high=1, screen=(SIDE, SIDE),
    options={
        "size": Option(9, 5, 19, "points a side of the board"),
        "komi": Option(7.5, -400, 400, "points that White gets for moving second", integer=False),
        "opponent": Option(RANDOM, 0, 2, "0 random, 1 greedy, 2 none: the agent plays both sides"),
        "colour": Option(BLACK, 0, 2, "colour of the agent: 0 black, 1 white, 2 random in each game"),
    }, fps=3,
    features=(
        Feature("own stones", 0, 1, count=81, help="1 for a stone of the side to play. This plane and the next four have "
                "size x size points, row by row from the top left"),
        Feature("other stones", 0, 1, count=81, help="1 for a stone of the other side"),
        Feature("stones in atari", 0, 1, count=81, help="1 for a stone of either side whose chain has one liberty"),
        Feature("points forbidden by superko", 0, 1, count=81, help="1 for a point that only superko forbids"),
        Feature("black to play", 0, 1, count=81, help="1 everywhere if Black is to play, otherwise 0"),
    ),
    compared_with="GNU Go (legal moves, captures and score of whole games) and a plain Python board, every move.",
    two_players=TwoPlayers({"opponent": NONE}, {"random": {"opponent": RANDOM, "colour": DRAWN},
                                                "greedy": {"opponent": GREEDY, "colour": DRAWN}}),
).bind(chunk, backdrop, draw, sizeof(Go), has_mask=True, valid=valid)
