"""Freeway, frame by frame as the cartridge of 1981 for the Atari 2600 plays it with one player.

Road. On a screen of 160x210 pixels (x to the right, y down) ten lanes of 16 rows lie between two pavements. Lane 0 is the
lowest; its cars stand in rows 171 .. 180, those of lane i 16 * i rows higher. Lanes 0 .. 4 drive to the right, 5 .. 9 to
the left. A lane's place is the x of its first car, whose left end is 3 to the left of it (a truck's 2); past 159 it goes
to 0, below 0 to 159, and what leaves the screen on one side comes in on the other. Columns 0 .. 7 stay black.

Chicken. Its column never changes (x 44 .. 51). It stands y = 6 high on the lower pavement at first, in rows 193 - y ..
200 - y. UP and DOWN move it by 1 a frame, not below 6. UP at 177 is the far side: it gives 1 point, puts the chicken back
to 6, and there it rests for 28 or 29 frames. The second player's chicken stands at the lower pavement for ever.

Cars. A lane has a pace 0 .. 5: its cars move by 1 pixel every so many frames, at pace 0 by 2 pixels every frame. All cars
of a lane are alike, either 1 to 3 cars 8 pixels wide and 16, 32 or 64 apart, or one truck 16 pixels wide. By game, lane 0
first, with the pace, then c cars g apart as cxg, T for the truck:

  1   5 1     4 1     3 1     2 1     1 1     1 1     2 1     3 1     4 1     5 1
  2   4 1     3 2x16  2 2x32  1 3x16  0 2x64  1 T     1 2x64  2 3x16  3 2x32  4 2x16
  3   4 3x32  3 3x32  2 1     1 3x32  0 T     0 1     1 3x32  2 1     3 3x32  4 3x32
  4   0 T     1 T     2 T     1 T     0 T     0 T     1 T     2 T     1 T     0 T

Games 5 .. 8 are these with paces that change: in frame f, where f modulo 128 is less than 10, after the cars have moved,
the pace of lane f modulo 128 goes down by 1 if bit 0 of (register XOR lane) is set, not below 0, then up by 1 if bit 1 is,
not above 5. The register, 8 bits, is then shifted to the left every 32 frames; the exclusive or of its bits 7 and 4 comes
in at the right.

Hit. The chicken is hit in the frame after one in which any of its pixels lies on one of a car; in lane 0 its touch counts
for another frame. A hit stuns for 55 or 56 frames (a counter goes from 28 to 0, by one each even frame), and nothing else
hits before that counter is 22. While it is 16 or more the chicken falls by 1 a frame, not below 6; so it loses about 24.
With difficulty 1 it is put down to 6 at once instead.

Time. The episode ends after 8,192 frames; in the last 512 the score flashes.

Start. Cars are at random places and so is the register, but not 0. With scatter=0 all cars are at x 0 and the register is
132, as on the cartridge; then all goes as there, but that the cartridge paints a new score, and a fall to 6 at once, a
frame late, and its maker's name below the road.
"""

from libc.stdint cimport int16_t, int32_t, uint8_t, uint16_t, uint32_t
from libc.string cimport memset

from envs_c.game cimport Game, Io, run_chunk
from envs_c.rng cimport Rng, rng_below
from envs_c.screen cimport Canvas, canvas_rect, canvas_swap, grey_of, touch_row, SMALL
from envs_c.game import Option


cdef enum:
    NOOP, UP, DOWN
    LANES = 10, RIGHT_LANES = 5, PADDED = 16    # lanes in the arrays, a power of 2 to step them together
    WIDTH = 160, EDGE = 8                       # the screen's; its first 8 columns stay black
    FRAMES = 8192, FLASH = 512
    BOTTOM = 6, TOP = 177, CHICKEN_X = 44, RIVAL_X = 108, CHICKEN_ROWS = 8, FEET = 193
    LANE_Y = 171, PITCH = 16, CAR_ROWS = 10, REACH = 13     # a chicken 13 .. 29 high is in the rows of lane 0
    STUNNED = 64, WON = 128, COUNT = 63         # of the timer: why the chicken waits, and the counter
    STUN = 28, REST = 15, SAFE = 22, FALL = 16
    SLOWEST = 5, TRUCK = 5, SEED = 132
    STAND = 0, WALK, FLAP                       # poses
    UNIT_X = 21, CELL_X = 40, UNIT_Y = 2, CELL_Y = 5        # of the grey canvas: units a pixel and a cell
    PARTS = 4                                   # different rows of a small car: wheels, side, two of the body
    SCORE_X = 48, RIVAL_SCORE_X = 112, SCORE_Y = 5
    BLACK = 0x000000, ROAD = 0x8E8E8E, PAVEMENT = 0xAAAAAA, WHITE = 0xD6D6D6, YELLOW = 0xFCFC54, PINK = 0xE46F6F

cdef extern from *:
    """
    static const unsigned char PACE[4][10] = {{5, 4, 3, 2, 1, 1, 2, 3, 4, 5}, {4, 3, 2, 1, 0, 1, 1, 2, 3, 4},
                                              {4, 3, 2, 1, 0, 0, 1, 2, 3, 4}, {0, 1, 2, 1, 0, 0, 1, 2, 1, 0}};
    static const unsigned char KIND[4][10] = {{0}, {0, 1, 2, 3, 4, 5, 4, 3, 2, 1},
                                              {6, 6, 0, 6, 5, 0, 6, 0, 6, 6}, {5, 5, 5, 5, 5, 5, 5, 5, 5, 5}};
    static const unsigned char CARS[7] = {1, 2, 2, 3, 2, 1, 3}, GAP[7] = {0, 16, 32, 16, 64, 0, 32};  // by kind
    static const float SPEED[6] = {2.0f, 1.0f, 1.0f / 2, 1.0f / 3, 1.0f / 4, 1.0f / 5};  // pixels a frame, by pace
    static const unsigned short SHAPE[4][10] = {  // rows of a car and a truck to the right, then to the left
        {0x6600, 0xFE00, 0xCF00, 0xB300, 0xB300, 0xB300, 0xB300, 0xCF00, 0xFE00, 0x6600},
        {0xC033, 0xFFFF, 0xC033, 0xFFF3, 0xFFF3, 0xFFF3, 0xFFF3, 0xC033, 0xFFFF, 0xC033},
        {0x6600, 0x7F00, 0xF300, 0xCD00, 0xCD00, 0xCD00, 0xCD00, 0xF300, 0x7F00, 0x6600},
        {0xCC03, 0xFFFF, 0xCC03, 0xCFFF, 0xCFFF, 0xCFFF, 0xCFFF, 0xCC03, 0xFFFF, 0xCC03}};
    static const unsigned short POSE[3][8] = {
        {0x0800, 0x0C00, 0x1800, 0xB800, 0xF800, 0x7800, 0x3000, 0x1800},
        {0x0400, 0x0600, 0x0C00, 0xB800, 0xF800, 0x7800, 0x6000, 0x3000},
        {0x4000, 0x2800, 0x3C00, 0xB800, 0xF800, 0x7800, 0x3000, 0x6000}};
    static const unsigned short DIGIT[10][8] = {
        {0x3C00, 0x6600, 0x6600, 0x6600, 0x6600, 0x6600, 0x6600, 0x3C00},
        {0x1800, 0x3800, 0x1800, 0x1800, 0x1800, 0x1800, 0x1800, 0x3C00},
        {0x3C00, 0x4600, 0x0600, 0x0600, 0x3C00, 0x6000, 0x6000, 0x7E00},
        {0x3C00, 0x4600, 0x0600, 0x0C00, 0x0C00, 0x0600, 0x4600, 0x3C00},
        {0x0C00, 0x1C00, 0x2C00, 0x4C00, 0x7E00, 0x0C00, 0x0C00, 0x0C00},
        {0x7E00, 0x6000, 0x6000, 0x7C00, 0x0600, 0x0600, 0x4600, 0x7C00},
        {0x3C00, 0x6200, 0x6000, 0x7C00, 0x6600, 0x6600, 0x6600, 0x3C00},
        {0x7E00, 0x4200, 0x0600, 0x0C00, 0x1800, 0x1800, 0x1800, 0x1800},
        {0x3C00, 0x6600, 0x6600, 0x3C00, 0x3C00, 0x6600, 0x6600, 0x3C00},
        {0x3C00, 0x6600, 0x6600, 0x6600, 0x3E00, 0x0600, 0x4600, 0x3C00}};
    static const unsigned COLOUR[10] = {0xD2D240, 0x87B754, 0xB83232, 0x545CD6, 0xA26221,
                                        0x181AA7, 0xE46F6F, 0x69690F, 0xB4E775, 0xA71A1A};
    static const unsigned FLASHES[128] = {  // the console's colours, in its order
        0, 0x4A4A4A, 0x6F6F6F, 0x8E8E8E, 0xAAAAAA, 0xC0C0C0, 0xD6D6D6, 0xECECEC, 0x484800, 0x69690F, 0x86861D, 0xA2A22A,
        0xBBBB35, 0xD2D240, 0xE8E84A, 0xFCFC54, 0x7C2C00, 0x904811, 0xA26221, 0xB47A30, 0xC3903D, 0xD2A44A, 0xDFB755, 0xECC860,
        0x901C00, 0xA33915, 0xB55328, 0xC66C3A, 0xD5824A, 0xE39759, 0xF0AA67, 0xFCBC74, 0x940000, 0xA71A1A, 0xB83232, 0xC84848,
        0xD65C5C, 0xE46F6F, 0xF08080, 0xFC9090, 0x840064, 0x97197A, 0xA8308F, 0xB846A2, 0xC659B3, 0xD46CC3, 0xE07CD2, 0xEC8CE0,
        0x500084, 0x68199A, 0x7D30AD, 0x9246C0, 0xA459D0, 0xB56CE0, 0xC57CEE, 0xD48CFC, 0x140090, 0x331AA3, 0x4E32B5, 0x6848C6,
        0x7F5CD5, 0x956FE3, 0xA980F0, 0xBC90FC, 0x000094, 0x181AA7, 0x2D32B8, 0x4248C8, 0x545CD6, 0x656FE4, 0x7580F0, 0x8490FC,
        0x001C88, 0x183B9D, 0x2D57B0, 0x4272C2, 0x548AD2, 0x65A0E1, 0x75B5EF, 0x84C8FC, 0x003064, 0x185080, 0x2D6D98, 0x4288B0,
        0x54A0C5, 0x65B7D9, 0x75CCEB, 0x84E0FC, 0x004030, 0x18624E, 0x2D8169, 0x429E82, 0x54B899, 0x65D1AE, 0x75E7C2, 0x84FCD4,
        0x004400, 0x1A661A, 0x328432, 0x48A048, 0x5CBA5C, 0x6FD26F, 0x80E880, 0x90FC90, 0x143C00, 0x355F18, 0x527E2D, 0x6E9C42,
        0x87B754, 0x9ED065, 0xB4E775, 0xC8FC84, 0x303800, 0x505916, 0x6D762B, 0x88923E, 0xA0AB4F, 0xB7C25F, 0xCCD86E, 0xE0EC7C,
        0x482C00, 0x694D14, 0x866A26, 0xA28638, 0xBB9F47, 0xD2B656, 0xE8CC63, 0xFCE070};
    """
    const uint8_t[4][10] PACE, KIND
    const uint8_t[7] CARS, GAP
    const float[6] SPEED
    const uint16_t[4][10] SHAPE
    const uint16_t[3][8] POSE
    const uint16_t[10][8] DIGIT
    const uint32_t[10] COLOUR
    const uint32_t[128] FLASHES


cdef float[2][CELL_X][PARTS][8] COVER           # by side and units into a cell: units covered of the cells from there
cdef float[LANES][5][PARTS] WEIGH               # by lane and row of cells: units covered * grey beyond the road's


ctypedef struct Freeway:
    int16_t[PADDED] x           # of a lane's first car, 3 right of its left end
    int16_t[PADDED] wait        # frames until it moves, less 1
    int16_t[PADDED] pause       # what `wait` begins with
    int16_t[PADDED] move        # pixels, to the right
    int32_t frame               # so many were played
    uint8_t[LANES] pace, kind
    uint8_t y, score
    uint8_t timer               # 0, or STUNNED or WON and the counter
    uint8_t pose                # STAND, WALK or FLAP
    uint8_t touch               # 1 if chicken and car overlap in this frame, and
    uint8_t late                # 1 if they do in lane 0
    uint8_t met                 # 1 if the next frame may see a hit
    uint8_t register, changing, difficulty


cdef inline void set_pace(Freeway* game, int lane, int pace) noexcept nogil:
    cdef int pixels = 2 if pace == 0 else 1
    game.pace[lane] = <uint8_t>pace
    game.pause[lane] = <int16_t>max(pace - 1, 0)
    game.move[lane] = <int16_t>(pixels if lane < RIGHT_LANES else -pixels)


cdef void reset(void* state, const double* options, Rng* rng) noexcept nogil:
    cdef Freeway* game = <Freeway*>state
    cdef int number = <int>options[0] - 1, lane
    memset(game, 0, sizeof(Freeway))
    game.y = BOTTOM
    game.difficulty = <uint8_t>options[1]
    game.changing = number >= 4
    game.register = <uint8_t>(1 + rng_below(rng, 255)) if options[2] != 0.0 else SEED
    for lane in range(LANES):
        set_pace(game, lane, PACE[number & 3][lane])
        game.kind[lane] = KIND[number & 3][lane]
        game.wait[lane] = 1
        if options[2] != 0.0:
            game.x[lane] = <int16_t>rng_below(rng, WIDTH)
            game.wait[lane] = <int16_t>rng_below(rng, game.pause[lane] + 1)


cdef inline void move_cars(Freeway* game) noexcept nogil:
    """All lanes at once: masks instead of branches, so that the compiler uses vectors."""
    cdef int16_t wait, go, x
    cdef int i
    for i in range(PADDED):
        wait = <int16_t>(game.wait[i] - 1)
        go = wait >> 15  # all bits where it is time
        x = <int16_t>(game.x[i] + (game.move[i] & go))
        x = <int16_t>((x & ~(x >> 15)) | (WIDTH - 1 & (x >> 15)))
        game.x[i] = <int16_t>(x & (<int16_t>(x - WIDTH) >> 15))
        game.wait[i] = <int16_t>((wait & ~go) | (game.pause[i] & go))


cdef inline void change_pace(Freeway* game) noexcept nogil:
    """What games 5 .. 8 do when the cars have moved."""
    cdef int lane = game.frame & 127, bits = game.register ^ lane, pace
    if lane < LANES:
        pace = game.pace[lane]
        if bits & 1 and pace > 0:
            pace -= 1
        if bits & 2 and pace < SLOWEST:
            pace += 1
        set_pace(game, lane, pace)
    if game.frame & 31 == 0:
        game.register = <uint8_t>(game.register << 1 | (game.register >> 7 ^ game.register >> 4) & 1)


cdef inline const uint16_t* shape_of(const Freeway* game, int lane) noexcept nogil:
    return SHAPE[(2 if lane >= RIGHT_LANES else 0) + (game.kind[lane] == TRUCK)]


cdef inline int left_of(const Freeway* game, int lane, int car) noexcept nogil:
    """The left end of a lane's car; WIDTH or more for one that comes in again."""
    cdef int left = game.x[lane] - 3 + (game.kind[lane] == TRUCK) + car * GAP[game.kind[lane]]
    return left if left >= 0 else left + WIDTH


cdef inline bint touches(const Freeway* game, int lane, int row) noexcept nogil:
    """Whether the chicken, whose first row is `row` of the lane's cars (-7 .. 9), has a pixel on one of theirs."""
    cdef const uint16_t* shape = shape_of(game, lane)
    cdef int car, away, r
    cdef uint32_t chicken, bits = 0
    for car in range(CARS[game.kind[lane]]):
        away = left_of(game, lane, car) - CHICKEN_X
        if away >= WIDTH - 64:
            away -= WIDTH
        if -16 < away < 8:
            for r in range(max(-row, 0), min(CHICKEN_ROWS, CAR_ROWS - row)):
                chicken = <uint32_t>POSE[game.pose][r] << 8
                chicken = chicken << away if away > 0 else chicken >> -away
                bits |= chicken & <uint32_t>shape[row + r] << 8
    return bits != 0


cdef inline void look_for_cars(Freeway* game) noexcept nogil:
    cdef int above = game.y - REACH, lane = above >> 4, row = 9 - (above & 15)
    game.met = game.late
    game.touch = game.late = 0
    if above >= 0 and lane < LANES:
        game.touch = touches(game, lane, row)
        game.late = game.touch and lane == 0
    if above >= PITCH and row == 9 and touches(game, lane - 1, -7):
        game.touch = 1
        game.late |= lane == 1
    game.met |= game.touch


cdef inline float move_chicken(Freeway* game, int action) noexcept nogil:
    """The chicken's rules; returns the points."""
    cdef float points = 0.0
    if game.timer == 0:
        if action == UP:
            game.y += 1
            if game.y > TOP:
                game.y = BOTTOM
                game.score += 1
                game.timer = WON | REST
                points = 1.0
        elif action == DOWN and game.y > BOTTOM:
            game.y -= 1
    elif game.timer & FALL and game.y > BOTTOM:
        game.y -= 1
    if game.met and game.timer & COUNT <= SAFE:
        game.timer = STUNNED | STUN
    game.pose = STAND if game.y & 4 else FLAP if game.timer else WALK
    if game.timer and game.frame & 1 == 0:
        game.timer -= 1
        if game.timer & COUNT == 0:
            game.timer = 0
        if game.difficulty and game.timer & STUNNED:
            game.y = BOTTOM
    return points


cdef float step(void* state, int action, Rng* rng, bint* over) noexcept nogil:
    cdef Freeway* game = <Freeway*>state
    cdef float points
    game.frame += 1
    points = move_chicken(game, action)
    move_cars(game)
    if game.changing:
        change_pace(game)
    look_for_cars(game)
    over[0] = game.frame == FRAMES
    return points


cdef void observe(const void* state, void* out) noexcept nogil:
    """Both chickens' heights, counter of the timer, score, time left, and of each lane how far its first car is to the
    right of the chicken (-80 .. 79, around the screen) and its velocity, all in units of about their deviation in play.
    """
    cdef const Freeway* game = <const Freeway*>state
    cdef float* features = <float*>out
    cdef int lane, away
    features[0] = (game.y - 90) * <float>(1.0 / 50)
    features[1] = 0.0
    features[2] = (game.timer & COUNT) * <float>(1.0 / STUN)
    features[3] = game.score * <float>(1.0 / 32)
    features[4] = 1 - game.frame * <float>(2.0 / FRAMES)
    for lane in range(LANES):
        away = game.x[lane] - CHICKEN_X - 2
        away = away - WIDTH if away >= WIDTH // 2 else away
        features[5 + lane] = away * <float>(1.0 / 46)
    for lane in range(LANES):
        features[5 + LANES + lane] = SPEED[game.pace[lane]] if lane < RIGHT_LANES else -SPEED[game.pace[lane]]


cdef inline uint32_t ground(int x, int y) noexcept nogil:
    """The road's colour there."""
    if y < 14 or 23 < y < 185:
        if y & 15 == 7 and 39 <= y <= 167 and x & 4 and y != 103:
            return WHITE
        return YELLOW if (y == 102 or y == 104) and x & 4 else ROAD
    return PAVEMENT if 14 < y < 23 or 185 < y < 195 else BLACK


cdef void backdrop(const double* options, Canvas* canvas) noexcept nogil:
    """All but the own score, the own chicken and the cars."""
    cdef int x, y
    for y in range(4, 195):
        canvas_rect(canvas, EDGE, y, WIDTH - EDGE, 1, ground(0, y))
        for x in range(12, WIDTH, 8):
            if ground(x, y) != ground(0, y):
                canvas_swap(canvas, x, y, 4, 1, ground(0, y), ground(x, y))
    draw_rows(canvas, RIVAL_SCORE_X, SCORE_Y, DIGIT[0], 8, ROAD, PINK)
    draw_rows(canvas, RIVAL_X, FEET - BOTTOM, POSE[STAND], CHICKEN_ROWS, PAVEMENT, YELLOW)


cdef inline void draw_rows(Canvas* canvas, int x, int y, const uint16_t* rows, int count,
                           uint32_t under, uint32_t colour) noexcept nogil:
    """Swap the pixels of a shape (its high bit at the left), equal rows together, within the road's columns."""
    cdef int row = 0, end, left, right
    cdef uint32_t bits
    while row < count:
        end = row + 1
        while end < count and rows[end] == rows[row]:
            end += 1
        bits, left = rows[row], 0
        while bits & 0xFFFF:
            while not bits & 0x8000:
                bits, left = bits << 1, left + 1
            right = left
            while bits & 0x8000:
                bits, right = bits << 1, right + 1
            canvas_swap(canvas, max(x + left, EDGE), y + row, min(right - left, x + right - EDGE), end - row, under, colour)
            left = right
        row = end


cdef inline void draw_chicken(const Freeway* game, Canvas* canvas) noexcept nogil:
    """Row by row, as the ground changes, pixel by pixel on a line or below a car."""
    cdef const uint16_t* rows = POSE[game.pose]
    cdef int row, x, y
    for row in range(CHICKEN_ROWS):
        y = FEET - game.y + row
        if not game.touch and ground(4, y) == ground(0, y):
            draw_rows(canvas, CHICKEN_X, y, rows + row, 1, ground(0, y), YELLOW)
            continue
        for x in range(8):
            if rows[row] & 0x8000 >> x and not (game.touch and car_at(game, CHICKEN_X + x, y)):
                canvas_swap(canvas, CHICKEN_X + x, y, 1, 1, ground(CHICKEN_X + x, y), YELLOW)


cdef inline bint car_at(const Freeway* game, int x, int y) noexcept nogil:
    """Whether a car has that pixel."""
    cdef int lane = (LANE_Y + CAR_ROWS - 1 + PITCH - y) // PITCH - 1
    cdef int row = y - LANE_Y + PITCH * lane, car, column
    if row < 0 or row >= CAR_ROWS or lane < 0 or lane >= LANES:
        return False
    for car in range(CARS[game.kind[lane]]):
        column = x - left_of(game, lane, car)
        column = column if column > -WIDTH + 16 else column + WIDTH
        if 0 <= column < 16 and shape_of(game, lane)[row] & 0x8000 >> column:
            return True
    return False


cdef void make_stamps() noexcept:
    """Fill COVER and WEIGH: small cars are many, so on the grey canvas they are added cell by cell from tables."""
    cdef int side, part, offset, column, unit, lane, row, y
    cdef int[10] part_of = [0, 1, 2, 3, 3, 3, 3, 2, 1, 0]
    for side in range(2):
        for part in range(PARTS):
            for offset in range(CELL_X):
                for column in range(8):
                    if SHAPE[2 * side][part] & 0x8000 >> column:
                        for unit in range(offset + column * UNIT_X, offset + (column + 1) * UNIT_X):
                            COVER[side][offset][part][unit // CELL_X] += 1
    for lane in range(LANES):
        for row in range(CAR_ROWS):
            y = LANE_Y - PITCH * lane + row
            for unit in range(y * UNIT_Y, (y + 1) * UNIT_Y):
                WEIGH[lane][unit // CELL_Y - (LANE_Y - PITCH * lane) * UNIT_Y // CELL_Y][part_of[row]] += (
                    grey_of(BLACK if part_of[row] == 0 else COLOUR[lane]) - grey_of(ROAD))


cdef inline void stamp_car(Canvas* canvas, int x, int lane) noexcept nogil:
    """A small car whose left end is on the road, onto the grey canvas."""
    cdef int cell = x * UNIT_X // CELL_X, top = (LANE_Y - PITCH * lane) * UNIT_Y // CELL_Y, row, k
    cdef const float* cover = COVER[lane >= RIGHT_LANES][x * UNIT_X - cell * CELL_X][0]
    cdef const float* weigh
    cdef float[8] sums
    cdef float* to
    for row in range(4 + ((LANE_Y - PITCH * lane) * UNIT_Y % CELL_Y > 0)):
        weigh = WEIGH[lane][row]
        to = touch_row(canvas, top + row) + cell
        for k in range(8):
            sums[k] = (weigh[0] * cover[k] + weigh[1] * cover[8 + k]) + (weigh[2] * cover[16 + k] + weigh[3] * cover[24 + k])
        if cell <= SMALL - 8:
            for k in range(8):
                to[k] += sums[k]
        else:
            for k in range(SMALL - cell):
                to[k] += sums[k]


cdef inline void draw_car(Canvas* canvas, int x, int lane, const uint16_t* shape, bint truck) noexcept nogil:
    """With its left end at x, or what of it is on the screen."""
    cdef int y = LANE_Y - PITCH * lane
    if canvas.rgb == NULL and not truck and x >= EDGE:
        stamp_car(canvas, x, lane)
    elif x > EDGE - 16:
        draw_rows(canvas, x, y, shape, 1, ROAD, BLACK)
        draw_rows(canvas, x, y + 1, shape + 1, 8, ROAD, COLOUR[lane])
        draw_rows(canvas, x, y + 9, shape + 9, 1, ROAD, BLACK)


cdef void draw(const void* state, Canvas* canvas) noexcept nogil:
    cdef const Freeway* game = <const Freeway*>state
    cdef uint32_t colour = PINK
    cdef int lane, car, left
    if game.frame >= FRAMES - FLASH:
        colour = FLASHES[(game.frame & 255) >> 1]
        draw_rows(canvas, RIVAL_SCORE_X, SCORE_Y, DIGIT[0], 8, PINK, colour)
    if game.score >= 10:
        draw_rows(canvas, SCORE_X - 8, SCORE_Y, DIGIT[game.score // 10], 8, ROAD, colour)
    draw_rows(canvas, SCORE_X, SCORE_Y, DIGIT[game.score % 10], 8, ROAD, colour)
    draw_chicken(game, canvas)
    for lane in range(LANES):
        for car in range(CARS[game.kind[lane]]):
            left = left_of(game, lane, car)
            left = left if left < WIDTH else left - WIDTH
            draw_car(canvas, left, lane, shape_of(game, lane), game.kind[lane] == TRUCK)
            if left > WIDTH + EDGE - 16:
                draw_car(canvas, left - WIDTH, lane, shape_of(game, lane), game.kind[lane] == TRUCK)


cdef void chunk(char* states, Io* io, int lo, int hi) noexcept nogil:
    run_chunk(reset, step, observe, draw, NULL, sizeof(Freeway), states, io, lo, hi)


make_stamps()
GAME = Game(
    name="freeway", title="Freeway", version=1, summary="Lead a chicken across ten lanes of traffic, as often as time allows.",
    actions=("NOOP", "UP", "DOWN"), feature_shape=(5 + 2 * LANES,), frame_skip=4,
    feature_low=(-2, 0, 0, 0, -1) + (-2,) * (2 * LANES), feature_high=(2, 1, 1, 4, 1) + (2,) * (2 * LANES),
    options={
        "game": Option(1, 1, 8, "number of the game on the cartridge, its traffic"),
        "difficulty": Option(0, 0, 1, "1: a hit sends the chicken back to the start"),
        "scatter": Option(1, 0, 1, "0: all cars start at the edge of the screen, as on the cartridge"),
    },
).bind(chunk, backdrop, draw, sizeof(Freeway))
