"""Pac-Man by the rules of the arcade machine of 1980: one maze, four ghosts with characters of their own, 21 levels.

The numbers are those of J. Pittman, "The Pac-Man Dossier", 2009. The tables by maze and by level are in maze.pxd.

Screen. 252x252 pixels. The maze fills the width. The closed blocks at its sides hold the lives in reserve (left, above the
tunnel), the score's last three digits (right, above), its thousands (left, below) and the level (right, below). Fruit is a
red square. Blue ghosts flash white before they recover. Eyes have no body.

Maze. 28x31 tiles of 8x8 pixels, with 240 dots and 4 pellets. The tunnel continues for two tiles beyond each side of the
maze, where its ends join. Places are kept in 1/16 pixel. A frame is 1/60 second. A speed of 100 % is 1.25 pixels a frame,
so 5 % is 1/16 pixel a frame.

Actions. UP, LEFT, DOWN or RIGHT turns the player at once if the tile that he is in is open on that side, or if it is the
way back. Otherwise, and with NOOP, he goes on until the way ahead is closed. After a turn he drifts to the middle of the
new way as fast as he moves, so a turn taken early or late is a short cut. A dot, eaten when he enters its tile, holds him
for 1 frame, a pellet for 3 frames.

Ghosts. At the middle of a tile a ghost takes the direction that it chose one tile before, and chooses one for the next
tile: any open direction but back. If there are several, it takes the one whose tile is nearest to its target in a straight
line; of equals the first of up, left, down, right. In each frame the player moves first, and the ghosts see one another at
the places of the previous frame. Two tiles above the house and two above the player's start cannot be left upwards, except
by blue ghosts and eyes. The targets are:

    Blinky  the player's tile
    Pinky   4 tiles ahead of the player, and also 4 tiles left if he goes up (the machine's arithmetic overflows)
    Inky    the end of a line from Blinky through the tile 2 ahead of the player (up: and 2 left), twice as long as to that tile
    Clyde   the player's tile if it is 8 or more tiles away, else his own corner

Waves. Scatter and chase waves alternate: 7 20 7 20 5 20 5 seconds, then chase without end. In levels 2 to 4 the sixth wave
lasts 1033 seconds and the seventh one frame; from level 5 on they are 5 20 5 20 5 1037 seconds and one frame. In a scatter
wave the targets are corners outside the maze: Blinky's at the top right, Pinky's at the top left, Inky's at the bottom
right, Clyde's at the bottom left. At each change of waves all ghosts turn back at the middle of the tile that they are
coming to.

Speeds. Each level has a speed of the player, a speed of the player with power, and speeds of ghosts, of blue ghosts, and of
ghosts in the tunnel (6 tiles from each side) and in the house. Eyes go at 160 %.

Elroy. When few dots are left (by level), Blinky goes faster; at half of these he goes faster still. He then hunts the
player in scatter waves, too. After a life is lost this is suspended until Clyde leaves the house.

Power. A pellet turns all ghosts back and makes them blue for a time that depends on the level; the waves stand still during
it. A blue ghost goes slowly and at random: it draws one of four directions, and if that is closed takes the first open one
of up, left, down, right. The player meets a ghost if both are in one tile at the end of a frame. A blue ghost is eaten: its
eyes return to the house and come out as a ghost. Any other ghost takes a life.

House. Pinky, Inky and Clyde wait in the house and leave it in this order. Each eaten dot counts for the first of the
waiting ghosts. Pinky leaves at once; Inky at 30 dots in level 1, later at once; Clyde at 60 dots in level 1, at 50 in level
2, later at once. After a life is lost a common count is used instead: Pinky leaves at 7 and Inky at 17; at 32, if Clyde
still waits, the ghosts' own counts continue. If no dot is eaten for 4 seconds (from level 5 on 3 seconds), the first of the
waiting ghosts leaves. A ghost turns left at the door, or right if ghosts were turned back while it was inside.

Fruit. When 70 and when 170 dots are eaten, fruit appears below the house for 9 to 10 seconds (random).

Points. A dot gives 10, a pellet 50. The ghosts eaten with one pellet give 200, 400, 800 and 1600. Fruit gives 100 to 5000
by level. The first 10,000 points give one extra life.

Forecast. With forecast=1, 36 more features follow, and the game itself is the same. They are nine times four, for the tile
above the player's, the one to the left, below and to the right; all nine are 0 if a wall is there. They count tiles to go from
it. For the nearest dot at d: 1 / (1 + d), or 0 if no dot is left; and 1 - d / 30. For the nearest pellet at d: 1 - d / 20. For
the nearest ghost: 1 - d / 12, with d the tiles that it has to go if its first step is not back; blue ghosts, eyes and ghosts in
the house do not count. For the nearest blue ghost at d: 1 - d / 20. These four are at least 0. For the fruit at d: 1 / (1 + d),
or 0 without fruit. Then the safe tiles. They are those that the player can reach in n steps, 1 to 24, over safe tiles, if every
such ghost needs more than n + 1 steps. A tile belongs to the way on which he reaches it first; of equals the first of up, left,
down, right. The features are the number of safe tiles / 40, at most 1; the highest n / 24; and 1 if there is no safe tile.

End. A level ends when all dots are eaten. The episode ends when the last of 3 lives (option `lives`) is lost, or after
level 21. The machine's pauses are left out; but before a level and after a lost life READY! lasts for 1 to 60 frames
(random), so that episodes differ.
"""

from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memset

from envs_c.game cimport Game, Io, run_chunk
from envs_c.games.pacman.forecast cimport FORECAST_FEATURES, forecast, lay_paths
from envs_c.games.pacman.maze cimport (
    DOOR_X, DOTS, DOT_AT, DX, DY, EXITS, EYES, FORECAST, FRUIT, FRUIT_Y, HALF, HOME, LEFT, LEVEL, LEVELS, MAZE, NEAR, PELLETS,
    ROWS, SINKS, TILE, UP, WALL_COLUMN, WALL_ROW, WIDE, Pacman, clz, closed, ctz, lay_out, rules_of)
from envs_c.games.pacman.picture cimport (
    BLACK, BLUE_WALL, CELL, PEACH, PINK, RED, YELLOW, cell_y, draw_ghost, draw_gone, draw_number, paint)
from envs_c.games.pacman.rules cimport (
    add_points, begin_level, begin_life, eat_dot, keep_house, meet_ghosts, move_ghosts, move_player, run_clocks)
from envs_c.games.pacman.valid cimport valid
from envs_c.rng cimport Rng
from envs_c.screen cimport Canvas

from envs_c.game import Feature, Option


cdef enum:
    BEFORE = 52, FEATURES = BEFORE + DOTS       # features before the dots, and without the forecast


cdef void reset(void* state, const double* options, Rng* rng) noexcept nogil:
    cdef Pacman* game = <Pacman*>state
    memset(game, 0, sizeof(Pacman))
    game.lives = <uint8_t>options[0]
    game.level = <uint8_t>options[1]
    game.rules = <uint8_t>rules_of(options)
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
    """1 / tiles to the nearest dot towards the higher bits, 0 if a wall comes first.

    dots, walls: bits of a row or a column of tiles.
    at: the player's bit.
    """
    cdef int away = ctz(((dots | walls) >> at >> 1) | <uint32_t>1 << 31) + 1
    return NEAR[away * <int>(<uint64_t>dots >> (at + away) & 1)]


cdef inline float look_back(uint32_t dots, uint32_t walls, int at) noexcept nogil:
    """As `look_on`, towards the lower bits."""
    cdef uint32_t below = ((dots | walls) & ((<uint32_t>1 << at) - 1)) << 1 | 1
    cdef int found = 31 - clz(below)  # the bit + 1
    return NEAR[(at + 1 - found) * <int>((<uint64_t>dots << 1) >> found & 1)]


cdef void observe(const void* state, void* out) noexcept nogil:
    """296 float32, or 332 with a forecast; the rows of GAME's `features` name them. Usual states have 0 in most places."""
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
        features[BEFORE + i] = 1 - game.dot[i]
    if game.rules & FORECAST:
        forecast(game, features + FEATURES)


cdef void backdrop(const double* options, Canvas* canvas) noexcept nogil:
    """Outlines of the walls, the door and all dots; `draw` paints over the dots that are eaten."""
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


cdef int lives(const void* state) noexcept nogil:
    """The lives left, the current one included."""
    return (<const Pacman*>state).lives


cdef void chunk(char* states, Io* io, int lo, int hi) noexcept nogil:
    run_chunk(reset, step, observe, draw, NULL, sizeof(Pacman), states, io, lo, hi)


cdef void prepare() noexcept nogil:
    lay_out()
    lay_paths()


GAME = Game(
    name="pacman", title="Pacman", version=1, summary="Eat all dots of a maze, and the ghosts when they are blue.",
    actions=("NOOP", "UP", "LEFT", "DOWN", "RIGHT"), frame_skip=4, screen=(252, 252), feature_low=-4, feature_high=4,
    feature_shape=lambda options: (FEATURES + FORECAST_FEATURES * (options["forecast"] > 0),),
    options={"lives": Option(3, 1, 5, "lives at the start"), "first_level": Option(1, 1, LEVELS, "first level"),
             "forecast": Option(0, 0, 1, "1: 36 more features, ways to dots, ghosts and safety; the game is the same")},
    features=(
        Feature("player x", -2, 2, help="in units of 8 tiles to the right, 0 in the maze's middle"),
        Feature("player y", -1.82, 1.69, help="in units of 8 tiles down, 0 at the top of row 16"),
        Feature("direction", -1, 1, count=2, help="x (1 right, -1 left) and y (1 down, -1 up) of the player's direction"),
        Feature("open", 0, 1, count=4, help="1 if the player's tile is open: up, left, down, right"),
        Feature("dot in sight", 0, 1, count=4, help="1 / tiles to the nearest dot up, left, down, right; 0 if a wall comes "
                                                    "first"),
        *(row for name in ("Blinky", "Pinky", "Inky", "Clyde") for row in (
            Feature(f"{name}: x", -4, 4, help="the ghost's x less the player's / 8 tiles"),
            Feature(f"{name}: y", -3.5, 3.5, help="the ghost's y less the player's / 8 tiles, positive is lower"),
            Feature(f"{name}: direction", -1, 1, count=2, help="x (1 right, -1 left) and y (1 down, -1 up)"),
            Feature(f"{name}: blue", 0, 1, help="1 if the ghost can be eaten"),
            Feature(f"{name}: eyes", 0, 1, help="1 if only its eyes are left"),
            Feature(f"{name}: in the house", 0, 1, help="1 if it waits in the house or is leaving it"))),
        Feature("power", 0, 1, help="frames for which ghosts stay blue / 360"),
        Feature("scatter", 0, 1, help="1 in a scatter wave, 0 in a chase wave"),
        Feature("wave left", 0, 1, help="frames left of the wave, at most 1200, / 1200; 0 in the last wave, which never ends"),
        Feature("Elroy", 0, 1, help="0, 0.5 (Blinky is faster) or 1 (faster still)"),
        Feature("ghosts eaten", 0, 1, help="ghosts eaten with the current pellet / 4; 0 without power"),
        Feature("fruit", 0, 1, help="frames left of the fruit / 600; 0 without fruit"),
        Feature("fruit x", -2, 2, help="the fruit's x less the player's / 8 tiles; 0 without fruit"),
        Feature("fruit y", -1.5, 2, help="the fruit's y less the player's / 8 tiles, positive is lower; 0 without fruit"),
        Feature("lives", 0, 2, help="lives / 3, the current one included"),
        Feature("level", 0, 1, help="(level - 1) / 20"),
        Feature("dots gone", 0, 1, help="share of the 244 dots and pellets that are eaten"),
        Feature("READY!", 0, 1, help="frames until the game begins / 60"),
        Feature("eaten dots", 0, 1, count=PELLETS, help="1 if a dot is eaten; row by row from the top, each from the left"),
        Feature("eaten pellets", 0, 1, count=DOTS - PELLETS, help="1 if a pellet is eaten: top left, top right, bottom left, "
                                                                  "bottom right"),
    ),
    compared_with="A plain twin of the arcade machine's rules in Python, frame by frame; the ghosts' targets are also computed "
                  "by hand.",
).bind(chunk, backdrop, draw, sizeof(Pacman), has_mask=False, valid=valid, lives=lives, prepare=prepare)
