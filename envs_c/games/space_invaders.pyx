"""Space Invaders, after the cartridge of 1980 for the Atari 2600.

Screen. On 160x210 pixels (x to the right, y down) six rows of six invaders stand 16 pixels apart across and 18 down, each 8
wide and 10 high, the first at (22, 31) and in wave w at y 31 + 10 * min(w, 4), where w counts from 0. Three shields, 8 pixels
wide and 9 rows of 2 lines high, stand at x 42, 74 and 106 and y 157. The ground begins at y 195; on it stands the cannon, 7
wide and 10 high.

Cannon. LEFT and RIGHT move it by 1 pixel every other frame, its left end between x 34 and 116. FIRE sends a shot if none is on
its way: 1 pixel wide and 6 high, from y 174, 1/7 of the way from its left end past its middle; it rises by 4 pixels every other
frame, to y 10.

March. The invaders march to the right first, all at once by some pixels, changing their pose; when the outermost one is at x 22
or 129 they stop there, come down by 10 and turn. How often and how far depends on how many are left:
    22 .. 36  every 32 frames by 1     5 .. 7  every 16 by 3     3  every 7 by 3     1  every 4 by 5
     8 .. 21  every 21 frames by 2          4  every 13 by 3     2  every 7 by 4
If the lowest of them is then at y 169 or more they have landed, and the episode ends.

Bombs. 1 pixel wide and 8 high, they fall by 2 pixels every other frame to the ground. There are two at
most. One falls 2 frames after the newest is gone, or 32 after that began if the other is gone, from the lowest invader of a
column: 6 of 12 times of any column, 5 of the one whose middle is nearest to the cannon's, 1 of that to its right; and of the
nearest where such a column is empty.

Hits. A shot in an invader's 8 x 10 pixels destroys it, for 5 points in the lowest row to 30 in the highest. What meets a
shield's pixel with its tip takes it away, and the one behind it in its course, and is gone. A bomb whose tip is in the cannon's
7 columns at y 185 or more destroys it. Shots and bombs pass each other.

Saucer. After 832 frames of play since the start, a life lost or the last saucer, one flies across at y 12, 7 wide and 8 high, 1
pixel every 4 frames, from either side. A shot in its pixels destroys it for 200 points. The score, shown modulo 10,000, makes
room for it.

Rests. Nothing but the clock goes on for 128 frames before the first wave, while the lives are shown and the cannon blinks, and
after the last invader of a wave; then the next wave begins, with whole shields. A cannon that was hit burns for 128 frames, in
which only shots and bombs go on; then a life is lost, bombs, shot and saucer are gone, the cannon stands at x 34, the lives are
shown for 64 frames, and all goes on. The episode ends with the last life.

The cartridge's choice of columns and sides is not ours, and its shields crumble a little less evenly.
"""

from libc.stdint cimport int8_t, int16_t, int32_t, uint8_t
from libc.string cimport memcpy, memset

from envs_c.game cimport Game, Io, run_chunk
from envs_c.games.space_invaders_picture cimport (
    AREA, BLAST, BROWN, CANNON, CELL_X, CELL_Y, EARTH, GREEN, INVADERS, LINES, LIVES_PLACE, RUST,
    SAUCER, SHAPE, SHIELDS, SHIELD_END, SHIELD_PITCH, SHIELD_ROWS, SHIELD_X, SHIELD_Y, SILVER, SPREAD, STAMP_WIDE, UNIT_X,
    UNIT_Y, WRECK, add, make_digits, make_spread, make_stamps, put_bits, put_digit, put_shape, shade, units_x, units_y,
)
from envs_c.rng cimport Rng, rng_below
from envs_c.screen cimport SMALL, Canvas, canvas_rect, grey_of
from envs_c.game import Option


cdef enum:
    NOOP, FIRE, RIGHT, LEFT, RIGHT_FIRE, LEFT_FIRE
    ROWS = 6, COLUMNS = 6, PITCH_X = 16, PITCH_Y = 18, WIDE = 8, HIGH = 10, TOP_Y = 31, FIRST_X = 22, LAST_X = 129
    DROP = 10, LANDED_Y = 169, LOWEST_START = 4
    CANNON_X = 34, CANNON_END = 116, CANNON_Y = 185, CANNON_WIDE = 7
    SHOT_Y = 174, SHOT_HIGH = 6, SHOT_STEP = 4, SHOT_END = 12, SHOT_SEEN = 20
    BOMBS = 2, BOMB_HIGH = 8, BOMB_STEP = 2, GROUND_Y = 195, BOMB_WAIT = 32, BOMB_AGAIN = 2
    SAUCER_Y = 12, SAUCER_HIGH = 8, SAUCER_WIDE = 7, SAUCER_END = 149, SAUCER_WAIT = 832, SAUCER_POINTS = 200
    PLAY = 0, REST, BURN, SHOW          # phases
    REST_FRAMES = 128, SHOW_FRAMES = 64, BLAST_FRAMES = 30
    FEATURES = 94

cdef extern from *:
    """
    static const unsigned char WHOLE[9] = {60, 126, 126, 126, 126, 255, 255, 255, 195};
    static const unsigned char PACE[37] = {  // frames a march, by how many are left
        4, 4, 7, 7, 13, 16, 16, 16, 21, 21, 21, 21, 21, 21, 21, 21, 21, 21, 21, 21, 21, 21,
        32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32};
    static const unsigned char STRIDE[37] = {  // pixels
        5, 5, 4, 3, 3, 3, 3, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    """
    const uint8_t[9] WHOLE
    const uint8_t[37] PACE, STRIDE
    int ctz "__builtin_ctz"(unsigned int) noexcept nogil
    int clz "__builtin_clz"(unsigned int) noexcept nogil


ctypedef struct Invaders:
    int32_t score
    int16_t x                       # of the first column, whether any of it is left or not
    int16_t y                       # of the first row
    int16_t saucer_x                # -1: none
    int16_t saucer_wait
    int16_t cannon
    int16_t shot_x, shot_y          # y 0: none
    int16_t[BOMBS] bomb_x, bomb_y   # the newest first; y 0: none
    uint8_t[ROWS] row               # bit c: the invader in column c is there
    uint8_t[SHIELDS][SHIELD_ROWS] shield
    uint8_t[SHIELDS * 8] gone       # of a shield's columns: rows that are not there any more
    uint8_t count, wave, lives
    uint8_t march                   # frames to the next one
    int8_t way                      # 1 right, -1 left
    int8_t saucer_way
    uint8_t pose, odd, quarter
    uint8_t bomb_age, bomb_rest     # frames since the newest was dropped, and since it is gone
    uint8_t phase, rest
    uint8_t blast, blast_row, blast_column


cdef inline int columns_of(const Invaders* game) noexcept nogil:
    return game.row[0] | game.row[1] | game.row[2] | game.row[3] | game.row[4] | game.row[5]


cdef inline int lowest_y(const Invaders* game) noexcept nogil:
    """The y of the lowest row that has an invader; there is one."""
    cdef int r = ROWS - 1
    while game.row[r] == 0:
        r -= 1
    return game.y + PITCH_Y * r


cdef inline void begin_wave(Invaders* game) noexcept nogil:
    cdef int s, k
    for k in range(ROWS):
        game.row[k] = (1 << COLUMNS) - 1
    for s in range(SHIELDS):
        memcpy(game.shield[s], WHOLE, SHIELD_ROWS)
    memset(game.gone, 0, sizeof(game.gone))
    game.count = ROWS * COLUMNS
    game.x, game.y, game.way = FIRST_X, TOP_Y + DROP * min(<int>game.wave, LOWEST_START), 1
    game.march = 1
    game.pose = 1
    game.bomb_age = game.bomb_rest = BOMB_WAIT
    game.blast = 0


cdef inline void clear_sky(Invaders* game) noexcept nogil:
    """No shot, bombs or saucer."""
    game.shot_y = game.bomb_y[0] = game.bomb_y[1] = 0
    game.saucer_x, game.saucer_wait = -1, SAUCER_WAIT


cdef void reset(void* state, const double* options, Rng* rng) noexcept nogil:
    cdef Invaders* game = <Invaders*>state
    memset(game, 0, sizeof(Invaders))
    game.lives = <uint8_t>options[0]
    game.wave = <uint8_t>options[1]
    game.cannon = CANNON_X
    game.phase, game.rest = SHOW, REST_FRAMES
    begin_wave(game)
    clear_sky(game)


cdef inline void march(Invaders* game) noexcept nogil:
    """One march of all invaders; where the outermost one comes to the end, down and back."""
    cdef int columns = columns_of(game), stride = STRIDE[game.count]
    cdef int left = game.x + PITCH_X * ctz(columns), right = game.x + PITCH_X * (31 - clz(columns))
    game.march = PACE[game.count]
    game.pose ^= 1
    if game.way > 0:
        stride = min(stride, LAST_X - right)
        if right + stride >= LAST_X:
            game.way = -1
            game.y += DROP
        game.x += stride
    else:
        stride = min(stride, left - FIRST_X)
        if left - stride <= FIRST_X:
            game.way = 1
            game.y += DROP
        game.x -= stride


cdef inline bint crumble(Invaders* game, int x, int y, int behind) noexcept nogil:
    """Whether the tip at (x, y) meets a shield's pixel; that and the one in the row `behind` it are then taken away."""
    cdef int shield = (x - SHIELD_X) >> 5, column = (x - SHIELD_X) & (SHIELD_PITCH - 1), row = (y - SHIELD_Y) >> 1, _tip
    cdef uint8_t bit
    if not (SHIELD_Y <= y < SHIELD_END and 0 <= shield < SHIELDS and column < 8):
        return False
    bit = 128 >> column
    if not game.shield[shield][row] & bit:
        return False
    for _tip in range(2):
        if 0 <= row < SHIELD_ROWS and game.shield[shield][row] & bit:
            game.shield[shield][row] ^= bit
            game.gone[8 * shield + column] += 1
        row += behind
    return True


cdef inline int hit_invader(Invaders* game) noexcept nogil:
    """The points of the invader in whose box the shot is, which is then gone; 0 where there is none."""
    cdef int dx = game.shot_x - game.x, column = dx >> 4, row, line
    if dx < 0 or column >= COLUMNS or (dx & 15) >= WIDE:
        return 0
    line = game.shot_y - game.y + PITCH_Y  # how far below the top of the row above the first one
    if line < 0 or line >= PITCH_Y * (ROWS + 1):
        return 0
    row = line // PITCH_Y - 1
    line -= PITCH_Y * (row + 1)
    if line >= HIGH:
        if line + SHOT_HIGH <= PITCH_Y:
            return 0
        row += 1  # the shot's tail is in the next row
    if not 0 <= row < ROWS or not game.row[row] >> column & 1:
        return 0
    game.row[row] ^= 1 << column
    game.count -= 1
    game.blast, game.blast_row, game.blast_column = BLAST_FRAMES, row, column
    return 5 * (ROWS - row)


cdef inline int move_shot(Invaders* game) noexcept nogil:
    """The shot's way of two frames, and what it hits; returns the points."""
    cdef int points
    game.shot_y -= SHOT_STEP
    points = hit_invader(game)
    if game.saucer_x >= 0 and game.shot_y < SAUCER_Y + SAUCER_HIGH \
            and game.saucer_x <= game.shot_x < game.saucer_x + SAUCER_WIDE:
        points += SAUCER_POINTS
        game.saucer_x, game.saucer_wait = -1, SAUCER_WAIT
    if points > 0 or game.shot_y < SHOT_END or crumble(game, game.shot_x, game.shot_y, -1):
        game.shot_y = 0
    return points


cdef inline bint move_bombs(Invaders* game) noexcept nogil:
    """The bombs' way of two frames; returns whether one has hit the cannon."""
    cdef int k, tip
    cdef bint hit = False
    for k in range(BOMBS):
        if game.bomb_y[k] == 0:
            continue
        game.bomb_y[k] += BOMB_STEP
        tip = game.bomb_y[k] + BOMB_HIGH - 1
        if tip >= CANNON_Y and 0 <= game.bomb_x[k] - game.cannon < CANNON_WIDE and game.phase == PLAY:
            hit = True
            game.bomb_y[k] = 0
        elif tip >= GROUND_Y - 1 or crumble(game, game.bomb_x[k], tip, 1):
            game.bomb_y[k] = 0
    return hit


cdef inline void drop_bomb(Invaders* game, Rng* rng) noexcept nogil:
    """From a column as the rules say; the newest bomb becomes the older one."""
    cdef int columns = columns_of(game), chosen = 0, column, away, least = 1000, middle = game.cannon + 3 - game.x - 3, row
    cdef int luck = <int>rng_below(rng, 2 * COLUMNS)
    for column in range(COLUMNS):
        away = middle - PITCH_X * column
        away = away if away >= 0 else -away
        if columns >> column & 1 and away < least:
            chosen, least = column, away
    if luck == 2 * COLUMNS - 1:
        luck = chosen + 1
    if luck < COLUMNS and columns >> luck & 1:
        chosen = luck
    row = ROWS - 1
    while not game.row[row] >> chosen & 1:
        row -= 1
    if game.bomb_y[0] > 0:
        game.bomb_x[1], game.bomb_y[1] = game.bomb_x[0], game.bomb_y[0]
    game.bomb_x[0] = game.x + PITCH_X * chosen + 3
    game.bomb_y[0] = game.y + PITCH_Y * row + 1
    game.bomb_age = game.bomb_rest = 0


cdef inline void move_saucer(Invaders* game, Rng* rng) noexcept nogil:
    if game.saucer_x < 0:
        game.saucer_wait -= 1
        if game.saucer_wait == 0:
            game.saucer_way = 1 - 2 * <int8_t>rng_below(rng, 2)
            game.saucer_x = 0 if game.saucer_way > 0 else SAUCER_END
            game.quarter = 0
        return
    game.quarter = (game.quarter + 1) & 3
    if game.quarter == 0:
        game.saucer_x += game.saucer_way
        if game.saucer_x < 0 or game.saucer_x > SAUCER_END:
            game.saucer_x, game.saucer_wait = -1, SAUCER_WAIT


cdef inline void go_on(Invaders* game, bint* over) noexcept nogil:
    """What follows when a rest is over."""
    if game.phase == BURN:
        game.lives -= 1
        clear_sky(game)
        game.cannon = CANNON_X
        game.phase, game.rest = SHOW, SHOW_FRAMES
        over[0] = game.lives == 0
    else:
        if game.count == 0:
            game.wave += game.wave < 255
            begin_wave(game)
            game.shot_y = game.bomb_y[0] = game.bomb_y[1] = 0
        game.phase = PLAY


cdef inline int fly(Invaders* game) noexcept nogil:
    """Shot and bombs, every other frame; returns the points."""
    cdef int points = 0
    game.odd ^= 1
    if game.odd:
        return 0
    if game.shot_y > 0:
        points = move_shot(game)
    if move_bombs(game):
        game.phase, game.rest = BURN, REST_FRAMES
    return points


cdef float step(void* state, int action, Rng* rng, bint* over) noexcept nogil:
    cdef Invaders* game = <Invaders*>state
    cdef int points = 0, before = game.cannon
    game.blast -= game.blast > 0
    if game.phase != PLAY:
        if game.phase == BURN:
            points = fly(game)
        game.rest -= 1
        if game.rest == 0:
            go_on(game, over)
        game.score += points
        return <float>points
    if not game.odd:
        before += (action == RIGHT or action == RIGHT_FIRE) - (action == LEFT or action == LEFT_FIRE)
        game.cannon = <int16_t>min(max(before, CANNON_X), CANNON_END)
    if game.shot_y == 0 and (action == FIRE or action >= RIGHT_FIRE):
        game.shot_x, game.shot_y = game.cannon + 4, SHOT_Y
    points = fly(game)
    game.score += points
    if game.count == 0:
        game.phase, game.rest = REST, REST_FRAMES
        return <float>points
    game.march -= 1
    if game.march == 0:
        march(game)
        over[0] = lowest_y(game) >= LANDED_Y
    game.bomb_age += game.bomb_age < 255
    game.bomb_rest = 0 if game.bomb_y[0] > 0 else min(game.bomb_rest + 1, 255)
    if (game.bomb_age >= BOMB_WAIT and game.bomb_y[1] == 0) or game.bomb_rest >= BOMB_AGAIN:
        drop_bomb(game, rng)
    move_saucer(game, rng)
    return <float>points


cdef void observe(const void* state, void* out) noexcept nogil:
    """36 invaders row by row from the top, 1 where gone; 24 columns of shields, rows gone / 8; x from the cannon's middle:

    60 first column, 61 first row's y, 62 way, 63 pixels a frame, 64 lowest row's y, 65 share gone, 66 cannon's x, 67 68 shot
    there, its y, 69 .. 74 bombs there, x, y, 75 76 77 saucer there, x, way, 78 lives, 79 wave, 80 resting, 81 frames to the
    next march, 82 .. 87 columns' x, or 0 if empty, 88 .. 93 how far down each reaches.
    """
    cdef const Invaders* game = <const Invaders*>state
    cdef float* features = <float*>out
    cdef int middle = game.cannon + 3, columns = columns_of(game), k, r, c, bottom
    for r in range(ROWS):
        for c in range(COLUMNS):
            features[COLUMNS * r + c] = 1 - (game.row[r] >> c & 1)
    for k in range(24):
        features[36 + k] = game.gone[k] * <float>0.125
    features[60] = (game.x + 3 - middle) * <float>(1.0 / 40)
    features[61] = (game.y - TOP_Y) * <float>(1.0 / 40)
    features[62] = game.way
    features[63] = <float>STRIDE[game.count] / PACE[game.count] - <float>(1.0 / 32)
    features[64] = (lowest_y(game) - 121) * <float>(1.0 / 40) if game.count else <float>0
    features[65] = (36 - game.count) * <float>(1.0 / 36)
    features[66] = (game.cannon - 75) * <float>(1.0 / 25)
    features[67] = game.shot_y > 0
    features[68] = (game.shot_y - 90) * <float>(1.0 / 50) if game.shot_y > 0 else <float>0
    for k in range(BOMBS):
        features[69 + 3 * k] = game.bomb_y[k] > 0
        features[70 + 3 * k] = (game.bomb_x[k] - middle) * <float>(1.0 / 20) if game.bomb_y[k] > 0 else <float>0
        features[71 + 3 * k] = (game.bomb_y[k] - 140) * <float>(1.0 / 30) if game.bomb_y[k] > 0 else <float>0
    features[75] = game.saucer_x >= 0
    features[76] = (game.saucer_x + 3 - middle) * <float>(1.0 / 40) if game.saucer_x >= 0 else <float>0
    features[77] = game.saucer_way if game.saucer_x >= 0 else 0
    features[78] = (game.lives - 3) * <float>0.5
    features[79] = game.wave * <float>0.25
    features[80] = game.phase != PLAY
    features[81] = game.march * <float>(1.0 / 32)
    for c in range(COLUMNS):
        bottom = 0
        for r in range(ROWS):
            bottom = r + 1 if game.row[r] >> c & 1 else bottom
        features[82 + c] = (game.x + PITCH_X * c + 3 - middle) * <float>(1.0 / 40) if columns >> c & 1 else <float>0
        features[88 + c] = bottom * <float>(1.0 / 6) - 1


cdef void backdrop(const double* options, Canvas* canvas) noexcept nogil:
    canvas_rect(canvas, 0, 197, 160, 13, EARTH)
    canvas_rect(canvas, 10, GROUND_Y, 150, 1, EARTH)
    canvas_rect(canvas, 8, 196, 152, 1, EARTH)
    canvas_rect(canvas, 33, 196, 2, 5, GREEN)
    canvas_rect(canvas, 122, 196, 2, 5, BROWN)


cdef inline uint8_t invader_bits(const Invaders* game, int x, int y) noexcept nogil:
    """Which of the 8 pixels from (x, y) on are an invader's (or a blast's), the left one the highest bit."""
    cdef int row = (y - game.y) // PITCH_Y, line = y - game.y - PITCH_Y * row, c, dx, shape, bits = 0
    if y < game.y or row >= ROWS or line >= LINES:
        return 0
    for c in range(COLUMNS):
        dx = game.x + PITCH_X * c - x
        if -8 < dx < 8:
            shape = INVADERS + row + ROWS * game.pose
            if game.blast > 0 and game.blast_row == row and game.blast_column == c:
                shape = BLAST
            elif not game.row[row] >> c & 1:
                continue
            bits |= SHAPE[shape][line] >> dx if dx >= 0 else SHAPE[shape][line] << -dx
    return bits & 255


cdef inline bint covered(const Invaders* game, int x, int y) noexcept nogil:
    """Whether something lies over the pixel that a shot or a bomb would be seen in."""
    cdef int shield = (x - SHIELD_X) >> 5, column = (x - SHIELD_X) & (SHIELD_PITCH - 1)
    if y < SHOT_SEEN or y >= CANNON_Y:
        return True
    if SHIELD_Y <= y < SHIELD_END and 0 <= shield < SHIELDS and column < 8:
        if game.shield[shield][(y - SHIELD_Y) >> 1] & 128 >> column:
            return True
    return invader_bits(game, x, y) & 128


cdef inline bint on_bomb(const Invaders* game, int x, int y) noexcept nogil:
    cdef int k
    for k in range(BOMBS):
        if game.bomb_x[k] == x and game.bomb_y[k] > 0 and game.bomb_y[k] <= y < game.bomb_y[k] + BOMB_HIGH:
            return True
    return False


cdef inline void draw_thin(const Invaders* game, Canvas* canvas, int x, int y, int lines, bint shot) noexcept nogil:
    """A shot or a bomb, where nothing covers it; a shot is under bombs."""
    cdef int line, row, first = UNIT_Y * y // CELL_Y, left = UNIT_X * x // CELL_X, wide = units_x(x, 1, left)
    cdef int[6] units = [0, 0, 0, 0, 0, 0]
    cdef uint8_t* pixels
    for line in range(y, y + lines):
        if covered(game, x, line) or (shot and on_bomb(game, x, line)):
            continue
        if canvas.rgb != NULL:
            canvas_rect(canvas, x, line, 1, 1, SILVER)
        row = UNIT_Y * line // CELL_Y
        units[row - first] += units_y(line, 1, row)
        units[row + 1 - first] += UNIT_Y - units_y(line, 1, row)
    if canvas.rgb != NULL:
        return
    for row in range(5):
        if units[row]:
            pixels = canvas.grey + (first + row) * SMALL + left
            pixels[0] += shade(units[row] * wide, grey_of(SILVER))
            pixels[1] += shade(units[row] * (UNIT_X - wide), grey_of(SILVER))


cdef inline void draw_shields(const Invaders* game, Canvas* canvas) noexcept nogil:
    """Row by row, without what invaders cover."""
    cdef uint8_t[2] bits
    cdef uint8_t[9 * 8] units  # grey rows 62 .. 70 of one shield
    cdef bint low = game.count > 0 and lowest_y(game) + HIGH > SHIELD_Y
    cdef int s, k, x, y, line, row
    cdef uint8_t grey = grey_of(RUST)
    cdef uint8_t* pixels
    for s in range(SHIELDS):
        x = SHIELD_X + SHIELD_PITCH * s
        memset(units, 0, sizeof(units))
        for k in range(SHIELD_ROWS):
            for line in range(2):
                y = SHIELD_Y + 2 * k + line
                bits[line] = game.shield[s][k]
                if low:
                    bits[line] &= ~invader_bits(game, x, y)
                if canvas.rgb != NULL:
                    put_bits(canvas, x, y, &bits[line], 1, RUST)
                    continue
                row = UNIT_Y * y // CELL_Y
                add_units(units + 8 * (row - 62), SPREAD[bits[line]][s], units_y(y, 1, row))
                if units_y(y, 1, row) < UNIT_Y:
                    add_units(units + 8 * (row + 1 - 62), SPREAD[bits[line]][s], UNIT_Y - units_y(y, 1, row))
        if canvas.rgb == NULL:
            for row in range(8):
                pixels = canvas.grey + (62 + row) * SMALL + UNIT_X * x // CELL_X
                for k in range(STAMP_WIDE):
                    pixels[k] += (units[8 * row + k] * grey + AREA // 2) // AREA


cdef inline void add_units(uint8_t* units, const uint8_t* spread, int times) noexcept nogil:
    """Add a row's units once or twice; no sum is over AREA."""
    add(units, spread)
    if times == 2:
        add(units, spread)


cdef void draw(const void* state, Canvas* canvas) noexcept nogil:
    cdef const Invaders* game = <const Invaders*>state
    cdef int r, c, k, score = game.score
    cdef unsigned int left
    if canvas.rgb == NULL:
        memcpy(canvas.grey, canvas.screen.backdrop_grey, SMALL * SMALL)
        memset(canvas.touched, 2, SMALL)
    if game.shot_y > 0:
        draw_thin(game, canvas, game.shot_x, game.shot_y, SHOT_HIGH, True)
    for k in range(BOMBS):
        if game.bomb_y[k] > 0:
            draw_thin(game, canvas, game.bomb_x[k], game.bomb_y[k], BOMB_HIGH, False)
    draw_shields(game, canvas)
    for r in range(ROWS):
        left = game.row[r]
        while left:
            c = ctz(left)
            left &= left - 1
            put_shape(canvas, game.x + PITCH_X * c, game.y + PITCH_Y * r, INVADERS + r + ROWS * game.pose)
    if game.blast > 0:
        put_shape(canvas, game.x + PITCH_X * game.blast_column, game.y + PITCH_Y * game.blast_row, BLAST)
    if game.saucer_x >= 0:
        put_shape(canvas, game.saucer_x, SAUCER_Y, SAUCER)
    else:
        for k in range(4):
            put_digit(canvas, 3 - k, score % 10)
            score //= 10
    if game.phase == SHOW:
        put_digit(canvas, LIVES_PLACE, min(<int>game.lives, 9))
    if game.phase == BURN:
        put_shape(canvas, game.cannon, CANNON_Y, WRECK + (game.rest >> 2 & 1))
    elif game.phase != SHOW or game.rest >> 3 & 1:
        put_shape(canvas, game.cannon, CANNON_Y, CANNON)


cdef void chunk(char* states, Io* io, int lo, int hi) noexcept nogil:
    run_chunk(reset, step, observe, draw, NULL, sizeof(Invaders), states, io, lo, hi)


make_stamps()
make_digits()
make_spread()
GAME = Game(
    name="space_invaders", title="SpaceInvaders", version=2, summary="Shoot invaders before they land, from behind shields.",
    actions=("NOOP", "FIRE", "RIGHT", "LEFT", "RIGHTFIRE", "LEFTFIRE"), feature_shape=(FEATURES,), frame_skip=4,
    feature_low=-10, feature_high=70,
    options={"lives": Option(3, 1, 9, "lives at first"),
             "first_wave": Option(0, 0, 4, "wave to begin with: each starts 10 pixels lower, up to 40")},
).bind(chunk, backdrop, draw, sizeof(Invaders))
