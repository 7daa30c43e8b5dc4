"""Pac-Man's picture, in colour and in grey.

Everything is drawn in whole pixels of the grey canvas, so no averaging is needed, whatever overlaps.
"""

from libc.stdint cimport uint8_t, uint32_t
from libc.string cimport memcpy, memset

from envs_c.games.pacman.maze cimport (
    DOT_ROW, EYES, FLASHES, LEVEL, MAZE, ROWS, SINKS, TILE, Pacman, ctz)
from envs_c.screen cimport SMALL, Canvas, canvas_rect, canvas_row, grey_of


cdef enum:
    CELL = 3    # screen pixels a grey pixel
    BLACK = 0x000000, BLUE_WALL = 0x2121DE, PINK = 0xFFB8FF, PEACH = 0xFFB897, YELLOW = 0xFFFF00, WHITE = 0xDEDEDE
    RED = 0xFF0000, BLUE_GHOST = 0x2121FF

cdef extern from *:
    """
    static const unsigned COLOUR[4] = {0xFF0000, 0xFFB8FF, 0x00FFFF, 0xFFB852};
    static const unsigned char DIGIT[10][5] = {  // five rows of 3 bits, the highest of a byte
        {224, 160, 160, 160, 224}, {64, 192, 64, 64, 224}, {224, 32, 224, 128, 224}, {224, 32, 224, 32, 224},
        {160, 160, 224, 32, 32}, {224, 128, 224, 32, 224}, {224, 128, 224, 160, 224}, {224, 32, 32, 32, 32},
        {224, 160, 224, 160, 224}, {224, 160, 224, 32, 224}};
    """
    const uint32_t[4] COLOUR
    const uint8_t[10][5] DIGIT


cdef inline void paint(Canvas* canvas, int x, int y, int w, int h, uint32_t colour) noexcept nogil:
    """Draw a rectangle in grey pixels; x may reach beyond the canvas."""
    cdef uint8_t grey = grey_of(colour)
    cdef uint8_t* pixels
    cdef int row, column
    if canvas.rgb != NULL:
        canvas_rect(canvas, CELL * x, CELL * y, CELL * w, CELL * h, colour)
        return
    for row in range(y, y + h):
        pixels = canvas.grey + row * SMALL
        if not canvas.touched[row]:
            canvas_row(canvas, row)
            memcpy(pixels, canvas.screen.backdrop_grey + row * SMALL, SMALL)
        if x < 0 or x + w > SMALL:
            memset(pixels + max(x, 0), grey, max(min(x + w, SMALL) - max(x, 0), 0))
        else:
            for column in range(x, x + w):
                pixels[column] = grey


cdef inline int cell_y(int row) noexcept nogil:
    """Grey row of the middle of a row of tiles."""
    return (8 * row + 4) // CELL


cdef inline void draw_number(Canvas* canvas, int right, int y, int number, int digits) noexcept nogil:
    """Draw a number.

    right, y: grey column right of it, and its first row.
    digits: least number of digits.
    """
    cdef int row, bits, start
    while digits > 0 or number > 0:
        right -= 4
        for row in range(5):
            bits = DIGIT[number % 10][row]
            if bits == 160:
                paint(canvas, right, y + row, 1, 1, WHITE)
                paint(canvas, right + 2, y + row, 1, 1, WHITE)
            else:
                start = 0 if bits & 128 else 1 if bits & 64 else 2
                paint(canvas, right + start, y + row, (3 if bits & 32 else 2 if bits & 64 else 1) - start, 1, WHITE)
        number //= 10
        digits -= 1


cdef inline void draw_gone(const Pacman* game, Canvas* canvas) noexcept nogil:
    """Paint over the dots that are eaten."""
    cdef int row, column, wide
    cdef uint32_t gone
    for row in range(ROWS):
        gone = DOT_ROW[row] & ~game.row[row]
        while gone:
            column = ctz(gone)
            gone &= gone - 1
            wide = MAZE[row][column - 2] == b"o"
            paint(canvas, 3 * column - 5 - wide, cell_y(row) - wide, 1 + 2 * wide, 1 + 2 * wide, BLACK)


cdef inline void draw_ghost(const Pacman* game, Canvas* canvas, int k) noexcept nogil:
    """Draw ghost k, or its eyes."""
    cdef int x = (game.x[k] - 2 * TILE) * 3 >> 7, y = game.y[k] // (16 * CELL)
    cdef bint eyes = game.phase[k] == EYES or game.phase[k] == SINKS
    cdef bint flash = game.power < 28 * LEVEL[game.level - 1][FLASHES] and game.power // 14 & 1
    cdef uint32_t colour = COLOUR[k] if not game.blue[k] else WHITE if flash else BLUE_GHOST
    if not eyes:
        paint(canvas, x - 1, y - 2, 3, 1, colour)
        paint(canvas, x - 2, y - 1, 5, 4, colour)
    colour = WHITE if not game.blue[k] else RED if flash else PEACH
    paint(canvas, x - 1 + game.dx[k], y + game.dy[k], 1, 1, colour)
    paint(canvas, x + 1 + game.dx[k], y + game.dy[k], 1, 1, colour)
