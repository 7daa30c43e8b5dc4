"""Seaquest as on the Atari 2600 cartridge of 1983, equal to it frame by frame.

Screen. 160x210 pixels, x to the right, y down. All numbers below are pixels unless stated otherwise.

Submarine. 16 wide and 11 high; its rows on the screen begin at y + 33. It moves by 1 a frame in eight directions, with x
within 21 .. 134 and y within 13 (the surface) .. 108.

Actions. The 18 actions combine a direction with FIRE. From y 18 on FIRE sends a torpedo to the side that the submarine
faces, one at a time, 5 a frame. While FIRE is held, the next torpedo starts when the last is gone. A torpedo stays at the
submarine's height, also when the submarine moves up or down. It hits at x 8 .. 152.

Lanes. Four lanes lie 24 rows apart; lane 0 is the lowest. In each lane a wave crosses the sea at 6/16 pixel a frame; each step
of pace adds 1/16. A wave has, for two paces each: one enemy; two 16 apart; two 32 apart; three; then one again. A wave ends
after 248 pixels. If it was not shot completely, the next wave is of the other kind (sharks or enemy submarines) and lacks the
enemies that were shot. If it was, new sharks follow: at once after a shark, after a submarine as soon as no shot is in the
lane; only if the last submarine is shot in the frame in which its wave ends, a wave of sharks without sharks comes first. The
first waves of a life are sharks. Sharks move up and down by 7 rows in 64 frames.

Chance. A number of 8 bits, a shift register with taps at bits 7 and 4, takes three steps every 8 frames. A new wave comes from
the right if its bit 3 is set, and brings a diver if it is 80 or more; after submarines that were all shot, always. For the
first waves of a life the number is the frame's (its low 8 bits), shifted right by 3 less than the lane's number.

Shots. The foremost submarine of a wave fires when its x is within 39 .. 126 and the lane has no shot. A shot moves ahead at
1 + p/16 a frame at pace p. Torpedoes do not stop it.

Divers. If a lane has no diver, a new wave may bring one (see Chance). He enters the sea with the lane's next wave of sharks and
swims in their direction at 3/16 a frame, 1/16 more at every second pace; from a shark's touch at x 8 .. 150 on, as fast as the
sharks, until one of them is shot. If the sharks follow submarines and the chance is odd, he enters by a step of theirs. He
turns when the next wave comes from the other side. Beyond the edge he is lost. The submarine takes him in by touching him, up
to six. A lane whose diver was taken brings no other until the divers of all four were taken.

Oxygen. The tank holds 64 units. From y 20 on one unit is used every 32 frames; when the last is used the submarine is lost.
At the surface with less than 64 units:

  - Without divers the submarine is lost.
  - With 1 to 5 divers the tank is filled by a unit every other frame, during which the submarine cannot leave and its torpedo
    rests. Then one diver goes ashore and the pace rises by 1.
  - With 6 divers it is a rescue: see Points. The pace rises by 1 if it is below the number of rescues, and the sea begins
    again as after a lost life, with the submarine where it is; its torpedo rests, and is gone when the tank is full.

Patrol. From the second rescue on, a submarine that cannot be shot crosses the surface to the left at 1 pixel every fourth
frame, from the fifth rescue on every second. It goes round through 256 pixels. It is there while the tank is filled after a
rescue, too.

Dangers. Figures touch if they share a pixel; it has an effect in the next frame. Shots, sharks, submarines and the patrol
destroy the submarine. Enemies that are run into are gone, with those up to one pixel beside it; one of them counts as shot. If
the wave's first place is not on the screen, both others are gone. A shot that hits comes first: in that frame an enemy that is
hit or run into stays. The remains touch, too: then the death begins again.

Points. An enemy gives 20, and 10 more for each rescue made, up to 90. A rescue gives as much as an enemy for each unit of
oxygen left, and for each diver 50, and 50 more for each rescue made before, up to 1000. The score stops at 999,999.

Pace and rescues begin again at 0 after 255; the speeds in 1/16 pixel, too, and the points of an enemy with the rescues.

Lives. There are 4 (option `lives`). A lost life also costs a diver. A death takes 23 steps of 4 frames; then the sea is empty
and the tank is filled for 128 frames, as at the start. Each 10,000 points give a life if there are fewer than seven.

End. The episode ends when the last life is lost.

Start. Frame and chance are random. With scatter=0 they are those of the cartridge: all games with equal actions are equal.

Changed rules. With endless_oxygen=1 no oxygen is used below the surface. With silent_submarines=1 enemy submarines do not
fire. With early_patrol=1 the patrol comes from the start on.

Forecast. With forecast=1, 45 more features follow, and the game itself is the same. "Near d to r" stands for (1 - (d /
r)^2)^2, and 0 beyond r. All are in pixels, from the middle of the submarine to the middle of a figure, x to the right. Each
lane has 8: for its enemies to the right, then to the left, within 84, the most of (near y to 9) (1 - |x| / 90), with y from
the torpedo's row; in the same way (near x to 36) (near y to 22), with x 4 pixels on in the enemy's direction; for its shot, if
it is 6 pixels on to the right, then if to the left, (near x to 48) (near y to 18); for its diver (near x to 60) (near y to
30); and 1 if the lane is below, else -1. Then the nearest diver, all 0 without one: x / 20 and y / 14, -2 to 2; 1; 1 - (|x| +
|y|) / 240. Last, with a = (frames for which the oxygen lasts) - (pixels up to the surface): a / 512, 0 to 1; what is missing
to 1 with divers on board, without divers; near a to 128; this with divers on board; near the surface to 30 if oxygen was used,
with divers, without divers; near the surface to 12; 1 with divers on board.

Picture. The cartridge shows its maker's name below the sand, in rows 188 to 209. Here they are black.
"""

from libc.stdint cimport uint8_t, uint16_t
from libc.string cimport memcpy

from envs_c.game cimport Game, Io, run_chunk
from envs_c.games.seaquest.forecast cimport FORECAST_FEATURES, forecast
from envs_c.games.seaquest.hits cimport Contacts, chase, collide, find_contacts
from envs_c.games.seaquest.lanes cimport fill, move_lanes, swim
from envs_c.games.seaquest.picture cimport (
    BAR, BAR_ROWS, BAR_X, BAR_Y, BELOW_WATER, BLACK, EDGE, GREY, GROUND, LIGHT, OXYGEN, SAND, SEABED, STANDING, YELLOW, Figure,
    copy_icons, draw_lane, draw_numbers, draw_ship, draw_waves, hide, make_icons, make_tables, paint, paint_wet,
    place)
from envs_c.games.seaquest.rules cimport (
    COPIES, COUNTS, CREW, DIES, FILLS, FORECAST, FRAMES, GAP, LANES, LOW, PLAYS, SHIP_Y, SPRITE, START_X, TANK, TORPEDO_ROW,
    Seaquest, begin, begin_death, count_bonus, docked, enemy_speed, lane_y, move_patrol, next_chance, patrol_rows, patrol_y,
    screw, sink, surface)
from envs_c.games.seaquest.shapes cimport SUBMARINE, TORPEDO_BITS
from envs_c.games.seaquest.valid cimport valid
from envs_c.rng cimport Rng
from envs_c.screen cimport SMALL, Canvas, canvas_rect, canvas_swap
from envs_c.stamp cimport CELLS, HEIGHT, WIDTH, Sheet, finish_rows, sheet_of, sum_backdrop

from envs_c.game import Feature, Option


cdef enum:
    SELF = 17, LANE = 13, FEATURES = SELF + LANES * LANE    # features of the submarine, of each lane, without the forecast
    FIRST_ROW = 3, END_ROW = 70     # grey rows in which things move


cdef void reset(void* state, const double* options, Rng* rng) noexcept nogil:
    begin(<Seaquest*>state, options, rng)


cdef float step(void* state, int action, Rng* rng, bint* over) noexcept nogil:
    cdef Seaquest* game = <Seaquest*>state
    cdef int phase = game.phase, chance = game.chance
    cdef float points = 0.0
    cdef Contacts found
    find_contacts(game, &found)
    game.tint = <uint8_t>(game.pace & 7)
    game.frame = <uint16_t>(game.frame + 1 if game.frame + 1 < FRAMES else 0)
    if game.frame & 7 == 0:
        game.chance = next_chance(chance)
        if phase == PLAYS or phase == DIES:
            game.stroke = <uint8_t>((game.stroke + 2) % 3)
    move_patrol(game)
    if phase == PLAYS or phase == DIES:
        points = collide(game, &found, chance)
    chase(game, &found)
    if found.patrol and (phase == FILLS or phase == PLAYS):
        game.patrol = game.torpedo = 0
        begin_death(game)
    swim(game)
    if game.phase == DIES:
        if phase == DIES:
            game.torpedo = 0
        sink(game, over)
    elif phase == FILLS:
        fill(game)
    elif phase == COUNTS:
        points = count_bonus(game)
    else:
        move_lanes(game, chance)
        surface(game, action)
    return points


cdef void observe(const void* state, void* out) noexcept nogil:
    """69 float32, or 114 with a forecast; the rows of GAME's `features` name them. Usual states have 0 in most places."""
    cdef const Seaquest* game = <const Seaquest*>state
    cdef float* features = <float*>out
    cdef float* lane_of = features + SELF
    cdef float speed = enemy_speed(game) * <float>(1.0 / 12), there, away
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
    features[13] = docked(game)
    features[14] = game.phase != PLAYS
    features[15] = EDGE - SPRITE < game.patrol < WIDTH
    features[16] = features[15] * (game.patrol - game.x_ship) * <float>(1.0 / 40)
    for lane in range(LANES):
        away = game.x[lane] - game.x_ship
        alive, sub = game.alive[lane], game.sub[lane]
        lane_of[0] = (lane_y(lane) - game.y - SHIP_Y) * <float>(1.0 / 28)
        lane_of[1] = speed * (2 * game.right[lane] - 1)
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
    if game.rules & FORECAST:
        forecast(game, features + FEATURES)


cdef void backdrop(const double* options, Canvas* canvas) noexcept nogil:
    """Sea, sand and a full tank, without figures and numbers."""
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


cdef void draw(const void* state, Canvas* canvas) noexcept nogil:
    cdef const Seaquest* game = <const Seaquest*>state
    cdef Figure[6] front
    cdef Figure patrol
    cdef int lane, fronts = 2
    cdef uint16_t[CELLS] sums
    cdef Sheet sheet = sheet_of(canvas, sums, EDGE)
    if canvas.rgb == NULL:
        memcpy(sums, STANDING, END_ROW * SMALL * sizeof(uint16_t))
    draw_waves(game, &sheet)
    draw_numbers(game, &sheet)
    draw_ship(game, &sheet, front)
    if game.torpedo > 0 and game.y + TORPEDO_ROW >= BELOW_WATER:
        place(&front[2], game.torpedo, game.y + TORPEDO_ROW, TORPEDO_BITS, 1, False)
        hide(&front[2], &front[0])
        hide(&front[2], &front[1])
        paint(&sheet, &front[2], YELLOW)
        fronts = 3
    if 0 < game.patrol < WIDTH:
        place(&patrol, game.patrol, patrol_y(game), SUBMARINE[screw(game)], patrol_rows(game), True)
        hide(&patrol, &front[0])
        hide(&patrol, &front[1])
        paint_wet(game, &sheet, &patrol, GREY)
    for lane in range(LANES):
        draw_lane(game, &sheet, lane, front, fronts)
    if canvas.rgb == NULL:
        finish_rows(canvas, sums, FIRST_ROW, END_ROW)
        copy_icons(game, canvas.grey)


cdef int lives(const void* state) noexcept nogil:
    """The lives left, the current one included."""
    return (<const Seaquest*>state).lives


cdef void chunk(char* states, Io* io, int lo, int hi) noexcept nogil:
    run_chunk(reset, step, observe, draw, NULL, sizeof(Seaquest), states, io, lo, hi)


cdef void prepare() noexcept nogil:
    make_tables()
    sum_backdrop(backdrop, STANDING)
    make_icons()


GAME = Game(
    name="seaquest", title="Seaquest", version=5, summary="Bring divers home in a submarine before the oxygen runs out.",
    actions=("NOOP", "FIRE", "UP", "RIGHT", "LEFT", "DOWN", "UPRIGHT", "UPLEFT", "DOWNRIGHT", "DOWNLEFT", "UPFIRE", "RIGHTFIRE",
             "LEFTFIRE", "DOWNFIRE", "UPRIGHTFIRE", "UPLEFTFIRE", "DOWNRIGHTFIRE", "DOWNLEFTFIRE"),
    feature_shape=lambda options: (FEATURES + FORECAST_FEATURES * (options["forecast"] > 0),), frame_skip=4, feature_low=-70,
    feature_high=70,
    options={
        "lives": Option(4, 1, 7, "lives at the start"),
        "first_level": Option(0, 0, 20, "rescues that count as made at the start; also the first pace"),
        "scatter": Option(1, 0, 1, "0: frame and random number start as on the cartridge"),
        "endless_oxygen": Option(0, 0, 1, "1: no oxygen is used below the surface"),
        "silent_submarines": Option(0, 0, 1, "1: enemy submarines do not fire"),
        "early_patrol": Option(0, 0, 1, "1: the patrol comes from the start on"),
        "forecast": Option(0, 0, 1, "1: 45 more features, what is near and how long the air lasts; the game is the same"),
    },
    features=(
        Feature("submarine x", -1.84, 1.94, help="(x - 76) / 30 in pixels, 0 at the start"),
        Feature("submarine y", -1.68, 1.72, help="(y - 60) / 28 in pixels, positive is deeper; -1.68 at the surface"),
        Feature("facing", -1, 1, help="1 right, -1 left"),
        Feature("oxygen used", 0, 2, help="(64 - units left) / 32"),
        Feature("alarm", 0, 1, help="1 with 16 units of oxygen or fewer"),
        Feature("divers", 0, 2, help="divers on board / 3"),
        Feature("six divers", 0, 1, help="1 with six divers on board"),
        Feature("torpedo", 0, 1, help="1 if a torpedo is under way"),
        Feature("torpedo x", -3.4, 3.5, help="(torpedo's x - submarine's x) / 40 in pixels; 0 without a torpedo"),
        Feature("torpedo's side", -1, 1, help="1 if it moves right, -1 left; 0 without a torpedo"),
        Feature("lives", -1.5, 2, help="(lives - 3) / 2, the current one included"),
        Feature("rescues", 0, 63.75, help="rescues made / 4"),
        Feature("pace", 0, 31.875, help="pace / 8"),
        Feature("docked", 0, 1, help="1 while the tank is filled at the surface"),
        Feature("waiting", 0, 1, help="1 while the sea is empty, in a death and in a rescue: actions have no effect"),
        Feature("patrol", 0, 1, help="1 if the patrol is on the screen"),
        Feature("patrol x", -3.4, 3.5, help="(patrol's x - submarine's x) / 40 in pixels; 0 without a patrol"),
        *(row for k in ("0", "1", "2", "3") for row in (
            Feature(f"lane {k}: depth", -2.75, 3.25, help="(the lane's row - the submarine's row) / 28 in pixels, positive is "
                                                          "deeper; lane 0 is the lowest"),
            Feature(f"lane {k}: speed", -21.4, 21.4, help="speed of the wave to the right / 0.75 pixel a frame"),
            Feature(f"lane {k}: submarines", 0, 1, help="1 if the wave is submarines, 0 sharks"),
            *(feature for n in ("left", "middle", "right") for feature in (
                Feature(f"lane {k}: {n} enemy", 0, 1, help="1 if the enemy at this place of the wave is there"),
                Feature(f"lane {k}: {n} enemy's x", -5.6, 5.7, help="(its x - submarine's x) / 40 in pixels; 0 if it is not "
                                                                    "there"))),
            Feature(f"lane {k}: diver", 0, 1, help="1 if a diver swims there"),
            Feature(f"lane {k}: diver's x", -3.4, 3.5, help="(its x - submarine's x) / 40 in pixels; 0 without a diver"),
            Feature(f"lane {k}: shot", 0, 1, help="1 if a submarine's shot is there"),
            Feature(f"lane {k}: shot's x", -3.4, 3.5, help="(its x - submarine's x) / 40 in pixels; 0 without a shot"))),
    ),
    compared_with="The cartridge under ale-py: every frame's state and picture are equal; a plain Python twin, field by field.",
).bind(chunk, backdrop, draw, sizeof(Seaquest), has_mask=False, valid=valid, lives=lives, prepare=prepare)
