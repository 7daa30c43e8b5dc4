"""Run and jump to the flag of generated levels, with coins, pits, spikes, slimes, urchins and bats.

Levels. A level is 64 columns of 12 rows of tiles. It is a function of the options `level_seed` and `difficulty` and of the
level's number. With option `levels` = n, each level played has one of the numbers 0 .. n - 1 with equal chance; with 0, one
of 2^32. So a policy can be trained on some levels and tested on the levels of another seed. From left to right a level
consists of safe ground, then sections with 4, 3, 3 or 2 columns (by difficulty 0 .. 3) of safe ground between them, then
the flag in column 60. The sections are:

    flat
    step      the ground continues up to 1, 2, 2 or 3 tiles (by difficulty) higher or lower; it is always 2 to 6 tiles high
    pit       2 or more columns, at most 2, 3, 4 or 5 (by difficulty); one in three has spikes on its floor; the ground
              beyond it is at most 1 tile higher or 2 lower
    spikes    1 or more columns, at most 1, 2, 3 or 4
    walk      5 to 8 columns on which a slime walks to and fro (from difficulty 2 on one in three is an urchin)
    bricks    a ledge 3 tiles above the ground, with coins on it
    islands   1 to 3 ledges over a pit, 2 or 3 columns wide and 2 or 3 columns apart, each at most 1 tile higher or lower than
              the one before
    flight    from difficulty 2 on: a pit with a bat that flies up and down in the middle

The table SECTION in levels.pxd says how often each occurs. A danger that cannot be passed at a run can be waited for, so
every level can be solved.

Screen. 252x252 pixels, 12 tiles wide: the part of the level around the player, and above it a bar of the time left.

Actions. LEFT and RIGHT run, JUMP jumps; JUMPLEFT and JUMPRIGHT do both.

Player. A frame is 1/30 second; a tile is 256 units. The player is 183 units wide and 256 high. LEFT and RIGHT change his
speed by 6 units a frame in each frame (by 12 while he moves the other way), up to 72. With neither he loses 12 on the ground
and 2 in the air. A jump begins at 120 units a frame upwards. Gravity is 8 while he rises with a JUMP action held, 24 while
he rises without, and 12 while he falls, to at most 120. A jump is 1.2 to 3.3 tiles high and up to 7 long. JUMP counts only
if it was not held in the frame before; it then counts from 3 frames before he lands until 3 frames after he ran off an
edge. In a frame he first moves across and then down. Solid tiles, the level's two ends and its top stop him.

Enemies. An enemy is 219 units wide and 183 high. It turns back after a fixed number of frames, whatever the player does. A
slime or a bat is stomped if the player is falling and his feet are at most 140 units below its top when they touch: it
vanishes and throws him up at 90. Touching an enemy in any other way ends the episode.

Points. A coin gives 1 (its tile must be touched), a stomped enemy 1, the flag 10. The flag is reached when the player's
left side comes to its column, at any height.

End. The episode ends at the flag, or with option `stages` at the flag of the last of that many levels; each of them begins
with the player at its start and with full time. It also ends when an enemy hurts him, when he touches spikes (more of their
tile than its outer 48 units left and right and its upper 112), when he falls below the bottom row, and in the 1000th frame
of a level.
"""

from libc.stdint cimport uint8_t, uint16_t, uint32_t
from libc.string cimport memset

from envs_c.game cimport Game, Io, run_chunk
from envs_c.games.platformer.levels cimport (
    COLUMNS, DIFFICULTIES, ENEMIES, MARGIN, MEDIUM, ROWS, TILE, URCHIN, Platformer)
from envs_c.games.platformer.picture cimport (
    AHEAD, CELL, CREATURE, ENEMY_CELLS, FIGURE, PLAYER_CELLS, RUNS, SKY_COLOUR, STANDS, TILE_CELLS, TIME_COLOUR, VIEW, draw_art,
    draw_flag, draw_tiles, mix_paints, paint)
from envs_c.games.platformer.rules cimport (
    GOAL_X, GRACE, SPEED, TIME, begin_level, meet_enemies, move_enemies, move_player, steer, stung, take_coins)
from envs_c.games.platformer.valid cimport valid
from envs_c.rng cimport Rng
from envs_c.screen cimport SMALL, Canvas, canvas_rect

from envs_c.game import Feature, Option


cdef enum:
    WINDOW_COLUMNS = 12, WINDOW_ROWS = 9, BEHIND = 3, ABOVE = 4     # tiles around the player
    NUMBERS = 12, SEEN = 3, EACH = 6                                # features of the player; enemies; features of each
    WINDOW = NUMBERS + SEEN * EACH, PLANE = WINDOW_COLUMNS * WINDOW_ROWS, FEATURES = WINDOW + 3 * PLANE
    FLAG_POINTS = 10


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
    """Write the features of the first SEEN enemies that are not more than 3 tiles left of the player.

    Zeros for an enemy that is stomped or more than 12 tiles away.
    """
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
    """Write the bits of a window of tiles as 0 and 1, row by row.

    columns: WINDOW_COLUMNS sets of bits.
    row: the first of WINDOW_ROWS rows; may be negative.
    """
    cdef long i, k
    for i in range(WINDOW_ROWS):
        for k in range(WINDOW_COLUMNS):
            features[i * WINDOW_COLUMNS + k] = ((<int>columns[k] << ABOVE) >> (row + ABOVE + i)) & 1


cdef void observe(const void* state, void* out) noexcept nogil:
    """354 float32; the rows of GAME's `features` name them."""
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


cdef void backdrop(const double* options, Canvas* canvas) noexcept nogil:
    canvas_rect(canvas, 0, 0, CELL * SMALL, CELL * SMALL, SKY_COLOUR)


cdef void draw(const void* state, Canvas* canvas) noexcept nogil:
    """Draw the level around the player, who is a third of the way across except near the level's ends."""
    cdef const Platformer* game = <const Platformer*>state
    cdef int k, x, y, across = game.x * TILE_CELLS >> 8
    cdef int camera = min(max(across - AHEAD, 0), (COLUMNS - VIEW) * TILE_CELLS)
    draw_tiles(game, canvas, camera)
    draw_flag(game, canvas, camera)
    for k in range(game.enemies):
        x = (game.ex[k] * TILE_CELLS >> 8) - camera
        if game.kind[k] and -ENEMY_CELLS < x < SMALL:
            # A figure's feet are in its seventh row; an enemy's are 183 units below its top.
            y = ((game.ey[k] + 183) * TILE_CELLS >> 8) - TILE_CELLS
            draw_art(canvas, x, y, FIGURE[CREATURE - 1 + game.kind[k]][0], ENEMY_CELLS, game.edx[k] < 0)
    draw_art(canvas, across - camera, game.y * TILE_CELLS >> 8,
             FIGURE[RUNS if game.grace != GRACE or (game.vx and game.x >> 7 & 1) else STANDS][0], PLAYER_CELLS, game.facing)
    paint(canvas, 0, 0, (game.time * 86) >> 10, 1, TIME_COLOUR)


cdef void chunk(char* states, Io* io, int lo, int hi) noexcept nogil:
    run_chunk(reset, step, observe, draw, NULL, sizeof(Platformer), states, io, lo, hi)


cdef void prepare() noexcept nogil:
    mix_paints()


GAME = Game(
    name="platformer", title="Platformer", version=1, summary="Run and jump through endless levels to the flag.",
    actions=("NOOP", "LEFT", "RIGHT", "JUMP", "JUMPLEFT", "JUMPRIGHT"), feature_shape=(FEATURES,),
    feature_low=(-8,) * WINDOW + (0,) * 3 * PLANE, feature_high=(8,) * WINDOW + (1,) * 3 * PLANE,
    screen=(CELL * SMALL, CELL * SMALL),
    options={"levels": Option(0, 0, 1_000_000, "number of different levels; 0 is 2^32"),
             "level_seed": Option(0, 0, 2**31 - 1, "seed of the levels"),
             "difficulty": Option(MEDIUM, 0, DIFFICULTIES - 1, "0 has no enemies, 3 all of them and the widest pits"),
             "stages": Option(1, 1, 100, "levels an episode")},
    features=(
        Feature("speed x", -1, 1, help="units a frame to the right / 72"),
        Feature("speed y", -1.4, 1.5, help="units a frame down / 80"),
        Feature("on the ground", 0, 1, help="1 if the player stands"),
        Feature("frames after the ground", 0, 1, help="frames left to jump / 4: 1 on the ground, falling to 0 after an edge"),
        Feature("frames before the ground", 0, 1, help="frames left for which a JUMP that was pressed still counts / 4"),
        Feature("jump held", 0, 1, help="1 if JUMP was held in the last frame"),
        Feature("place in the tile x", -1, 1, help="the player's left side in its tile, -1 at the tile's left, 1 at its right"),
        Feature("place in the tile y", 0, 2, help="the player's top in its tile, 0 at the tile's top, 2 at its bottom"),
        Feature("height", -2.8, 3.5, help="(7 tiles - the player's top) / 2 tiles; the level's top is 3.5"),
        Feature("way to the flag", -1.9, 1.9, help="(30 tiles - the player's left) / 16 tiles: falls from 1.75 at the start "
                                                   "to -1.875 at the flag"),
        Feature("time gone", 0, 2, help="frames since the level began / 500"),
        Feature("faces left", 0, 1, help="1 if the player's last direction was left"),
        *(row for k in ("first", "second", "third") for row in (
            Feature(f"{k} enemy: there", 0, 1,
                    help=f"1 if the {k} enemy from 3 tiles left of the player on is at most 12 tiles to his right and not "
                         "stomped; else its six features are 0"),
            Feature(f"{k} enemy: x", -0.75, 3, help="left side less the player's left / 4 tiles"),
            Feature(f"{k} enemy: y", -2.9, 2.5, help="top less the player's top / 4 tiles, positive is lower"),
            Feature(f"{k} enemy: speed x", -1.75, 1.75, help="units a frame to the right / 16"),
            Feature(f"{k} enemy: speed y", -1.4, 1.4, help="units a frame down / 32"),
            Feature(f"{k} enemy: urchin", 0, 1, help="1 if it is an urchin"))),
        Feature("solid tiles", 0, 1, count=PLANE, help="1 if a tile is solid: 9 rows from 4 above the player's to 4 below, row "
                                                       "by row; in each 12 columns from 3 left of the player's to 8 right"),
        Feature("spikes", 0, 1, count=PLANE, help="the same tiles: 1 if spikes are in it"),
        Feature("coins", 0, 1, count=PLANE, help="the same tiles: 1 if a coin is in it"),
    ),
    compared_with="A plain twin of the rules in Python, frame by frame; a search solves all of 1,000 levels at each "
                  "difficulty.",
).bind(chunk, backdrop, draw, sizeof(Platformer), has_mask=False, valid=valid, lives=NULL, prepare=prepare)
