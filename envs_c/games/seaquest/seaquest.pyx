"""Seaquest, as the cartridge of 1983 for the Atari 2600 plays it, but for its random numbers and some details of drawing.

Submarine. On a screen of 160x210 pixels (x to the right, y down) it is 16 wide and 11 high, its rows from y + 33 on. It moves
by 1 pixel a frame in eight directions, x within 21 .. 134 and y within 13 (the surface) .. 108. From y 18 on FIRE lets a
torpedo go to the side that it faces, one at a time, 5 pixels a frame; held, FIRE shoots again when it is gone. A torpedo
keeps to the submarine's height, wherever that goes.

Lanes. Four lie 24 rows apart, lane 0 the lowest. In each a wave crosses, from left or right at random, 6/16 pixel a frame:
one enemy at pace 0 and 1, then two 16 apart, two 32 apart and three, for two paces each, and over again. Each step of pace
adds 1/16 pixel a frame. After 247 pixels a wave that was not shot is followed by the next: enemy submarines after sharks,
sharks after submarines. Those who were shot are missing from the next wave too, but a wave that was shot to the last is
followed by new sharks, at once or when a submarine's shot has gone. The first waves of a life are sharks. Sharks bob by 7
rows in 64 frames.

Shots. The foremost submarine of a wave, while its x is 39 .. 126, fires as soon as the lane's shot before is gone. A shot
goes ahead at 1 pixel a frame, at pace p 1 + p/16. Torpedoes do not stop it.

Divers. A wave brings a diver to its lane with a chance of 3 in 4, or the lane's diver waits for it already. With sharks he
swims along at 3/16 pixel a frame, 1/16 more at every second pace, as fast as the shark that is at his heels, and turns when
the next wave comes from the other side. Past the edge he is lost. The submarine takes him in by touching him, six at most;
a lane whose diver was taken brings none until all four were.

Points. An enemy gives 20, and 10 more for each rescue made, up to 90. Shots, sharks and submarines kill what they touch;
the enemy that is run into counts as shot.

Oxygen. The tank holds 64 units. Below y 20 one goes every 32 frames; the last one's end is death. At the surface with less
than 64: without divers it is death; with one to five the tank is filled, a unit every other frame, during which the
submarine cannot leave, then one diver goes ashore and the pace rises by 1; with six it is a rescue: every unit left gives
as much as an enemy, every diver 50, and 50 more for each rescue made before, up to 1000. The pace rises by 1 if it is
below the number of rescues, and all begins anew as after a death.

Patrol. From the second rescue on a submarine that cannot be shot crosses the surface to the left, 1 pixel every fourth
frame; it comes again every 1024 frames. It kills at y 13 and 14.

Lives. The episode ends with the fourth death. Each costs a diver too; 92 frames pass, then the sea is empty and the tank is
filled for 128 frames, as at the start. Each 10,000 points give a life, as long as there are fewer than seven. The score
stops at 999,999.
"""

from libc.stdint cimport uint8_t, uint16_t
from libc.string cimport memcpy, memset

from envs_c.game cimport Game, Io, run_chunk
from envs_c.games.seaquest.hits cimport hit_enemies, touch
from envs_c.games.seaquest.picture cimport (
    BAR, BAR_ROWS, BAR_X, BAR_Y, BLACK, DIVER, EDGE, GREY, GROUND, LIGHT, MAKER, OXYGEN, SAND, SEABED, STANDING, SUBMARINE,
    TORPEDO_BITS, YELLOW, Figure, copy_icons, draw_lane, draw_numbers, draw_ship, hide, make_icons, make_tables, paint, place)
from envs_c.games.seaquest.rules cimport (
    COPIES, COUNTS, CREW, DIES, FIRST_FRAME, GAP, LANES, LOW, PATROL_FROM, PATROL_PACE, PLAYS, SHIP_Y, SPRITE, START_X, SURFACE,
    TANK, TORPEDO_ROW, Seaquest, breathe, clear_sea, count_bonus, keep_waiting, lane_y, move_lanes, steer)
from envs_c.rng cimport Rng
from envs_c.screen cimport SMALL, Canvas, canvas_rect, canvas_swap
from envs_c.stamp cimport CELLS, HEIGHT, WIDTH, Sheet, finish_rows, sheet_of, sum_backdrop

from envs_c.game import Option


cdef enum:
    SELF = 17, LANE = 13            # features of the submarine, and of each lane
    FIRST_ROW = 3, END_ROW = 70     # of the grey canvas: between them things move


cdef void reset(void* state, const double* options, Rng* rng) noexcept nogil:
    cdef Seaquest* game = <Seaquest*>state
    memset(game, 0, sizeof(Seaquest))
    game.lives = <uint8_t>options[0]
    game.rescues = game.pace = <uint8_t>options[1]
    game.frame = FIRST_FRAME
    game.facing = 1
    clear_sea(game)


cdef float step(void* state, int action, Rng* rng, bint* over) noexcept nogil:
    cdef Seaquest* game = <Seaquest*>state
    cdef float points = 0.0
    game.frame += 1
    if game.rescues >= PATROL_FROM and game.phase != DIES and game.frame & (PATROL_PACE - 1) == 0:
        game.patrol = (game.patrol - 1) & 255
    if game.phase == PLAYS:
        steer(game, action)
        breathe(game)
        if game.phase == PLAYS:
            move_lanes(game, rng)
            points = hit_enemies(game, rng)
            points += touch(game, rng)
    elif game.phase == COUNTS:
        points = count_bonus(game)
    else:
        keep_waiting(game, rng, over)
    return points


cdef void observe(const void* state, void* out) noexcept nogil:
    """Of the submarine: x, y, facing, oxygen used, alarm, divers, six of them, torpedo: there, how far to the right, to which
    side; lives, rescues, pace, docked, waiting, patrol: there, how far to the right. Of each lane: how far below, speed to the
    right, submarines, three copies: there, how far to the right; diver: there, how far to the right; shot: the same.

    What is normal is 0, distances are in 40 pixels across and 28 down; what is not there is at 0.
    """
    cdef const Seaquest* game = <const Seaquest*>state
    cdef float* features = <float*>out
    cdef float* lane_of = features + SELF
    cdef float speed = (6 + game.pace) * <float>(1.0 / 12), there, away
    cdef int lane, copy, alive, sub
    features[0] = (game.x_ship - START_X) * <float>(1.0 / 30)
    features[1] = (game.y - 60) * <float>(1.0 / 28)
    features[2] = 1.0 if game.facing else -1.0
    features[3] = (TANK - game.oxygen) * <float>(1.0 / 32)
    features[4] = game.oxygen <= LOW
    features[5] = game.crew * <float>(1.0 / 3)
    features[6] = game.crew == CREW
    features[7] = game.torpedo > 0
    features[8] = features[7] * (game.torpedo - game.x_ship) * <float>(1.0 / 40)
    features[9] = features[7] * (1 if game.torpedo_right else -1)
    features[10] = (game.lives - 3) * <float>(1.0 / 2)
    features[11] = game.rescues * <float>(1.0 / 4)
    features[12] = game.pace * <float>(1.0 / 8)
    features[13] = game.docked
    features[14] = game.phase != PLAYS
    features[15] = EDGE - SPRITE < game.patrol < WIDTH
    features[16] = features[15] * (game.patrol - game.x_ship) * <float>(1.0 / 40)
    for lane in range(LANES):
        away = game.x[lane] - game.x_ship
        alive, sub = game.alive[lane], game.sub[lane]
        lane_of[0] = (lane_y(lane) - game.y - SHIP_Y) * <float>(1.0 / 28)
        lane_of[1] = speed if game.right[lane] else -speed
        lane_of[2] = sub
        for copy in range(COPIES):
            there = alive >> (2 - copy) & 1
            lane_of[3 + 2 * copy] = there
            lane_of[4 + 2 * copy] = there * (away + GAP * copy) * <float>(1.0 / 40)
        away = (game.guest[lane] - game.x_ship) * <float>(1.0 / 40)
        there = game.guest[lane] > 0
        lane_of[9] = there * (1 - sub)
        lane_of[10] = lane_of[9] * away
        lane_of[11] = there * sub
        lane_of[12] = lane_of[11] * away
        lane_of += LANE


cdef void backdrop(const double* options, Canvas* canvas) noexcept nogil:
    """All but the figures and numbers; the tank is full."""
    cdef int row, k
    for row in range(HEIGHT):
        canvas_rect(canvas, EDGE, row, WIDTH - EDGE, 1, GROUND[row])
    for k in range(0, WIDTH - EDGE, 4):
        row = SEABED[k >> 2 & 7]
        canvas_rect(canvas, EDGE + k, 157, 4, row - 157, 0x004400)
        canvas_rect(canvas, EDGE + k, row, 4, 166 - row, SAND)
    canvas_rect(canvas, BAR_X, BAR_Y, BAR, BAR_ROWS, LIGHT)
    for row in range(BAR_ROWS):
        for k in range(24):
            if OXYGEN[row] >> (23 - k) & 1:
                canvas_swap(canvas, 15 + k, BAR_Y + row, 1, 1, SAND, BLACK)
    for row in range(7):
        for k in range(40):
            if MAKER[row] >> (39 - k) & 1:
                canvas_swap(canvas, 64 + k, 191 + row, 1, 1, BLACK, DIVER)


cdef void draw(const void* state, Canvas* canvas) noexcept nogil:
    cdef const Seaquest* game = <const Seaquest*>state
    cdef Figure[6] front
    cdef Figure patrol
    cdef int lane, fronts = 2
    cdef uint16_t[CELLS] sums
    cdef Sheet sheet = sheet_of(canvas, sums, EDGE)
    if canvas.rgb == NULL:
        memcpy(sums, STANDING, END_ROW * SMALL * sizeof(uint16_t))
    draw_numbers(game, &sheet)
    draw_ship(game, &sheet, front)
    if game.torpedo > 0:
        place(&front[2], game.torpedo + 1, game.y + TORPEDO_ROW, TORPEDO_BITS, 1, False)
        hide(&front[2], &front[0])
        hide(&front[2], &front[1])
        paint(&sheet, &front[2], YELLOW)
        fronts = 3
    if 0 < game.patrol < WIDTH:
        place(&patrol, game.patrol, SURFACE + SHIP_Y, SUBMARINE[0], 7, True)
        hide(&patrol, &front[0])
        hide(&patrol, &front[1])
        paint(&sheet, &patrol, GREY)
    for lane in range(LANES):
        draw_lane(game, &sheet, lane, front, fronts)
    if canvas.rgb == NULL:
        finish_rows(canvas, sums, FIRST_ROW, END_ROW)
        copy_icons(game, canvas.grey)


cdef void chunk(char* states, Io* io, int lo, int hi) noexcept nogil:
    run_chunk(reset, step, observe, draw, NULL, sizeof(Seaquest), states, io, lo, hi)


make_tables()
sum_backdrop(backdrop, STANDING)
make_icons()
GAME = Game(
    name="seaquest", title="Seaquest", version=1, summary="Bring divers home in a submarine before the oxygen runs out.",
    actions=("NOOP", "FIRE", "UP", "RIGHT", "LEFT", "DOWN", "UPRIGHT", "UPLEFT", "DOWNRIGHT", "DOWNLEFT", "UPFIRE", "RIGHTFIRE",
             "LEFTFIRE", "DOWNFIRE", "UPRIGHTFIRE", "UPLEFTFIRE", "DOWNRIGHTFIRE", "DOWNLEFTFIRE"),
    feature_shape=(SELF + LANES * LANE,), frame_skip=4, feature_low=-70, feature_high=70,
    options={
        "lives": Option(4, 1, 7, "lives at first"),
        "first_level": Option(0, 0, 20, "rescues that count as made, and so the pace at first"),
    },
).bind(chunk, backdrop, draw, sizeof(Seaquest))
