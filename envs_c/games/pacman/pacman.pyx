"""Pac-Man by the rules of the arcade machine of 1980: one maze, four ghosts with a mind of their own, 21 levels.

The figures are those of J. Pittman, "The Pac-Man Dossier", 2009; by maze and by level they stand in rules.pxd.

Maze. 28 x 31 tiles of 8 x 8 pixels. 240 dots give 10 points each, 4 pellets 50. The tunnel goes on for two tiles beyond each
side of the maze, where it joins. Places are kept to 1/16 pixel; a frame is 1/60 second; 100 % of speed is 1.25 pixels a
frame, so that 5 % is 1/16 pixel a frame.

Player. Goes on as he went until the way ahead is closed; UP, LEFT, DOWN or RIGHT turns him at once if the tile that he is
in is open on that side, or back. He drifts to the middle of the new way as fast as he goes, so a turn taken early or late
is a short cut. A dot, eaten as he enters its tile, holds him for one frame, a pellet for three.

Ghosts. At the middle of a tile a ghost takes the way that it chose one tile before and chooses for the next tile: any way
but back, and where there are several the one whose tile is nearest to its target (straight distance; of equals the first
of up, left, down, right; in each frame the player moves first, and the ghosts see one another where they stood before).
Two tiles above the house and two above the player's start are not left upwards, but by blue ghosts and eyes. The targets:
    Blinky  the player's tile
    Pinky   4 tiles ahead of the player, and 4 to the left as well if he goes up (the machine's arithmetic overflows)
    Inky    as far beyond the tile 2 ahead of the player (up: and 2 to the left) as Blinky is on this side of it
    Clyde   the player's tile from 8 tiles and more away, otherwise his own corner
In scatter waves the targets are the corners: top right, top left, bottom right and bottom left of the maze, outside it.
Waves: scatter and chase by turns, 7 20 7 20 5 20 5 seconds and then chase for good; from level 2 on the sixth lasts 1033
seconds and the seventh a frame; from level 5 on they are 5 20 5 20 5 1037 and a frame. At each change all ghosts turn back
at the middle of the tile that they are coming to. On ways into and in the tunnel (6 tiles from each side) all ghosts are
slow, and as slow in the house; eyes go at 160 %.

Elroy. With few dots left Blinky goes faster, with half of these faster still, and hunts in scatter waves too. After a life
is lost this rests until Clyde leaves the house.

Power. A pellet turns all ghosts back and blue for a while in which the waves stand still. A blue ghost goes slowly, at
random: one of four ways, or if that is closed the first open one of up, left, down, right. The player meets a ghost when
both are in one tile after a frame. A blue one is eaten, for 200, 400, 800 and 1600 points in one pellet's time, and its
eyes go back to the house and come out as a ghost again; any other ghost takes a life.

House. Pinky, Inky and Clyde wait in it, and leave in this order. For the first of those who wait dots are counted as they
are eaten: Pinky leaves at once, Inky after 30 in level 1, Clyde after 60 in level 1 and 50 in level 2, later at once. After
a life is lost one count serves all: Pinky leaves at 7, Inky at 17; at 32, if Clyde waits, the counts of their own go on. If
no dot is eaten for 4 seconds (from level 5 on 3), the first of those who wait leaves. A ghost turns left at the door, or
right if ghosts were turned back while it was inside.

Fruit. At 70 and at 170 dots eaten one lies below the house for 9 to 10 seconds, for 100 to 5000 points.

A level ends when all dots are eaten, the episode with the last of 3 lives or with level 21. 10,000 points give one life
more. The machine's pauses are left out, but before a level and after a life lost READY! stands for 1 to 60 frames, so that
no two of them begin alike.
"""

from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from envs_c.game cimport Game, Io, run_chunk
from envs_c.games.pacman.rules cimport (
    DOOR_X, DOTS, DOT_AT, DOT_COLUMN, DOT_ROW, DX, DY, EXITS, EYES, FLASHES, FRUIT, FRUIT_Y, HALF, HOME, HOME_Y,
    LEFT, LEVEL, LEVELS, MAZE, NEAR, NO_UP, PELLETS, ROWS, SINKS, TILE, UP, WALL_COLUMN, WALL_ROW, WIDE, Pacman,
    add_points, begin_level, begin_life, clz, ctz, eat_dot, keep_house, meet_ghosts, move_ghosts, move_player,
    run_clocks,
)
from envs_c.rng cimport Rng
from envs_c.screen cimport SMALL, Canvas, canvas_rect, canvas_row, grey_of
from envs_c.game import Option


cdef enum:
    FEATURES = 52
    CELL = 3    # screen pixels a pixel of the grey canvas: figures are made of these
    BLACK = 0x000000, BLUE_WALL = 0x2121DE, PINK = 0xFFB8FF, PEACH = 0xFFB897, YELLOW = 0xFFFF00, WHITE = 0xDEDEDE
    RED = 0xFF0000, BLUE_GHOST = 0x2121FF

cdef extern from *:
    """
    static const unsigned COLOUR[4] = {0xFF0000, 0xFFB8FF, 0x00FFFF, 0xFFB852};
    static const unsigned char DIGIT[10][5] = {  // 3 x 5 bits, at the left of a byte
        {224, 160, 160, 160, 224}, {64, 192, 64, 64, 224}, {224, 32, 224, 128, 224}, {224, 32, 224, 32, 224},
        {160, 160, 224, 32, 32}, {224, 128, 224, 32, 224}, {224, 128, 224, 160, 224}, {224, 32, 32, 32, 32},
        {224, 160, 224, 160, 224}, {224, 160, 224, 32, 224}};
    """
    const uint32_t[4] COLOUR
    const uint8_t[10][5] DIGIT


cdef void reset(void* state, const double* options, Rng* rng) noexcept nogil:
    cdef Pacman* game = <Pacman*>state
    memset(game, 0, sizeof(Pacman))
    game.lives = <uint8_t>options[0]
    game.level = <uint8_t>options[1]
    begin_level(game, rng)


cdef float step(void* state, int action, Rng* rng, bint* over) noexcept nogil:
    cdef Pacman* game = <Pacman*>state
    cdef int before = game.score, dot, k, near = 0
    if game.ready > 0:
        game.ready -= 1
        return 0.0
    if game.pause > 0:
        game.pause -= 1
    else:
        move_player(game, action)
        dot = DOT_AT[(game.py >> 7) * WIDE + (game.px >> 7)]
        if game.dot[dot]:
            eat_dot(game, dot, rng)
    if game.fruit > 0 and game.py >> 7 == FRUIT_Y >> 7 and DOOR_X - HALF <= game.px < DOOR_X + HALF:
        add_points(game, 100 * LEVEL[game.level - 1][FRUIT])
        game.fruit = 0
    if game.waiting:
        keep_house(game)
    run_clocks(game)
    move_ghosts(game, rng)
    for k in range(4):
        near |= ((game.x[k] ^ game.px) | (game.y[k] ^ game.py)) < TILE
    if game.dots == 0:
        over[0] = game.level == LEVELS
        if not over[0]:
            game.level += 1
            begin_level(game, rng)
    elif near and meet_ghosts(game):
        game.lives -= 1
        over[0] = game.lives == 0
        game.shared = game.rests = 1
        begin_life(game, rng)
    return <float>(game.score - before)


cdef inline float look_on(uint32_t dots, uint32_t walls, int at) noexcept nogil:
    """1 / tiles to the nearest dot towards the higher bits, 0 if a wall comes first."""
    cdef int away = ctz(((dots | walls) >> at >> 1) | <uint32_t>1 << 31) + 1
    return NEAR[away * <int>(<uint64_t>dots >> (at + away) & 1)]


cdef inline float look_back(uint32_t dots, uint32_t walls, int at) noexcept nogil:
    """The same towards the lower bits."""
    cdef uint32_t below = ((dots | walls) & ((<uint32_t>1 << at) - 1)) << 1 | 1
    cdef int found = 31 - clz(below)  # 1 more than the bit
    return NEAR[(at + 1 - found) * <int>((<uint64_t>dots << 1) >> found & 1)]


cdef void observe(const void* state, void* out) noexcept nogil:
    """The player, seven numbers a ghost, the clocks, and 244 dots, 1 where gone.

    0 x, 1 y, 2 3 direction, 4 .. 7 open up, left, down, right, 8 .. 11 the same ways: 1 / tiles to a dot that is in sight;
    12 + 7 k .. of ghost k: x and y from the player, direction x y, blue, only eyes, in the house;
    40 power, 41 scatter, 42 wave left, 43 Elroy, 44 ghosts eaten, 45 fruit's time, 46 47 its x and y from the player,
    48 lives, 49 level, 50 share of dots gone, 51 READY!.
    Places are in units of 8 tiles, about their deviation; what is there at first or mostly is 0.
    """
    cdef const Pacman* game = <const Pacman*>state
    cdef float* features = <float*>out
    cdef float* ghost
    cdef int i, k, column = game.px >> 7, row = game.py >> 7, exits = EXITS[row * WIDE + column]
    cdef bint fruit = game.fruit > 0
    features[0] = (game.px - DOOR_X) * <float>(1.0 / 1024)
    features[1] = (game.py - DOOR_X) * <float>(1.0 / 1024)
    features[2] = DX[game.facing]
    features[3] = DY[game.facing]
    for i in range(4):
        features[4 + i] = exits >> i & 1
    features[8] = look_back(game.column[column], WALL_COLUMN[column], row)
    features[9] = look_back(game.row[row], WALL_ROW[row], column)
    features[10] = look_on(game.column[column], WALL_COLUMN[column], row)
    features[11] = look_on(game.row[row], WALL_ROW[row], column)
    for k in range(4):
        ghost = features + 12 + 7 * k
        ghost[0] = (game.x[k] - game.px) * <float>(1.0 / 1024)
        ghost[1] = (game.y[k] - game.py) * <float>(1.0 / 1024)
        ghost[2] = game.dx[k]
        ghost[3] = game.dy[k]
        ghost[4] = game.blue[k]
        ghost[5] = game.phase[k] == EYES or game.phase[k] == SINKS
        ghost[6] = game.phase[k] == HOME
    features[40] = game.power * <float>(1.0 / 360)
    features[41] = 1 - (game.wave & 1)
    features[42] = min(game.wave_left, 1200) * <float>(1.0 / 1200)
    features[43] = game.elroy * <float>(1.0 / 2)
    features[44] = game.chain * <float>(1.0 / 4) if game.power > 0 else <float>0
    features[45] = game.fruit * <float>(1.0 / 600)
    features[46] = (DOOR_X - game.px) * fruit * <float>(1.0 / 1024)
    features[47] = (FRUIT_Y - game.py) * fruit * <float>(1.0 / 1024)
    features[48] = game.lives * <float>(1.0 / 3)
    features[49] = (game.level - 1) * <float>(1.0 / (LEVELS - 1))
    features[50] = (DOTS - game.dots) * <float>(1.0 / DOTS)
    features[51] = game.ready * <float>(1.0 / 60)
    for i in range(DOTS):
        features[FEATURES + i] = 1 - game.dot[i]


cdef inline bint closed(int column, int row) noexcept nogil:
    return not (0 <= column < 28 and 0 <= row < ROWS) or MAZE[row][column] == b"#"


cdef inline void paint(Canvas* canvas, int x, int y, int w, int h, uint32_t colour) noexcept nogil:
    """In pixels of the grey canvas: so that every one of them has one colour, whatever lies over what."""
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
    """The middle of a row of tiles on the grey canvas."""
    return (8 * row + 4) // CELL


cdef inline void draw_number(Canvas* canvas, int right, int y, int number, int digits) noexcept nogil:
    """At least so many digits, in the columns left of `right`."""
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


cdef void backdrop(const double* options, Canvas* canvas) noexcept nogil:
    """Outlines of what is closed, the door, and all dots; `draw` takes out those that are gone."""
    cdef int column, row, x, y, down
    for row in range(ROWS):
        y, down = cell_y(row), cell_y(row + 1) - cell_y(row)
        for column in range(28):
            x = 3 * column + 1
            if MAZE[row][column] == b".":
                paint(canvas, x, y, 1, 1, PEACH)
            elif MAZE[row][column] == b"o":
                paint(canvas, x - 1, y - 1, 3, 3, PEACH)
            elif closed(column, row):
                if column < 27 and closed(column + 1, row) and not (
                        closed(column, row - 1) and closed(column + 1, row - 1)
                        and closed(column, row + 1) and closed(column + 1, row + 1)):
                    paint(canvas, x, y, 4, 1, BLUE_WALL)
                if row < ROWS - 1 and closed(column, row + 1) and not (
                        closed(column - 1, row) and closed(column - 1, row + 1)
                        and closed(column + 1, row) and closed(column + 1, row + 1)):
                    paint(canvas, x, y, 1, down + 1, BLUE_WALL)
    paint(canvas, 39, cell_y(12), 6, 1, PINK)
    draw_number(canvas, 82, 28, 0, 1)  # the score's last digit


cdef inline void draw_gone(const Pacman* game, Canvas* canvas) noexcept nogil:
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


cdef void draw(const void* state, Canvas* canvas) noexcept nogil:
    cdef const Pacman* game = <const Pacman*>state
    cdef int k, x = (game.px - 2 * TILE) * 3 >> 7, y = game.py // (16 * CELL)
    draw_gone(game, canvas)
    if game.score >= 1000:
        draw_number(canvas, 16, 44, game.score // 1000, 1)
    draw_number(canvas, 78, 28, game.score // 10 % 100, 2)
    if game.level > 1:
        draw_number(canvas, 82, 44, game.level, 1)
    for k in range(game.lives - 1):
        paint(canvas, 3 * k, 30, 2, 2, YELLOW)
    if game.fruit > 0:
        paint(canvas, 40, cell_y(FRUIT_Y // TILE) - 1, 3, 3, RED)
    paint(canvas, x - 2, y - 1, 5, 3, YELLOW)
    paint(canvas, x - 1, y - 2, 3, 5, YELLOW)
    if (game.px + game.py) >> 6 & 1:  # the mouth is open
        paint(canvas, x + DX[game.facing] - (game.facing == LEFT), y + DY[game.facing] - (game.facing == UP),
              1 + (game.facing & 1), 2 - (game.facing & 1), BLACK)
    for k in range(4):
        draw_ghost(game, canvas, k)


cdef void chunk(char* states, Io* io, int lo, int hi) noexcept nogil:
    run_chunk(reset, step, observe, draw, NULL, sizeof(Pacman), states, io, lo, hi)


cdef void lay_out():
    """Make from MAZE what the rules look up."""
    cdef int column, row, way, number = 0, pellet = PELLETS, at
    for row in range(ROWS):
        for column in range(-2, 30):
            at = row * WIDE + column + 2
            DOT_AT[at] = DOTS
            if closed(column, row) and not (row == HOME_Y // TILE and (column < 0 or column > 27)):
                WALL_ROW[row] |= <uint32_t>1 << (column + 2)
                WALL_COLUMN[column + 2] |= <uint32_t>1 << row
            elif 0 <= column < 28 and MAZE[row][column] != b" ":
                DOT_ROW[row] |= <uint32_t>1 << (column + 2)
                DOT_COLUMN[column + 2] |= <uint32_t>1 << row
                if MAZE[row][column] == b"o":
                    DOT_AT[at] = pellet
                    pellet += 1
                else:
                    DOT_AT[at] = number
                    number += 1
    for at in range(ROWS * WIDE):
        row, column = at // WIDE, at % WIDE
        if WALL_ROW[row] >> column & 1:
            continue
        for way in range(4):
            if not WALL_ROW[row + DY[way]] >> ((column + DX[way]) & (WIDE - 1)) & 1:
                EXITS[at] |= 1 << way
        if (row == 11 or row == 23) and (column == 14 or column == 17):
            EXITS[at] |= NO_UP
    for at in range(1, WIDE + 1):
        NEAR[at] = <float>1 / at


lay_out()
GAME = Game(
    name="pacman", title="Pacman", version=1, summary="Eat all dots of a maze, and the ghosts when they are blue.",
    actions=("NOOP", "UP", "LEFT", "DOWN", "RIGHT"), feature_shape=(FEATURES + DOTS,), frame_skip=4, screen=(252, 252),
    feature_low=-4, feature_high=4,
    options={"lives": Option(3, 1, 5, "lives at first"), "first_level": Option(1, 1, LEVELS, "level to begin with")},
).bind(chunk, backdrop, draw, sizeof(Pacman))
