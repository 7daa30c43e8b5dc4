"""Enduro, after the Atari 2600 cartridge: a race through days and nights in which so many cars must be passed a day.

The screen is 160x210: eight black columns at the left, sky and hills in rows 0 .. 50, the road in perspective in rows 52 ..
154, the panel below (way driven, day, cars still to pass). A frame is 1/60 s. The road has seven slots of equal length; a slot
is 256 long, holds at most one car, and all other cars drive through them together, 24 a frame (in a frame in which the own car
comes into a new slot they keep its pace). The own car drives its speed, 6 .. 120. So when it is the faster one the slots come
nearer, else they go ahead; where the first slot comes nearer than the own car its car has been passed, and where the slots go
ahead a car may come from behind into the first.

FIRE is the motor: every eighth frame speed grows by 2, from 46 on by 1. DOWN brakes: 1 a frame, to 6. With neither the car
rolls on unchanged. The wheel moves the car, and the picture of the road against it, by 1/4 pixel a frame at low speed to 1 at
72; in snow by 1/5 at most. A bend pulls the car outwards, the more the faster. Bends to either side and straights follow each
other at random, 8 to 247 slots long; a bend comes up at the far end of the road first.

At either edge of the road the car bounces: it loses a quarter of its speed and is out of control for 19 frames in which it
slides back. Touching another car ends all speed but 6, and the car slides towards the farther edge without control until it
has bounced there, or for 128 frames. Then the others have left it behind, and it must catch up.

Cars fill the three lanes by chance: one next to another in the neighbouring slot keeps its lane, so there is always a way
past; from behind they come on the side of the road on which the own car is not.

The first day asks for 200 cars, each later one for 300. A car that is passed counts one less and gives a point; one that
passes counts one more (never more than the day's number) and takes a point. When none is left flags are shown, and until the
day ends nothing counts. A day has 13,312 frames: summer light, from 3,072 on snow, from 5,120 dusk, from 7,168 night, in which
of other cars only the tail lights are seen, from 9,216 fog, which hides the far road too, from 11,264 night again, and from
12,288 dawn. If cars are left to pass when it ends, the game is over; else the next day begins, without an end.

Speeds, distances, rows, shapes, colours and times are the cartridge's, read from its memory frame by frame. Its chance is not
ours: lanes, bends and gaps come from `rng`, about as often as there.
"""

from libc.stdint cimport uint8_t, uint16_t, uint32_t
from libc.string cimport memcpy, memset

from envs_c.game cimport Game, Io, run_chunk
from envs_c.games.enduro.picture cimport (
    Scene, draw_edges, draw_hills, draw_numbers, draw_traffic, put_digit, put_drum, put_hills, shape_of)
from envs_c.games.enduro.rules cimport (
    BENDS, DAY, DEPTHS, FIRST_QUOTA, FOG, FOG_DEPTH, FULL, PHASE, PIXEL, QUOTA, SLOTS, Enduro, begin, car_left, lane_x,
    play_frame, season_of)
from envs_c.games.enduro.tables cimport (
    BEND, BLACK, COVER, DOT, DOT_WIDE, DRUM, DRUM_X, DRUM_Y, EDGES, EDGE_COLOUR, EDGE_GREY, EDGE_ROW, EDGE_TOP, FLAG, GREEN,
    GROUND, GROUNDS, GROUND_ROW, HILL_COVER, HILL_ROW, LIGHT_COVER, MARGIN, NUMBERS, NUMBERS_END, OFFSET, PALETTE, PALETTES,
    PANELS, PANEL_ROW, PICTURES, PLACES, PLACE_X, PLACE_Y, RAINBOW, RED, ROAD_END, ROAD_ROWS, SAND, SIGN, SKIES, SKY, STAMPS,
    STAMP_ROWS, STRAIGHT)
from envs_c.rng cimport Rng
from envs_c.screen cimport SMALL, Canvas, grey_of
from envs_c.stamp cimport (
    CELLS, CELL_X, CELL_Y, HEIGHT, UNIT_X, UNIT_Y, WIDTH, Sheet, cell_at, cover_row, cut_stamp, put, put_row, sheet_of,
    to_bytes)

from envs_c.game import Option


cdef enum:
    FEATURES = 40


cdef void reset(void* state, const double* options, Rng* rng) noexcept nogil:
    begin(<Enduro*>state, <int>options[0])


cdef float step(void* state, int action, Rng* rng, bint* over) noexcept nogil:
    return play_frame(<Enduro*>state, action, rng, over)


cdef void observe(const void* state, void* out) noexcept nogil:
    """Speed; the road's place, bend; frames out of control, with their direction; season (6); cars left and whether none
    is; day, time of day, phase of the traffic; the lane of the car in each slot (7 x 3); of the nearest two cars, how near
    they are and how far to the right of the own car their lane leads. What fog hides is not told.
    """
    cdef const Enduro* game = <const Enduro*>state
    cdef float* features = <float*>out
    cdef int k, lane, depth, season = season_of(game), sight = FOG_DEPTH if season == FOG else DEPTHS
    cdef float x = game.x * <float>(1.0 / PIXEL), own = car_left(game) + 8 - x - 88
    cdef float* near = features + 36
    memset(features, 0, FEATURES * sizeof(float))
    features[0] = (game.speed - 45) * <float>(1.0 / 30)
    features[1] = x * <float>(1.0 / 12)
    features[2] = game.bend * <float>(1.0 / FULL)
    features[3] = game.crash * (<float>(1.0 / 64) if game.slide > 0 else <float>(-1.0 / 64))
    features[4 + season] = 1.0
    features[10] = game.left * (<float>(1.0 / FIRST_QUOTA) if game.day == 1 else <float>(1.0 / QUOTA))
    features[11] = game.left == 0
    features[12] = min(game.day - 1, 8) * <float>(0.25)
    features[13] = game.frame * <float>(2.0 / DAY) - 1
    features[14] = game.phase * <float>(2.0 / PHASE) - 1
    for k in range(SLOTS):
        if game.slot[k]:
            lane, depth = game.slot[k] & 3, 16 * k + (game.phase >> 4)
            if depth < sight:
                features[14 + 3 * k + lane] = 1.0
                if near < features + FEATURES:
                    near[0] = 1.0 - depth * <float>(1.0 / DEPTHS)
                    near[1] = (lane_x(lane, 150) - own) * <float>(1.0 / 25)
                    near += 2


cdef void put_background(Sheet* sheet, int palette) noexcept nogil:
    """All that stands still; grey sums must be 0 before."""
    cdef int k
    put(sheet, MARGIN, 0, WIDTH, 45, BLACK, SKY[palette][0])
    for k in range(1, 4):
        put(sheet, MARGIN, 43 + 2 * k, WIDTH, 2, BLACK, SKY[palette][k])
    put(sheet, MARGIN, 51, WIDTH, ROAD_END - 51, BLACK, GROUND[palette])
    put(sheet, 48, 161, 64, 30, BLACK, RED)
    for k in range(7):
        put(sheet, 20, 196 + k, 20 - k, 1, BLACK, RAINBOW[k])


cdef void put_panel(Sheet* sheet, bint done, int wave) noexcept nogil:
    """Boxes of the panel, without digits."""
    cdef uint32_t box = GREEN if done else SAND
    cdef int k, row
    put(sheet, 56, 164, 40, 9, RED, SAND)
    put(sheet, 96, 164, 8, 9, RED, BLACK)
    put(sheet, 56, 179, 8, 9, RED, box)
    put(sheet, 72, 179, 32, 9, RED, BLACK if done else SAND)
    for row in range(7):
        if not done:
            put_row(sheet, 72, 180 + row, SIGN[row], SAND, BLACK)
    if done:
        for row in range(8):
            for k in range(4):
                put_row(sheet, 72 + 8 * k + 2 * wave, 180 + row, FLAG[row], BLACK, GREEN)


cdef void backdrop(const double* options, Canvas* canvas) noexcept nogil:
    """The first day's colours; `draw` paints everything anew."""
    cdef Sheet sheet = sheet_of(canvas, NULL, MARGIN)
    put_background(&sheet, 0)


cdef void draw(const void* state, Canvas* canvas) noexcept nogil:
    cdef const Enduro* game = <const Enduro*>state
    cdef int palette = PALETTE[game.frame >> 8], row
    cdef int panel = 0 if game.left > 0 else 1 + (game.frame >> 4 & 1)
    cdef uint16_t[CELLS] sums
    cdef Scene scene
    scene.ground = GROUND[palette]
    scene.sheet = sheet_of(canvas, sums, MARGIN)
    if canvas.rgb != NULL:
        put_background(&scene.sheet, palette)
    else:
        memcpy(sums + HILL_ROW * SMALL, SKIES[palette], sizeof(SKIES[0]))
        for row in range(GROUND_ROW, NUMBERS):
            memcpy(sums + row * SMALL, GROUNDS[palette], sizeof(GROUNDS[0]))
    draw_hills(game, &scene.sheet, palette)
    draw_edges(game, &scene)
    draw_traffic(game, &scene)
    if canvas.rgb != NULL:
        put_panel(&scene.sheet, panel > 0, panel - 1)
    else:
        memcpy(sums + NUMBERS * SMALL, PANELS[panel], sizeof(PANELS[0]))  # and away with what of cars is below the road
    draw_numbers(game, &scene.sheet)
    if canvas.rgb == NULL:
        memset(canvas.touched, 2, SMALL)  # all rows are written as bytes
        finish_row_blocks(sums, PICTURES[palette], canvas.grey)


cdef inline void finish_row_blocks(const uint16_t* sums, const uint8_t* picture, uint8_t* grey) noexcept nogil:
    """Greys from the sums where there are some, else from the picture of what stands still."""
    memcpy(grey, picture, HILL_ROW * SMALL)
    to_bytes(sums + HILL_ROW * SMALL, grey + HILL_ROW * SMALL, (PANEL_ROW - HILL_ROW) * SMALL)
    memcpy(grey + PANEL_ROW * SMALL, picture + PANEL_ROW * SMALL, (NUMBERS - PANEL_ROW) * SMALL)
    to_bytes(sums + NUMBERS * SMALL, grey + NUMBERS * SMALL, (NUMBERS_END - NUMBERS) * SMALL)
    memcpy(grey + NUMBERS_END * SMALL, picture + NUMBERS_END * SMALL, (SMALL - NUMBERS_END) * SMALL)


cdef void make_road() noexcept:
    cdef int k, row, zone = 0
    cdef double reach, part
    for row in range(ROAD_ROWS):
        while row >= EDGE_ROW[zone]:
            zone += 1
        EDGE_COLOUR[row] = EDGES[zone]
        EDGE_GREY[row] = grey_of(EDGES[zone])
        STRAIGHT[0][row] = 16 * EDGE_TOP[0][row] + 8 if row < 19 else 16 * 79 - 1 - 8 * (row - 19)
        STRAIGHT[1][row] = 16 * EDGE_TOP[1][row] + 8 if row < 19 else 16 * 96 + 8 * (row - 18)
        for k in range(BENDS + 1):
            reach = max(12.0, 6.5 * k - 34.5)  # rows that the bend has come down so far
            part = max(0.0, 1.0 - row / reach)
            OFFSET[k][row] = <int>(16 * BEND[k] * part * part + 0.5)
    for k in range(CELL_X):
        DOT[k][DOT_WIDE] = min(UNIT_X, CELL_X - k)
        DOT[k][DOT_WIDE + 1] = UNIT_X - DOT[k][DOT_WIDE]


cdef void make_pictures() noexcept:
    cdef uint16_t[CELLS] sums
    cdef Sheet sheet
    cdef int k, digit
    sheet.canvas, sheet.sums, sheet.edge = NULL, sums, MARGIN
    for k in range(PALETTES):
        memset(sums, 0, sizeof(sums))
        put_background(&sheet, k)
        to_bytes(sums, PICTURES[k], CELLS)
        memcpy(SKIES[k], sums + HILL_ROW * SMALL, sizeof(SKIES[0]))
        memcpy(GROUNDS[k], sums + GROUND_ROW * SMALL, sizeof(GROUNDS[0]))
    for k in range(3):
        memset(sums, 0, sizeof(sums))
        put_background(&sheet, 0)
        put_panel(&sheet, k > 0, k - 1)
        memcpy(PANELS[k], sums + NUMBERS * SMALL, sizeof(PANELS[0]))
    memset(sums, 0, sizeof(sums))
    for digit in range(10):
        for k in range(PLACES):
            put_digit(&sheet, k, digit, SAND)
            cut_stamp(sums, cell_at(PLACE_X[k], PLACE_Y[k]), STAMP_ROWS, &STAMPS[k][digit][0][0])
    for k in range(80):
        put_drum(&sheet, k)
        cut_stamp(sums, cell_at(DRUM_X, DRUM_Y), STAMP_ROWS, &DRUM[k][0][0])


cdef void make_covers() noexcept:
    """How much of each cell is covered: by cars at all places in the grid, by the hills at all columns."""
    cdef uint16_t[CELLS] sums
    cdef const uint16_t* shape
    cdef Sheet sheet
    cdef int cover, x, y, row, rows, column, unit, k
    for cover in range(LIGHT_COVER + 7):
        shape = shape_of(cover >> 1 if cover < LIGHT_COVER else cover - LIGHT_COVER, cover >= LIGHT_COVER, cover & 1, &rows, &k)
        for x in range(CELL_X):
            for y in range(CELL_Y):
                for unit in range(UNIT_Y * y, UNIT_Y * (y + rows)):
                    row = unit // CELL_Y - UNIT_Y * y // CELL_Y
                    cover_row(shape[unit // UNIT_Y - y], x, COVER[cover][x][y][row])
    sheet.canvas, sheet.sums, sheet.edge = NULL, sums, MARGIN
    for x in range(WIDTH):
        for k in range(5):  # rows 18, 18, 19, 19, 20 of cells, by the hills' rows of pixels 0-1, 2-3, 2-3, 4-5, 4-5
            memset(sums, 0, sizeof(sums))
            row = (k + 1) // 2
            put_hills(&sheet, x, 0x000000, 0x010101, 2 * row, 2 * row + 2)
            for column in range(SMALL):
                HILL_COVER[x][k][column] = <uint8_t>sums[(HILL_ROW + (k >> 1)) * SMALL + column]


cdef void chunk(char* states, Io* io, int lo, int hi) noexcept nogil:
    run_chunk(reset, step, observe, draw, NULL, sizeof(Enduro), states, io, lo, hi)


make_road()
make_pictures()
make_covers()
GAME = Game(
    name="enduro", title="Enduro", version=1, summary="Race through days and nights; pass so many cars before each day ends.",
    actions=("NOOP", "FIRE", "RIGHT", "LEFT", "DOWN", "DOWNRIGHT", "DOWNLEFT", "RIGHTFIRE", "LEFTFIRE"),
    feature_shape=(FEATURES,), screen=(WIDTH, HEIGHT), frame_skip=4, feature_low=-4, feature_high=4,
    options={"start_speed": Option(6, 6, 120, "speed at the start of the first day; 6 as on the cartridge")},
).bind(chunk, backdrop, draw, sizeof(Enduro))
