"""Enduro, after the Atari 2600 cartridge of 1983: a race through days and nights, with a number of cars to pass each day.

Screen. 160x210 pixels. The eight columns at the left are black. Rows 0 to 50 show sky and hills, rows 52 to 154 the road in
perspective. The panel below shows the distance driven, the day, and the cars that are left to pass. The picture shows the
race one frame ago, as on the cartridge. A frame is 1/60 s.

Actions. FIRE is the motor: in every eighth frame speed grows by 2, or by 1 if it is 46 or more. DOWN brakes by 1 a frame.
Speed is always 6 to 120; without FIRE and DOWN it does not change. LEFT and RIGHT turn the wheel. The wheel moves the road
on the screen by a quarter of the speed in 16 frames, 4 to 22 pixels; in snow by half of that, but at least 4. It moves the
car by about half as much to the other side.

Random numbers. Two bytes are shifted in each frame: the next is twice the last one, with the top bit of the one before it,
XOR the one before it. 1 is added in a frame with control over the car in which the wheel does not turn to the right.

Road. It goes through bends and straight parts. The next part is straight if bit 4 of the random number is 0; otherwise bit 5
tells the side. A bend lasts as many slots of 256 units as the random number before says, a straight part half as many; from
the third day on both last half as long. In a frame the car drives as many units as its speed. Another part comes up at the
far end of the road first, in seven slots. Until then the last one counts: a bend pulls the car outwards, by a sixteenth of
the speed in 16 frames. If the car's pixels touch an edge of the road, the road moves by 1 pixel in that frame, the car loses
a quarter of its speed, and slides back for 17 to 24 frames without control, by 6 pixels in 16 frames.

Traffic. Seven slots of the road are in sight, each 256 units long with at most one car. All other cars drive 24 units a
frame through them on the first day (31, 38, 41 and 44 on the next ones, then 1 more each day up to 68), except in a frame in
which the own car comes into a new slot of its road: in that frame they keep its pace. So if the own car is faster, the slots
come nearer; if it is slower, they move away. When the nearest slot has come nearer by its length, its car is passed, and a new
slot comes into sight at the far end. When the slots have moved away by one length, a car may come from behind into the slot
that is now the nearest, if the slot ahead of it is empty. A new car comes in either case if fewer than four are in sight and
the random number is 64 to 127; from the frame before the first night on also if it is 0 to 63.

Lanes. Cars have numbers, which grow towards the back; a car's number tells its colour and its side, left or right. But on the
first six days a new car takes the side of a car that drives directly ahead at the far end, and from behind it comes on the
side of the road where the own car is not. At the far end some cars drive in the middle: those of half of the colours, if the
random number is a multiple of 4; from the fourth day on of 2. In the dark all cars that are seen lose their colour for good.

Crash. If the own car's pixels touch another's, speed drops to 6. The car slides without control towards the farther edge
until it touches it, or for 113 to 120 frames.

Points. A car that is passed gives 1 point, and one car less is left. A car that passes takes 1 point, and one more is left,
but never more than the day's number: then it takes nothing. The first day asks for 200 cars, each later day for 300. When
none is left, all stands still for 103 or 104 frames, the panel shows flags, and nothing counts until the day ends. While all
stands still, only the time without control goes on, the own car touches cars and edges, and cars lose their colour in the dark.

Day. It has 13,312 frames. It begins in summer; snow begins at frame 3,072, dusk at 5,120, night at 7,168, fog at 9,216,
a second night at 11,264, and dawn at 12,288. At night and in fog only the tail lights of other cars are shown; fog also
hides the farther three slots.

End. If cars are left when a day ends, the episode ends; in its last frame no car moves. Otherwise the next day begins, without
limit.

Start. The random numbers begin anywhere, so that no two races are equal. With scatter=0 they begin as on the cartridge.

Fidelity. With scatter=0 all of this equals the cartridge under ale-py frame by frame, as far as it was compared: whole games
of trained agents, and parts of days up to 5,000. ALE counts 1,800 points more when day 10, 20, 30, ... begins: it takes the
day's two decimal digits for one number. The cartridge shows its maker's emblem and name below the panel, in rows 191 to 209.
Here they are black.

Days after 99. The cartridge counts from 0 again, and shows no 0. Then lanes and bends are those of the day that it counts,
but as many cars come as at night. The others are 58 units faster than a hundred days before (less 256 from 256 on): 75 on day
100, 126 on day 129. If they are faster than the own car by more than 128, they seem to drive by 256 less. On day 100, 101,
200, ... 300 cars are to be passed, but a car from behind counts as on the first day: nothing while 200 to 299 are left, and
two cars if there are more. ALE takes off 45,800 points when day 100 begins, and has no points on it; here all days count
alike.
"""

from libc.stdint cimport int8_t, uint8_t, uint16_t, uint64_t
from libc.string cimport memcpy, memset

from envs_c.game cimport Game, Io, run_chunk
from envs_c.games.enduro.contact cimport make_contact, own_place
from envs_c.games.enduro.panel cimport draw_numbers, put_digit, put_drum, put_panel
from envs_c.games.enduro.picture cimport (
    MORE, Scene, draw_edges, draw_hills, draw_traffic, make_more, put_background, put_hills)
from envs_c.games.enduro.road cimport GROUPS, HIGH, KNOWN_SPACE, curve, known_edges, make_known, side_of
from envs_c.games.enduro.rules cimport begin, play_frame
from envs_c.games.enduro.state cimport (
    CAR_BITS, CLEAR_WEATHER, COMING, DAY, DEPTHS, FIRST_QUOTA, LANES, NO_SLOT, PHASE, QUOTA, SLIDING_RIGHT, SLOTS, Enduro, Race,
    cars_seen, changes_of, clock_of, ctzll, prefetch, season_of)
from envs_c.games.enduro.tables cimport (
    COVER, DOT, DOT_WIDE, DRUM, DRUM_X, DRUM_Y, GROUND, GROUNDS, GROUND_ROW, HILL_COVER, HILL_ROW, LIGHTS_SHAPE, LIGHT_COVER,
    LIGHT_ROWS, MARGIN, NUMBERS, NUMBERS_END, PALETTE, PALETTES, PANELS, PANEL_ROW, PICTURES, PLACES, PLACE_X, PLACE_Y, SAND,
    SHAPE, SKIES, STAMPS, STAMP_ROWS)
from envs_c.games.enduro.valid cimport valid
from envs_c.rng cimport Rng
from envs_c.screen cimport SMALL, Canvas
from envs_c.stamp cimport (
    CELLS, CELL_X, CELL_Y, HEIGHT, UNIT_X, UNIT_Y, WIDTH, Sheet, cell_at, cover_row, cut_stamp, sheet_of,
    to_bytes)

from envs_c.game import Feature, Option


cdef enum:
    FEATURES = 40


cdef void reset(void* state, const double* options, Rng* rng) noexcept nogil:
    begin(<Enduro*>state, <int>options[0], options[1] != 0, changes_of(options), rng)


cdef float step(void* state, int action, Rng* rng, bint* over) noexcept nogil:
    return play_frame(<Enduro*>state, action, over)


cdef inline float bend_of(const Race* race) noexcept nogil:
    """-1 in a full bend to the left, 1 to the right."""
    cdef int old = side_of(race.bend >> 6), new = side_of(race.bend >> 4 & 3), left = race.bend & 15
    if left == 0:
        return new
    return old + (new - old) * (256 * (COMING - left) + 255 - race.travelled) * <float>(1.0 / (256 * COMING))


cdef void observe(const void* state, void* out) noexcept nogil:
    """Write the features that GAME describes. Cars hidden by fog are left out. No jump depends on the traffic."""
    cdef const Race* race = &(<const Enduro*>state).now
    cdef float* features = <float*>out
    cdef int k, slot, depth, look, control, season = season_of(race)
    cdef uint64_t cars = cars_seen(race, season), bits = cars & CAR_BITS
    cdef int own = own_place(race) + 7
    cdef bint there
    memset(features, 0, FEATURES * sizeof(float))
    features[0] = (race.speed - 45) * <float>(1.0 / 30)
    features[1] = race.x * <float>(1.0 / 12)
    features[2] = bend_of(race)
    if race.crash:
        control = 8 * (race.crash & 15) + (clock_of(race) & 7) + 1
        features[3] = control * (<float>(1.0 / 64) if race.crash & SLIDING_RIGHT else <float>(-1.0 / 64))
    features[4 + season] = 1.0
    features[10] = min(race.left, QUOTA) * (<float>1.0 / (FIRST_QUOTA if race.day == 1 else QUOTA))
    features[11] = race.left == 0
    features[12] = min(race.day - 1, 8) * <float>(0.25)
    features[13] = race.frame * <float>(2.0 / DAY) - 1
    features[14] = race.phase * <float>(2.0 / PHASE) - 1
    for k in range(SLOTS):  # each writes 4 places, of which the next one owns the last
        memcpy(features + 15 + 3 * k, LANES[cars >> 8 * k & 31], 4 * sizeof(float))
    for k in range(2):
        slot = ctzll(bits | NO_SLOT) >> 3
        there, depth, look = bits != 0, 16 * slot + (race.phase >> 4), cars >> 8 * slot & 31
        features[36 + 2 * k] = <float>((1.0 - depth * <float>(1.0 / DEPTHS)) * there + 0.0)  # never -0
        features[37 + 2 * k] = (LANES[look][3] - own) * <float>(1.0 / 25) * there + <float>0.0
        bits &= bits - 1


cdef void backdrop(const double* options, Canvas* canvas) noexcept nogil:
    """Paint the first colours of a day; `draw` paints all of it again."""
    cdef Sheet sheet = sheet_of(canvas, NULL, MARGIN)
    put_background(&sheet, 0)


cdef void draw(const void* state, Canvas* canvas) noexcept nogil:
    cdef const Race* race = &(<const Enduro*>state).shown
    cdef int palette = PALETTE[0 if race.changes & CLEAR_WEATHER else race.frame >> 8], row
    cdef int panel = 0 if race.left > 0 else 1 + (race.frame >> 5 & 1)
    cdef int8_t[GROUPS] groups
    cdef uint16_t[CELLS] sums
    cdef Scene scene
    cdef bint bent = curve(race, groups)
    for row in range(0, 2 * KNOWN_SPACE, 64):
        prefetch(known_edges(race) + row)  # read after the ground is painted
    scene.part = race.phase >> 4
    scene.ground, scene.more = GROUND[palette], MORE[palette][scene.part]
    scene.sheet = sheet_of(canvas, sums, MARGIN)
    if canvas.rgb != NULL:
        put_background(&scene.sheet, palette)
    else:
        memcpy(sums + HILL_ROW * SMALL, SKIES[palette], sizeof(SKIES[0]))
        for row in range(GROUND_ROW, NUMBERS):
            memcpy(sums + row * SMALL, GROUNDS[palette], sizeof(GROUNDS[0]))
    draw_hills(race, &scene.sheet, palette)
    draw_edges(race, groups, &scene)
    draw_traffic(race, groups, bent, &scene)
    if canvas.rgb != NULL:
        put_panel(&scene.sheet, panel > 0, panel - 1)
    else:
        memcpy(sums + NUMBERS * SMALL, PANELS[panel], sizeof(PANELS[0]))  # also clears rows of cars below the road
    draw_numbers(race, &scene.sheet)
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


cdef void make_dots() noexcept nogil:
    cdef int k
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
    for cover in range(LIGHT_COVER + SLOTS):
        if cover < LIGHT_COVER:
            shape = SHAPE[cover >> 1][cover & 1]
            rows = HIGH[cover >> 1]
        else:
            shape = LIGHTS_SHAPE[cover - LIGHT_COVER]
            rows = LIGHT_ROWS[cover - LIGHT_COVER]
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
    make_dots()
    make_known()
    make_contact()
    make_more()
    make_pictures()
    make_covers()


GAME = Game(
    name="enduro", title="Enduro", version=4, summary="Race through days and nights; pass so many cars before each day ends.",
    actions=("NOOP", "FIRE", "RIGHT", "LEFT", "DOWN", "DOWNRIGHT", "DOWNLEFT", "RIGHTFIRE", "LEFTFIRE"),
    feature_shape=(FEATURES,), screen=(WIDTH, HEIGHT), frame_skip=4, feature_low=-4, feature_high=4,
    options={
        "start_speed": Option(6, 6, 120, "speed at the start of the first day; 6 as on the cartridge"),
        "scatter": Option(1, 0, 1, "0: the random numbers begin as on the cartridge"),
        "weather": Option(1, 0, 1, "0: it is summer all day, without snow, night and fog"),
        "bends": Option(1, 0, 1, "0: the road is always straight"),
        "crashes": Option(1, 0, 1, "0: cars drive through each other"),
        "overtaking": Option(1, 0, 1, "0: no car comes from behind"),
    },
    features=(
        Feature("speed", -2, 3, help="(speed - 45) / 30; speed is 6 to 120"),
        Feature("road position", -2.5, 2.5, help="pixels of the road to the right of its middle place / 12; the car is on the "
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
    compared_with="The cartridge under ale-py: equal in every frame, random choices and crashes included; the pictures differ "
                  "in a few pixels.",
).bind(chunk, backdrop, draw, sizeof(Enduro), has_mask=False, valid=valid, lives=NULL, prepare=prepare)
