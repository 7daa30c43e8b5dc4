"""Run and jump through levels that a generator lays out: coins, pits, spikes, slimes, urchins and bats, and a flag at the end.

Levels. 64 columns of 12 tiles, all of it a function of the options `level_seed` and `difficulty` and of the level's number.
With `levels` = n each level played is one of numbers 0 .. n - 1 with equal chance, with 0 one of 2^32; so a policy can be
trained on some levels and tested on those of another seed. From left to right a level is ground that no harm can reach,
then sections with 2 to 4 columns of such ground between them (4, 3, 3, 2 by difficulty), then the flag in column 60:
    flat
    step      the ground goes on up to 1, 2, 2 or 3 tiles (by difficulty) higher or lower, always 2 to 6 tiles high
    pit       2 to 2, 3, 4 or 5 columns, every third with spikes on its floor; beyond it at most 1 higher or 2 lower
    spikes    1 to 1, 2, 3 or 4 columns
    walk      5 to 8 columns on which a slime (from difficulty 2 on, every third time an urchin) goes to and fro
    bricks    a ledge, 3 tiles up, with coins on it
    islands   1 to 3 ledges over a pit, 2 or 3 columns wide and 2 or 3 apart, each at most 1 higher or lower than the last
    flight    from difficulty 2 on, a pit in the middle of which a bat flies up and down
How often each comes stands in SECTION. What cannot be passed at a run can be waited for, so every level can be solved.

Player. A frame is 1/30 s, a tile 256 units. He gains 6 units a frame of speed towards LEFT or RIGHT, 12 where that is
against his motion, up to 72; with neither he loses 12 on the ground and 2 in the air. A jump begins at 120 upwards. Gravity
is 8 while he rises with a JUMP action held, 24 while he rises without, 12 while he falls, to 120 at most: a jump is 1.2 to
3.3 tiles high, and up to 7 long. JUMP counts when it is pressed anew, from 3 frames before he lands until 3 frames after he
ran off an edge. He is 183 wide and 256 high, moves across first and then down, and is stopped by solid tiles, by the level's
ends and by its top.

Enemies are 219 wide and 183 high, and turn after the same number of frames each time, whatever the player does. An enemy
that he touches ends the episode; but a slime or a bat whose upper 140 units his feet touch as he falls is stomped: it is
gone, and throws him up at 90. Spikes end it too, where he touches more than their tile's outer 48 units left and right and
upper 112; so do the bottom of a pit and the 1000th frame in a level.

Points. A coin whose tile he touches gives 1, an enemy stomped 1, the flag 10, which he has reached when his left side comes
to its column at any height. The episode ends with it; or, with the option `stages`, with that of the last of so many levels,
each begun anew in place and time.
"""

from libc.stdint cimport uint8_t, uint16_t, uint32_t
from libc.string cimport memcpy, memset

from envs_c.game cimport Game, Io, run_chunk
from envs_c.games.platformer.rules cimport (
    COLUMNS, DIFFICULTIES, ENEMIES, GOAL_COLUMN, GOAL_X, GRACE, MARGIN, MEDIUM, ROWS, SPEED, TILE, TIME, URCHIN,
    Platformer, begin_level, meet_enemies, move_enemies, move_player, steer, stung, take_coins,
)
from envs_c.rng cimport Rng
from envs_c.screen cimport SMALL, Canvas, canvas_rect, canvas_row, grey_of
from envs_c.game import Option


cdef enum:
    WINDOW_COLUMNS = 12, WINDOW_ROWS = 9, BEHIND = 3, ABOVE = 4     # tiles around the player
    NUMBERS = 12, SEEN = 3, EACH = 6                                # features: of the player, enemies, each of them
    WINDOW = NUMBERS + SEEN * EACH, PLANE = WINDOW_COLUMNS * WINDOW_ROWS, FEATURES = WINDOW + 3 * PLANE
    FLAG_POINTS = 10
    CELL = 3                                # screen pixels a pixel of the grey canvas: all is made of these
    TILE_CELLS = 7, VIEW = 12               # of those a tile; tiles across the screen
    PLAYER_CELLS = 5, ENEMY_CELLS = 6, AHEAD = 28   # AHEAD: from the screen's left to the player
    SKY = 0, GROUND, GRASS, SPIKE, COIN, ARTS = 16  # tiles; what cannot be is drawn as sky
    STANDS = 0, RUNS, CREATURE              # figures: the player's two, then slime, urchin and bat
    SKY_COLOUR = 0x182848, TIME_COLOUR = 0xB0B0B0, POLE_COLOUR = 0xC8C8C8, FLAG_COLOUR = 0x60F060

cdef extern from *:
    """
    static const char TILE_ART[5][7][8] = {
        {".......", ".......", ".......", ".......", ".......", ".......", "......."},
        {"ddddddd", "ddddddd", "ddDdddd", "ddddddd", "ddddddd", "dddddDd", "ddddddd"},
        {"ggggggg", "gdgggdg", "ddddddd", "ddDdddd", "ddddddd", "dddddDd", "ddddddd"},
        {".......", ".......", ".......", ".s...s.", ".s...s.", "sss.sss", "sss.sss"},
        {".......", "..ccc..", ".cc.cc.", ".c.c.c.", ".cc.cc.", "..ccc..", "......."}};
    static const char FIGURE[5][7][8] = {
        {".www.", ".wbb.", ".www.", "wrrrw", "wrrrw", ".rrr.", ".w.w."},
        {".www.", ".wbb.", ".www.", ".rrrw", "wrrr.", ".rrr.", "w...w"},
        {"......", "......", ".eeee.", "ekeeke", "eeeeee", "eeeeee", "ee..ee"},
        {"......", "......", "u.uu.u", ".uuuu.", "uukkuu", ".uuuu.", "u.uu.u"},
        {"......", "......", "v....v", "vvkkvv", "vvvvvv", ".vvvv.", "..vv.."}};
    static const struct { char name; unsigned colour; } PAINT[13] = {
        {'.', 0x182848}, {'d', 0x805030}, {'D', 0x603820}, {'g', 0x50A840}, {'s', 0xD0D0E0}, {'c', 0xF8D820},
        {'w', 0xFFFFFF}, {'k', 0x000000}, {'r', 0xF8A0A0}, {'e', 0x40E0A0}, {'u', 0xF07840}, {'v', 0xD090F8},
        {'b', 0x3060C0}};
    // Made from these when this module is imported, and constant from then on:
    static unsigned COLOUR[128];            // by letter
    static unsigned char GREY[128];
    static unsigned char TILE_GREY[16][7][8];
    """
    ctypedef struct Paint:
        char name
        uint32_t colour
    const char[5][7][8] TILE_ART, FIGURE
    const Paint[12] PAINT
    uint32_t[128] COLOUR
    uint8_t[128] GREY
    uint8_t[16][7][8] TILE_GREY


cdef void reset(void* state, const double* options, Rng* rng) noexcept nogil:
    cdef Platformer* game = <Platformer*>state
    memset(game, 0, sizeof(Platformer))
    game.levels = <uint32_t>options[0]
    game.level_seed = <uint32_t>options[1]
    game.difficulty = <uint8_t>options[2]
    game.stages = <uint8_t>options[3]
    begin_level(game, rng)


cdef float step(void* state, int action, Rng* rng, bint* over) noexcept nogil:
    cdef Platformer* game = <Platformer*>state
    cdef int points
    steer(game, action)
    move_player(game)
    move_enemies(game)
    points = take_coins(game) + meet_enemies(game, over)
    game.time -= 1
    if game.y >= ROWS * TILE or game.time == 0 or stung(game):
        over[0] = True
    if game.x >= GOAL_X and not over[0]:
        points += FLAG_POINTS
        game.stage += 1
        over[0] = game.stage == game.stages
        if not over[0]:
            begin_level(game, rng)
    game.score += points
    return <float>points


cdef inline void see_enemies(const Platformer* game, float* features) noexcept nogil:
    """The first SEEN that are not yet 3 tiles behind the player's left; zeros for those gone or more than 12 tiles off."""
    cdef int slot, k, first = 0, away
    for k in range(ENEMIES):
        first += game.ex[k] < game.x - 3 * TILE
    for slot in range(SEEN):
        k = min(first + slot, ENEMIES - 1)
        away = game.ex[k] - game.x
        if first + slot >= ENEMIES or not game.kind[k] or away > 12 * TILE:
            memset(features, 0, EACH * sizeof(float))
        else:
            features[0] = 1
            features[1] = away * <float>(1.0 / (4 * TILE))
            features[2] = (game.ey[k] - game.y) * <float>(1.0 / (4 * TILE))
            features[3] = game.edx[k] * <float>(1.0 / 16)
            features[4] = game.edy[k] * <float>(1.0 / 32)
            features[5] = game.kind[k] == URCHIN
        features += EACH


cdef inline void see_plane(const uint16_t* columns, int row, float* features) noexcept nogil:
    """The bits of WINDOW_ROWS rows, the first at `row`, of WINDOW_COLUMNS columns, as 0 and 1, row by row."""
    cdef long i, k
    for i in range(WINDOW_ROWS):
        for k in range(WINDOW_COLUMNS):
            features[i * WINDOW_COLUMNS + k] = ((<int>columns[k] << ABOVE) >> (row + ABOVE + i)) & 1


cdef void observe(const void* state, void* out) noexcept nogil:
    """Twelve numbers of the player, six of each of three enemies, and three planes of 9 rows x 12 columns of tiles.

    0 1 speed x y, 2 on the ground, 3 4 frames left to jump after the edge and before the ground, 5 JUMP was held, 6 7 place
    in the tile x y, 8 height, 9 way to the flag, 10 time gone, 11 faces left; 12 + 6 k .. of the k-th enemy from 3 tiles
    behind on: 1, x and y from the player in 4 tiles, speed x y, urchin. Then 1 where a tile is solid, has spikes, has a coin:
    rows from 4 above the player's to 4 below, columns from 3 to the left of his to 8 to the right.
    """
    cdef const Platformer* game = <const Platformer*>state
    cdef float* features = <float*>out
    cdef int column = (game.x >> 8) + MARGIN - BEHIND, row = ((game.y + TILE // 2) >> 8) - ABOVE
    features[0] = game.vx * <float>(1.0 / SPEED)
    features[1] = game.vy * <float>(1.0 / 80)
    features[2] = game.grace == GRACE
    features[3] = game.grace * <float>(1.0 / 4)
    features[4] = game.buffer * <float>(1.0 / 4)
    features[5] = game.held
    features[6] = ((game.x & 255) - 128) * <float>(1.0 / 128)
    features[7] = (game.y & 255) * <float>(1.0 / 128)
    features[8] = (7 * TILE - game.y) * <float>(1.0 / (2 * TILE))
    features[9] = (GOAL_X // 2 - game.x) * <float>(1.0 / (16 * TILE))
    features[10] = (TIME - game.time) * <float>(2.0 / TIME)
    features[11] = game.facing
    see_enemies(game, features + NUMBERS)
    see_plane(game.solid + column, row, features + WINDOW)
    see_plane(game.spike + column, row, features + WINDOW + PLANE)
    see_plane(game.coin + column, row, features + WINDOW + 2 * PLANE)


cdef inline void paint(Canvas* canvas, int x, int y, int w, int h, uint32_t colour) noexcept nogil:
    """In pixels of the grey canvas, all of whose rows are written as bytes; what lies outside is cut off."""
    cdef int row, x0 = max(x, 0), x1 = min(x + w, SMALL)
    if canvas.rgb != NULL:
        canvas_rect(canvas, CELL * x, CELL * y, CELL * w, CELL * h, colour)
    elif x0 < x1:
        for row in range(max(y, 0), min(y + h, SMALL)):
            memset(canvas.grey + row * SMALL + x0, grey_of(colour), x1 - x0)


cdef inline void draw_art(Canvas* canvas, int x, int y, const char* art, int w, bint mirror) noexcept nogil:
    """Seven rows of eight letters, of which w count; points leave what is there."""
    cdef int row, k, column
    cdef uint8_t letter
    for row in range(max(-y, 0), min(TILE_CELLS, SMALL - y)):
        for k in range(w):
            letter = <uint8_t>art[8 * row + (w - 1 - k if mirror else k)]
            column = x + k
            if letter != b"." and 0 <= column < SMALL:
                if canvas.rgb != NULL:
                    canvas_rect(canvas, CELL * column, CELL * (y + row), CELL, CELL, COLOUR[letter & 127])
                else:
                    canvas.grey[(y + row) * SMALL + column] = GREY[letter & 127]


cdef inline int tile_at(const Platformer* game, int column, int row) noexcept nogil:
    cdef int k = column + MARGIN, solid = game.solid[k] >> row & 1
    return (solid << (solid & ~((game.solid[k] << 1) >> row))) + SPIKE * (game.spike[k] >> row & 1) + COIN * (
        game.coin[k] >> row & 1)


cdef inline void draw_tiles(const Platformer* game, Canvas* canvas, int camera) noexcept nogil:
    """In grey a row of tiles at a time: eight bytes a tile's row of pixels, of which the next tile's cover the last."""
    cdef uint8_t[TILE_CELLS][112] band
    cdef int row, k, line, tile, first = camera // TILE_CELLS, offset = camera % TILE_CELLS
    for row in range(ROWS):
        for k in range(VIEW + 1):
            tile = tile_at(game, first + k, row)
            if canvas.rgb != NULL:
                if tile:
                    draw_art(canvas, k * TILE_CELLS - offset, row * TILE_CELLS, TILE_ART[tile % 5][0], TILE_CELLS, False)
            else:
                for line in range(TILE_CELLS):
                    memcpy(&band[line][k * TILE_CELLS], TILE_GREY[tile & (ARTS - 1)][line], 8)
        if canvas.rgb == NULL:
            for line in range(TILE_CELLS):
                memcpy(canvas_row(canvas, row * TILE_CELLS + line), &band[line][offset], SMALL)


cdef inline void draw_flag(const Platformer* game, Canvas* canvas, int camera) noexcept nogil:
    cdef int x = GOAL_COLUMN * TILE_CELLS + 2 - camera, row = 2
    while row < ROWS and not game.solid[MARGIN + GOAL_COLUMN] >> row & 1:
        row += 1
    if x < SMALL:
        paint(canvas, x, (row - 4) * TILE_CELLS, 1, 4 * TILE_CELLS, POLE_COLOUR)
        paint(canvas, x + 1, (row - 4) * TILE_CELLS, 6, 5, FLAG_COLOUR)


cdef void backdrop(const double* options, Canvas* canvas) noexcept nogil:
    canvas_rect(canvas, 0, 0, CELL * SMALL, CELL * SMALL, SKY_COLOUR)


cdef void draw(const void* state, Canvas* canvas) noexcept nogil:
    """The level around the player, who is a third of the way across but near the level's ends; the time left above."""
    cdef const Platformer* game = <const Platformer*>state
    cdef int k, x, y, across = game.x * TILE_CELLS >> 8
    cdef int camera = min(max(across - AHEAD, 0), (COLUMNS - VIEW) * TILE_CELLS)
    draw_tiles(game, canvas, camera)
    draw_flag(game, canvas, camera)
    for k in range(game.enemies):
        x = (game.ex[k] * TILE_CELLS >> 8) - camera
        if game.kind[k] and -ENEMY_CELLS < x < SMALL:
            # a figure's feet are in its seventh row, an enemy's 183 units below its top
            y = ((game.ey[k] + 183) * TILE_CELLS >> 8) - TILE_CELLS
            draw_art(canvas, x, y, FIGURE[CREATURE - 1 + game.kind[k]][0], ENEMY_CELLS, game.edx[k] < 0)
    draw_art(canvas, across - camera, game.y * TILE_CELLS >> 8,
             FIGURE[RUNS if game.grace != GRACE or (game.vx and game.x >> 7 & 1) else STANDS][0], PLAYER_CELLS, game.facing)
    paint(canvas, 0, 0, (game.time * 86) >> 10, 1, TIME_COLOUR)


cdef void chunk(char* states, Io* io, int lo, int hi) noexcept nogil:
    run_chunk(reset, step, observe, draw, NULL, sizeof(Platformer), states, io, lo, hi)


cdef void mix_paints():
    """Make the colours of letters and the greys of tiles, whose eighth byte the next tile covers."""
    cdef int k, row, column
    for k in range(13):
        COLOUR[<int>PAINT[k].name] = PAINT[k].colour
        GREY[<int>PAINT[k].name] = grey_of(PAINT[k].colour)
    for k in range(ARTS):
        for row in range(7):
            for column in range(7):
                TILE_GREY[k][row][column] = GREY[<int>TILE_ART[k if k <= COIN else SKY][row][column]]


mix_paints()
GAME = Game(
    name="platformer", title="Platformer", version=1, summary="Run and jump through endless levels to the flag.",
    actions=("NOOP", "LEFT", "RIGHT", "JUMP", "JUMPLEFT", "JUMPRIGHT"), feature_shape=(FEATURES,),
    feature_low=(-8,) * WINDOW + (0,) * 3 * PLANE, feature_high=(8,) * WINDOW + (1,) * 3 * PLANE,
    screen=(CELL * SMALL, CELL * SMALL),
    options={"levels": Option(0, 0, 1_000_000, "different levels; 0 is 2^32"),
             "level_seed": Option(0, 0, 2**31 - 1, "which levels"),
             "difficulty": Option(MEDIUM, 0, DIFFICULTIES - 1, "0 has no enemies, 3 all of them and the widest pits"),
             "stages": Option(1, 1, 100, "levels an episode")},
).bind(chunk, backdrop, draw, sizeof(Platformer))
