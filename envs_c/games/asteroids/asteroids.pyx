"""Asteroids after the cartridge of 1981 for the Atari 2600, in the game and difficulty that ALE has by default.

Field. On a screen of 160x210 pixels it is what lies at y 18 .. 194: 160 pixels across, and 89 lines of two pixels down
(of the last line half is hidden). Its edges join, left to right and top to bottom; x and line of a thing are those of its
top left corner. The cartridge flickers: it draws rocks in odd frames and all else in even ones. Here all is drawn in every
frame. What is at x 6 .. 18 is shown 2 pixels farther left, as there. Where things overlap, the ship hides shots and rocks,
and a rock those after it. Rocks move in odd frames, ship and shots in even ones, which are the turns of what follows; keys
held in odd frames alone do nothing.

Rocks. They come in waves: the last rock gone, the next turn brings 4 large ones, from 1,000 points on 6, from 15,000 on 8.
Half of them climb, half sink, by a line each time they move, and each seventh time all drift by a pixel, half of them at
random to the left. Of each half, one begins in line 1 and one in line 63, at x 19 .. 63 or 106 .. 135; a third in line 42
(that climbs) or 21 (that sinks) and a fourth in the other of these, beside the edge, x -9 .. 5. A large rock (16 wide, 15
lines deep) that is hit becomes two of medium size (8, 9), one where it was and one 10 lines below, which drift apart; a
medium rock becomes one small (4, 6); what remains goes up and down as before. Large rocks give 20 points, medium ones 50,
small ones 100, shot or rammed.

Ship. It has 16 ways to point, 0 straight up; LEFT and RIGHT turn it by one, in every second turn. Speed is counted in 1/4096
pixel and line a turn. UP adds 127 of it ahead, else the ship loses each turn 1/128 of it, rounded so that it comes to
rest. Beyond 16384 either way, 256 are taken off. It begins at x 84, line 41, pointing up, at rest.

Shots. FIRE, newly pressed, shoots if fewer than two shots fly. A shot begins 3 lines below the ship's corner and at once and
in each turn moves by up to 5 pixels and 4 lines as the table of its way says, and by the whole pixels and lines of
a turn of the ship as it now flies (to the right 1 pixel more). It lasts 24 to 44 frames by its way, and ends with a hit.

Hyperspace. DOWN, held in two turns one after the other, takes the ship away for 31 turns. It is then at rest at x 19 .. 63
or 106 .. 135 in a line 0 .. 78, whatever is there.

Hits. In every frame one of ship and shots is looked at, of those that are there the next in the order ship, first shot,
second, first, ship, second, first, second. A rock at (x, line) meets a shot at (X, Y) with X - w < x < X + 4 and
Y - d <= line <= Y, the ship with X - w < x < X + 6 and Y - d <= line <= Y + 2, where w and d are its width and depth. Either
way the rock is hit. The ship explodes for 6 turns, loses a life, and after 63 turns the next one comes, if no rock's corner is
then at x 64 .. 105 in lines 8 .. 63; else as soon as that is so.

Lives. 4 at first, one more at each 5,000 points, up to 9. The episode ends with the last. The score's display goes back to 0
at 100,000. Difficulty A of the cartridge, which sends satellites and UFOs, is not ALE's default and not in this game.
"""

from libc.math cimport sqrtf
from libc.stdint cimport int32_t, uint8_t, uint32_t
from libc.string cimport memset

from envs_c.game cimport Game, Io, run_chunk
from envs_c.games.asteroids.picture cimport EXPLOSION, SHIP, SHOT, Figures, draw_digit, draw_figure, lay_out, place
from envs_c.games.asteroids.rules cimport (
    BLAST, BONUS, COLOUR, DOWN, DRIFT, FIRE, HIGH, KEYS, LEFTWARD, MOST_LIVES, NONE, ONE, POINTS_END, PUSH_X, PUSH_Y, REST,
    SINKS, SLOTS, START_X, START_Y, WIDE, Asteroids, begin_wave, is_here, jump, meet_rocks, move_rocks, move_ship, move_shots,
    rest, ship_x, ship_y, shot_speed, split_rocks, steer)
from envs_c.rng cimport Rng
from envs_c.screen cimport SMALL, Canvas, canvas_row
from envs_c.game import Option


cdef enum:
    SHIP_FEATURES = 13, SHOT_FEATURES = 6, ROCK_FEATURES = 9, NEAREST = 8
    FEATURES = 97   # the sum, with 2 shots
    FAR = 1 << 30
    LARGE_LINE = 6, ROCK_LINE = 4   # pixels from a rock's line to its picture
    LIVES_X = 132
    PINK = 0xF08080, BLUE = 0x75B5EF

cdef extern from *:
    """
    static const unsigned COLOURS[8] = {
        0xD6D6D6, 0xB83232, 0x75B5EF, 0xBBBB35, 0xB47A30, 0xB846A2, 0x6848C6, 0x88923E};
    """
    const uint32_t[8] COLOURS


cdef void reset(void* state, const double* options, Rng* rng) noexcept nogil:
    cdef Asteroids* game = <Asteroids*>state
    memset(game, 0, sizeof(Asteroids))
    memset(game.kind, NONE, SLOTS)
    game.lives = <uint8_t>options[0]
    game.x, game.y = START_X * ONE, START_Y * ONE
    game.drift = DRIFT
    begin_wave(game, rng)


cdef inline float score_points(Asteroids* game, int points) noexcept nogil:
    cdef int before = game.score // BONUS
    game.score += points
    if game.score // BONUS > before and game.lives < MOST_LIVES:
        game.lives += 1
    if game.score >= POINTS_END:
        game.score -= POINTS_END
    return points


cdef float step(void* state, int action, Rng* rng, bint* over) noexcept nogil:
    cdef Asteroids* game = <Asteroids*>state
    cdef int keys = KEYS[action], points
    game.frame = (game.frame + 1) & 3
    if game.broken:
        split_rocks(game, rng)
    if game.frame & 1:
        move_rocks(game)
    else:
        if game.rocks == 0:
            begin_wave(game, rng)
        if not is_here(game):
            rest(game, over)
            move_shots(game)
        elif keys & DOWN and game.dived:
            jump(game, rng)
            move_shots(game)
        else:
            steer(game, keys, rng)
            move_shots(game)
            move_ship(game)
        game.fired = keys & FIRE
        game.dived = keys & DOWN and is_here(game)
    points = meet_rocks(game)
    return score_points(game, points) if points else <float>0


cdef inline void observe_rocks(const Asteroids* game, float* features) noexcept nogil:
    """The nearest, by the distance between the middles of their corners' boxes and the ship's."""
    cdef int32_t[SLOTS] dx, dy, kind, order, rank
    cdef float[ROCK_FEATURES][SLOTS] seen
    cdef uint8_t[SLOTS] slots
    cdef long slot, other, k
    cdef int x = ship_x(game) + 3, y = ship_y(game) + 2, across, down, size, breadth, rock
    cdef float far, inverse, ahead_x = -PUSH_X[game.way] * <float>(1.0 / 127), ahead_y = PUSH_Y[game.way] * <float>(1.0 / 127)
    for slot in range(SLOTS):  # every slot is worked out, in loops over words, not bytes: they become vectors
        dx[slot] = game.rock_x[slot] - x
        dy[slot] = game.rock_y[slot] - y
        kind[slot] = game.kind[slot]
        rank[slot] = 0
    for slot in range(SLOTS):
        size = kind[slot] & 48
        breadth = 4 if size == 48 else 8 if size == 32 else 16
        across = dx[slot] + (breadth >> 1)
        down = dy[slot] + (4 if size == 48 else 5 if size == 32 else 9)
        across = across - WIDE if across > WIDE // 2 else across + WIDE if across < -WIDE // 2 else across
        down = down - HIGH if down > HIGH // 2 else down + HIGH if down < -HIGH // 2 else down
        order[slot] = (FAR if kind[slot] == NONE else (across * across + 4 * down * down) * SLOTS) + <int>slot
        far = sqrtf(across * across + 4 * down * down)
        inverse = 1 / (far + 1)
        seen[0][slot] = 1
        seen[1][slot] = across * <float>(1.0 / 40)
        seen[2][slot] = 2 * down * <float>(1.0 / 44)
        seen[3][slot] = (across * ahead_x + 2 * down * ahead_y) * inverse
        seen[4][slot] = (2 * down * ahead_x - across * ahead_y) * inverse
        seen[5][slot] = 24 / (far + 12)
        seen[6][slot] = 1 - ((kind[slot] & LEFTWARD) >> 2)
        seen[7][slot] = 1 if slot >= SINKS else -1
        seen[8][slot] = breadth * <float>(1.0 / 8) - 1
    for other in range(SLOTS):
        for slot in range(SLOTS):
            rank[slot] += order[other] < order[slot]
    for slot in range(SLOTS):
        slots[rank[slot]] = <uint8_t>slot
    for rock in range(min(game.rocks, NEAREST)):
        for k in range(ROCK_FEATURES):
            features[k] = seen[k][slots[rock]]
        features += ROCK_FEATURES


cdef void observe(const void* state, void* out) noexcept nogil:
    """Ship, shots, and the 8 nearest rocks, from the ship by the shorter way around the field; 0 where there is none.

    Ship: 0 x, 1 y, 2 3 its way (right, down), 4 5 speed (right, down), 6 not here, 7 time until it is, 8 explodes,
    9 FIRE and 10 DOWN were down, 11 lives, 12 rocks. Two shots: there, x, y, speed (right, down), time left. Rocks: there,
    x, y, cosine and sine of the angle to the right by which one turns from the ship's way to it, nearness, drift, way (down
    1), size. Places are in units of about their deviation.
    """
    cdef const Asteroids* game = <const Asteroids*>state
    cdef float* features = <float*>out
    cdef int x = ship_x(game), y = ship_y(game), i, dx, dy
    memset(out, 0, FEATURES * sizeof(float))
    features[0] = (x - WIDE // 2) * <float>(1.0 / 46)
    features[1] = (y - HIGH // 2) * <float>(1.0 / 26)
    features[2] = -PUSH_X[game.way] * <float>(1.0 / 127)
    features[3] = PUSH_Y[game.way] * <float>(1.0 / 127)
    features[4] = -game.vx * <float>(1.0 / 4096)
    features[5] = game.vy * <float>(1.0 / 2048)
    features[6] = not is_here(game)
    features[7] = game.hidden * <float>(1.0 / REST)
    features[8] = game.blast * <float>(1.0 / BLAST)
    features[9] = game.fired != 0
    features[10] = game.dived != 0
    features[11] = (game.lives - 4) * <float>(1.0 / 4)
    features[12] = (game.rocks - 4) * <float>(1.0 / 4)
    features += SHIP_FEATURES
    for i in range(2):
        if game.shot_life[i] > 0:
            features[0] = 1
            dx = game.shot_x[i] - x
            dy = game.shot_y[i] - y
            features[1] = (dx - WIDE if dx > WIDE // 2 else dx + WIDE if dx < -WIDE // 2 else dx) * <float>(1.0 / 40)
            features[2] = (dy - HIGH if dy > HIGH // 2 else dy + HIGH if dy < -HIGH // 2 else dy) * <float>(1.0 / 22)
            shot_speed(game, i, &dx, &dy)
            features[3] = dx * <float>(1.0 / 4)
            features[4] = dy * <float>(1.0 / 4)
            features[5] = game.shot_life[i] * <float>(1.0 / 8)
        features += SHOT_FEATURES
    observe_rocks(game, features)


cdef void backdrop(const double* options, Canvas* canvas) noexcept nogil:
    """Nothing is there for good."""


cdef void draw(const void* state, Canvas* canvas) noexcept nogil:
    cdef const Asteroids* game = <const Asteroids*>state
    cdef Figures figures
    cdef int i, kind, size, left = game.score // 10, x = 52
    memset(&figures, 0, sizeof(Figures))
    if canvas.rgb == NULL:
        for i in range(SMALL):
            canvas_row(canvas, i)
        memset(canvas.grey, 0, SMALL * SMALL)
    if game.blast:
        place(&figures, EXPLOSION + 2 - (game.blast - 1) // 2, ship_x(game), -1, game.y >> 7, PINK)
    elif not game.hidden:
        place(&figures, SHIP + game.way, ship_x(game), -1, game.y >> 7, PINK)
    for i in range(2):
        if game.shot_life[i] > 0:
            place(&figures, SHOT, game.shot_x[i], 1, 2 * game.shot_y[i] - 1, PINK if i else BLUE)
    for i in range(SLOTS):
        kind = game.kind[i]
        if kind != NONE:
            size = kind >> 4 & 7
            place(&figures, size, game.rock_x[i], -(size > 1),
                  2 * game.rock_y[i] + (LARGE_LINE if size < 2 else ROCK_LINE) + (i >= SINKS), COLOURS[kind & COLOUR])
    for i in range(figures.number):
        draw_figure(&figures, i, canvas)
    draw_digit(canvas, LIVES_X, game.lives)
    draw_digit(canvas, 68, 0)
    while left > 0:
        draw_digit(canvas, x, left % 10)
        left //= 10
        x -= 16


cdef void chunk(char* states, Io* io, int lo, int hi) noexcept nogil:
    run_chunk(reset, step, observe, draw, NULL, sizeof(Asteroids), states, io, lo, hi)


lay_out()
GAME = Game(
    name="asteroids", title="Asteroids", version=1, summary="Shoot rocks to pieces, and keep out of their way.",
    actions=("NOOP", "FIRE", "UP", "RIGHT", "LEFT", "DOWN", "UPRIGHT", "UPLEFT", "UPFIRE", "RIGHTFIRE", "LEFTFIRE", "DOWNFIRE",
             "UPRIGHTFIRE", "UPLEFTFIRE"),
    feature_shape=(FEATURES,), frame_skip=4, feature_low=-8, feature_high=8,
    options={"lives": Option(4, 1, MOST_LIVES, "lives at first")},
).bind(chunk, backdrop, draw, sizeof(Asteroids))
