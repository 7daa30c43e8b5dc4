"""Enduro, after the Atari 2600 cartridge of 1983: a race through days and nights, with a number of cars to pass each day.

Screen. 160x210 pixels. The eight columns at the left are black. Rows 0 to 50 show sky and hills, rows 52 to 154 the road in
perspective. The panel below shows the distance driven, the day, and the cars that are left to pass. A frame is 1/60 s.

Actions. FIRE is the motor: in every eighth frame speed grows by 2, or by 1 if it is 46 or more. DOWN brakes by 1 a frame.
Speed is always 6 to 120; without FIRE and DOWN it does not change. LEFT and RIGHT turn the wheel. The wheel moves the road
on the screen by 1/4 pixel a frame at low speed and by up to 1 pixel from speed 64 on. It moves the car by about half as
much to the other side. In snow it moves the road by 1/5 pixel at most.

Road. It goes through bends to either side and straight parts, all three equally likely. Each lasts 8 to 247 slots of 256
units; the first part is straight and lasts 120. In a frame the car drives as many units as its speed. A bend comes up at
the far end of the road first. Once it has come all the way, it pulls the car outwards, more at higher speed. At either edge
of the road the car bounces: it loses a quarter of its speed and slides back for 19 frames without control.

Traffic. Seven slots of the road are in sight, each 256 units long with at most one car. All other cars drive 24 units a
frame through them, except in a frame in which the own car comes into a new slot of its road: in that frame they keep its
pace. So if the own car is faster, the slots come nearer; if it is slower, they move away. When the nearest slot has come
nearer by its length, its car is passed, and a new slot comes into sight at the far end, with a car or without. When the
slots have moved away by one length, a car may come from behind into the slot that is now the nearest, if the slot ahead
of it is empty.

Lanes. There are three. A new car at the far end is in the left lane or in the right one, and sometimes in the middle; but
if the slot before it has a car, it keeps that car's lane, and three slots in a row are never filled by cars that come into
sight. So there is always a way past. A car from behind comes on the side of the road where the own car is not.

Crash. If the own car touches another, speed drops to 6. The car slides without control towards the farther edge until it
has bounced there, or for 128 frames. In the first 32 of these it touches no other car.

Points. A car that is passed gives 1 point, and one car less is left. A car that passes takes 1 point, and one more is left,
but never more than the day's number: then it takes nothing. The first day asks for 200 cars, each later day for 300. When
none is left, the panel shows flags, and nothing counts until the day ends.

Day. It has 13,312 frames. It begins in summer; snow begins at frame 3,072, dusk at 5,120, night at 7,168, fog at 9,216,
a second night at 11,264, and dawn at 12,288. At night and in fog only the tail lights of other cars are shown; fog also
hides the far part of the road.

End. If cars are left when a day ends, the episode ends. Otherwise the next day begins, without limit.

Fidelity. Speeds, distances, rows, shapes, colours and times were read from the cartridge's memory frame by frame. Lanes,
bends and gaps are drawn from our own generator, about as often as on the cartridge. The cartridge shows its maker's emblem and
name below the panel, in rows 191 to 209. Here they are black.
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
    PANELS, PANEL_ROW, PICTURES, PLACES, PLACE_X, PLACE_Y, RED, ROAD_END, ROAD_ROWS, SAND, SIGN, SKIES, SKY, STAMPS,
    STAMP_ROWS, STRAIGHT)
from envs_c.games.enduro.valid cimport valid
from envs_c.rng cimport Rng
from envs_c.screen cimport SMALL, Canvas, grey_of
from envs_c.stamp cimport (
    CELLS, CELL_X, CELL_Y, HEIGHT, UNIT_X, UNIT_Y, WIDTH, Sheet, cell_at, cover_row, cut_stamp, put, put_row, sheet_of,
    to_bytes)

from envs_c.game import Feature, Option


cdef enum:
    FEATURES = 40


cdef void reset(void* state, const double* options, Rng* rng) noexcept nogil:
    begin(<Enduro*>state, <int>options[0])


cdef float step(void* state, int action, Rng* rng, bint* over) noexcept nogil:
    return play_frame(<Enduro*>state, action, rng, over)


cdef void observe(const void* state, void* out) noexcept nogil:
    """Write the features that GAME describes. Cars hidden by fog are left out."""
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
    """Paint sky, ground and the panel's frame. All grey sums must be 0 before the call."""
    cdef int k
    put(sheet, MARGIN, 0, WIDTH, 45, BLACK, SKY[palette][0])
    for k in range(1, 4):
        put(sheet, MARGIN, 43 + 2 * k, WIDTH, 2, BLACK, SKY[palette][k])
    put(sheet, MARGIN, 51, WIDTH, ROAD_END - 51, BLACK, GROUND[palette])
    put(sheet, 48, 161, 64, 30, BLACK, RED)


cdef void put_panel(Sheet* sheet, bint done, int wave) noexcept nogil:
    """Paint the panel's boxes without digits.

    done: no car is left to pass; paint flags.
    wave: 0 or 1, the state of the flags.
    """
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
    """Paint the first colours of a day; `draw` paints all of it again."""
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
        memcpy(sums + NUMBERS * SMALL, PANELS[panel], sizeof(PANELS[0]))  # also clears rows of cars below the road
    draw_numbers(game, &scene.sheet)
    if canvas.rgb == NULL:
        memset(canvas.touched, 2, SMALL)  # 2: the row is written as bytes
        finish_row_blocks(sums, PICTURES[palette], canvas.grey)


cdef inline void finish_row_blocks(const uint16_t* sums, const uint8_t* picture, uint8_t* grey) noexcept nogil:
    """Write the grey canvas: rows with sums from the sums, other rows from a picture that does not change."""
    memcpy(grey, picture, HILL_ROW * SMALL)
    to_bytes(sums + HILL_ROW * SMALL, grey + HILL_ROW * SMALL, (PANEL_ROW - HILL_ROW) * SMALL)
    memcpy(grey + PANEL_ROW * SMALL, picture + PANEL_ROW * SMALL, (NUMBERS - PANEL_ROW) * SMALL)
    to_bytes(sums + NUMBERS * SMALL, grey + NUMBERS * SMALL, (NUMBERS_END - NUMBERS) * SMALL)
    memcpy(grey + NUMBERS_END * SMALL, picture + NUMBERS_END * SMALL, (SMALL - NUMBERS_END) * SMALL)


cdef void make_road() noexcept nogil:
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
            reach = max(12.0, 6.5 * k - 34.5)  # rows down to which the bend has come
            part = max(0.0, 1.0 - row / reach)
            OFFSET[k][row] = <int>(16 * BEND[k] * part * part + 0.5)
    for k in range(CELL_X):
        DOT[k][DOT_WIDE] = min(UNIT_X, CELL_X - k)
        DOT[k][DOT_WIDE + 1] = UNIT_X - DOT[k][DOT_WIDE]


cdef void make_pictures() noexcept nogil:
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


cdef void make_covers() noexcept nogil:
    """Compute how much of each cell is covered, by cars at all places in the grid and by the hills at all columns."""
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
        for k in range(5):  # rows of cells 18, 18, 19, 19, 20 and rows of hills 0-1, 2-3, 2-3, 4-5, 4-5 in them
            memset(sums, 0, sizeof(sums))
            row = (k + 1) // 2
            put_hills(&sheet, x, 0x000000, 0x010101, 2 * row, 2 * row + 2)
            for column in range(SMALL):
                HILL_COVER[x][k][column] = <uint8_t>sums[(HILL_ROW + (k >> 1)) * SMALL + column]


cdef void chunk(char* states, Io* io, int lo, int hi) noexcept nogil:
    run_chunk(reset, step, observe, draw, NULL, sizeof(Enduro), states, io, lo, hi)


cdef void prepare() noexcept nogil:
    make_road()
    make_pictures()
    make_covers()


GAME = Game(
    name="enduro", title="Enduro", version=1, summary="Race through days and nights; pass so many cars before each day ends.",
    actions=("NOOP", "FIRE", "RIGHT", "LEFT", "DOWN", "DOWNRIGHT", "DOWNLEFT", "RIGHTFIRE", "LEFTFIRE"),
    feature_shape=(FEATURES,), screen=(WIDTH, HEIGHT), frame_skip=4, feature_low=-4, feature_high=4,
    options={"start_speed": Option(6, 6, 120, "speed at the start of the first day; 6 as on the cartridge")},
    features=(
        Feature("speed", -2, 3, help="(speed - 45) / 30; speed is 6 to 120"),
        Feature("road position", -2.5, 2, help="pixels of the road to the right of its middle place / 12; the car is on the "
                "other side"),
        Feature("road bend", -1, 1, help="1 in a full bend to the right, -1 to the left, 0 on a straight road"),
        Feature("time without control", -2, 2, help="frames left / 64; negative if the road slides to the left meanwhile"),
        Feature("season", 0, 1, count=6, help="1 for the present one of summer, snow, dusk, night, fog, dawn"),
        Feature("cars left", 0, 1, help="cars to pass / the day's number"),
        Feature("day done", 0, 1, help="1 if no car is left to pass"),
        Feature("day", 0, 2, help="(day - 1) / 4, at most 2"),
        Feature("time of day", -1, 1, help="-1 at the start of the day, 1 at its end"),
        Feature("traffic phase", -1, 1, help="way of the traffic into its slots; -1 at a slot's start, 1 at its end"),
        Feature("cars by slot and lane", 0, 1, count=21, help="7 slots, the nearest first, with 3 lanes each: left, middle, "
                "right; 1 if a car is there and fog does not hide it"),
        Feature("nearest cars", -4, 4, count=4, help="2 values for each of the nearest two cars, 0 if there is none: "
                "nearness, 1 at the own car and 0 out of sight; pixels of its lane to the right of the own car / 25"),
    ),
    compared_with="The cartridge under ale-py: speed, odometer, days and colours equal; steering, road and cars within a few "
                  "pixels; bends and traffic are drawn from our own generator.",
).bind(chunk, backdrop, draw, sizeof(Enduro), has_mask=False, valid=valid, lives=NULL, prepare=prepare)
