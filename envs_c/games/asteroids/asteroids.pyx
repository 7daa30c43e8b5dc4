"""Asteroids, after the cartridge of 1981 for the Atari 2600, in the game and difficulty that ALE has by default.

Screen. 160x210 pixels. The field has the rows 18 to 194: it is 160 pixels wide and 89 lines of two pixels high; of the last
line only one pixel is shown. Opposite edges of the field join. The x and line of a thing are those of its top left corner.
x goes from 4 to 165, and 160 to 165 are shown in columns 0 to 5. As on the cartridge, what goes right from x 16 comes to 19;
rocks also come from 19 to 16, but ship and shots that go left pass 18 and 17. The cartridge flickers: it draws rocks in odd
frames and all else in even ones. Here everything is drawn in every frame. The ship hides shots and rocks; shots hide rocks;
a rock hides those in later slots.

Turns. Rocks move in odd frames. Ship and shots move in even frames; these are the turns counted below. Keys are read in
turns only.

Actions. LEFT and RIGHT turn the ship, UP pushes it ahead, FIRE shoots, DOWN goes through hyperspace.

Random numbers. They are the bits of a register of 16 bits, that of the cartridge: in each frame, and for each number drawn,
it moves one bit to the left, and its new lowest bit is the exclusive or of bits 13 and 14. At the start of an episode it is
random; with scatter=0 the episode is the cartridge's own.

Rocks. They come in waves. In the frame after the last rock is gone, 4 large rocks come; from 1,000 points on 6, from 15,000
on 8. Half of them climb and half sink, by one line in every odd frame. In every seventh odd frame all rocks also drift by
one pixel, to the left or to the right. In each half one rock begins in line 1 and one in line 63, at x 19 to 63 or 106 to
135. The third one begins in line 42 if it climbs and in line 21 if it sinks, and the fourth one in the other of these two
lines; both at an odd x of 151 to 165. A rock that is hit in one frame breaks in the next, and its pieces climb or sink as it
did:
  - A large rock (16 pixels wide, 15 lines deep) becomes two medium rocks, one in its place and one 10 lines below, which
    drift in opposite directions. The second one does not come if its half has 7 rocks; those at the lower edge count twice.
  - A medium rock (8 pixels, 9 lines) becomes one small rock, which drifts to a random side.
  - A small rock (4 pixels, 6 lines) is gone.

Points. Large rocks give 20 points, medium ones 50, small ones 100, no matter whether a shot or the ship hits them. At
100,000 points the score goes back to 0.

Ship. It has 16 directions, 0 straight up. LEFT and RIGHT turn it by one direction in every second turn. The unit of its
speed is 1/4096 pixel a turn across, and 1/4096 line a turn up and down. UP adds 127 units ahead. In turns without UP the
ship loses 1/128 of its speed, rounded so that it comes to rest. If the speed along an axis would exceed 16,384 units, 256
are taken off, and the ship moves 15/16 pixel or line less in this turn. The ship begins at x 84, line 41, pointing up, at
rest.

Shots. FIRE shoots if it was not held in the turn before and fewer than two shots fly. A shot begins 3 lines below the
ship's corner. In that turn and in each later one it moves by up to 4 pixels and 4 lines in the direction that the ship had,
plus the ship's present speed in whole pixels and lines a turn, plus 1 pixel if it goes to the right. It lasts 24 to 44
frames, by its direction, or until it hits a rock.

Hyperspace. DOWN in two successive turns takes the ship away for 31 turns. It comes back at rest, at x 19 to 63 or 106 to
135 and in a line of 0 to 78, even if a rock is there.

Hits. In each frame either the ship or one of the shots is compared with all rocks, in a fixed order: ship, first shot,
second, first, ship, second, first, second, and again. Shots that do not fly are skipped. Nothing is compared in the frame in
which a rock breaks, a wave or a ship comes. A rock of width w and depth d at (x, line) is hit by a shot at (X, Y) if X - w <
x < X + 4 and Y - d <= line <= Y, and by the ship if X - w < x < X + 6 and Y - d <= line <= Y + 2; for this, 2 is added to an
x below 19. There is no hit across the left edge, x 4. A rock from line 75 on (83 if medium, 86 if small) is also compared 89
lines higher. If several rocks match, the highest of those that climb is hit, then of those that sink. A shot is then gone.
The ship explodes for 6 turns and a life is lost. After 63 more turns the next ship comes, at the place of the first one, as
soon as no rock's corner is at x 64 to 105 in lines 24 to 55, or at x 79 to 93 in lines 8 to 63.

Lives. 4 at first, one more at every 5,000 points, up to 9.

End. The episode ends with the last life.

UFOs. With ufos=1 they come, as in ALE's difficulty 3; by default there are none, as in difficulty 0. From the start, and
again after each UFO, 256 odd frames are counted in which the ship or its explosion is on the field, but none of the first
1,024 of each 65,536 frames. Then a UFO comes at x 162, in a random line of 0 to 79. Below 7,000 points it is large (7
pixels, 6 lines, 200 points), from 15,000 on small (5 pixels, 4 lines, 1,000 points), between them one or the other. In odd
frames it moves one pixel, to a random side; half of them also climb or sink by one line, and turn back in lines 0 and 79.
Back at x 162 the UFO is gone. In each odd frame in which its shot does not fly it shoots: in a random direction, and a
small one in one of the 4 directions of the quarter in which the ship is. The shot begins 3 lines below the UFO's corner,
moves as the ship's shots do, and lasts up to 44 frames.

Hits with UFOs. The order is then: ship, first shot, UFO's shot, second, UFO, first, ship, second, UFO's shot, first, UFO,
second. The UFO breaks rocks as a ship of 8 pixels and 4 lines would (6 and 2 if small) and explodes; its shot breaks them,
too. There are no points for these rocks. Ship and shots are compared with the rocks, then with the UFO: in the formulas
above, Y + 3 is in place of Y and Y + 5 in place of Y + 2. The UFO's shot hits the ship as a UFO of 5 pixels and 4 lines. A
UFO explodes for 3 turns, in which it flies on. If it leaves meanwhile, the count to the next one gains 6 frames in each
turn, until a gain makes it 18; then it begins anew. After a lost life the next ship waits until UFO and shot are gone, too,
and no ship comes back in a frame in which a rock breaks. From a small UFO to the next large one the ship's first shot has
the UFO's colour.

UFO features. With ufos=1, 12 more follow. For the UFO, all 0 if there is none: 1; x and y from the ship as of a shot; 1 if it
flies to the right and -1 to the left; 1 if it sinks, -1 if it climbs; 1 if it is small. For its shot 6 as for the ship's.

Picture. The console draws rocks in odd frames and all else in even ones. A picture here is the maximum of the last two frames,
as is usual with ALE. It shows what was there before the frame's hits. It differs from the cartridge's in three cases: where a
shot or the ship covers a rock (no maximum of the two colours is taken), where a shot crosses the left edge, and where rocks
drift in the frame in which one breaks.

Changed rules. With still_rocks=1 rocks neither climb nor sink nor drift. With no_drag=1 the ship loses no speed in turns
without UP. With whole_rocks=1 large and medium rocks that are hit are gone, as small ones are; points stay the same.
"""

from libc.stdint cimport uint8_t, uint16_t
from libc.string cimport memset

from envs_c.game cimport Game, Io, run_chunk
from envs_c.games.asteroids.features cimport FEATURES, NEAREST, ROCK_FEATURES, SHOT_FEATURES, UFO_FEATURES, observe_all
from envs_c.games.asteroids.hits cimport lay_out_watch, meet
from envs_c.games.asteroids.picture cimport Figures, draw_digit, draw_figure, lay_out
from envs_c.games.asteroids.rocks cimport begin_wave, move_rocks, split_rocks
from envs_c.games.asteroids.rules cimport (
    BONUS, DOWN, DRIFT, FIRE, FIRST_X, KEYS, MOST_LIVES, NONE, NO_UFO, NUMBERS, ONE, POINTS_END, SLOTS, START_X, START_Y,
    STILL_ROCKS, UFOS, UFO_X, Asteroids, draw as draw_number, is_here, rules_of)
from envs_c.games.asteroids.ship cimport burn, come_back, jump, move_ship, move_shots, steer
from envs_c.games.asteroids.shown cimport lives_seen, note_numbers, note_rocks, note_ship, place_others, place_rocks, score_seen
from envs_c.games.asteroids.ufo cimport burst, fly_ufo
from envs_c.games.asteroids.valid cimport valid
from envs_c.rng cimport Rng, rng_below
from envs_c.screen cimport SMALL, Canvas, canvas_row
from envs_c.game import Feature, Option


cdef enum:
    LIVES_X = 132
    FIRST_NUMBER = 0x46  # the register before the first wave on the cartridge


cdef void reset(void* state, const double* options, Rng* rng) noexcept nogil:
    cdef Asteroids* game = <Asteroids*>state
    memset(game, 0, sizeof(Asteroids))
    memset(game.kind, NONE, SLOTS)
    memset(game.rock_x, FIRST_X, SLOTS)
    memset(game.shot_x, FIRST_X, 3)
    game.lives = <uint8_t>options[0]
    game.rules = <uint8_t>rules_of(options)
    game.numbers = <uint16_t>(1 + rng_below(rng, NUMBERS) if options[1] else FIRST_NUMBER)
    game.x, game.y = START_X * ONE, START_Y * ONE
    game.drift = DRIFT
    game.ufo_x, game.ufo_y = UFO_X, NO_UFO
    game.ufo_burst = (game.rules & UFOS) > 0    # as on the cartridge; it is over before a UFO comes
    begin_wave(game)
    note_rocks(game)
    note_ship(game)


cdef inline float score_points(Asteroids* game, int points) noexcept nogil:
    cdef int before = game.score // BONUS
    game.score += points
    game.gains[0] = <uint8_t>(points // 10)
    if game.score // BONUS > before and game.lives < MOST_LIVES:
        game.lives += 1
    if game.score >= POINTS_END:
        game.score -= POINTS_END
    return points


cdef inline void turn(Asteroids* game, int keys, bint there, bint* over) noexcept nogil:
    """Ship and shots in an even frame. there: the ship was there in the frame before."""
    cdef int slip_x = 0, slip_y = 0
    if game.ufo_burst:
        burst(game)
    if game.blast:
        burn(game, over)
    elif there and keys & DOWN and game.dived:
        jump(game)
    elif there:
        steer(game, keys, &slip_x, &slip_y)
        game.fired = keys & FIRE
        game.dived = (keys & DOWN) > 0
    move_shots(game)
    if there and is_here(game):
        move_ship(game, slip_x, slip_y)


cdef float step(void* state, int action, Rng* rng, bint* over) noexcept nogil:
    cdef Asteroids* game = <Asteroids*>state
    cdef bint there = game.hidden == 0, wave = game.rocks == 0, breaks = game.broken > 0
    cdef int points
    game.frame += 1
    draw_number(game)
    if game.frame & 1:
        game.drift = game.drift - 1 if game.drift > 1 else DRIFT
        if not wave and not game.rules & STILL_ROCKS:
            move_rocks(game)
        if game.rules & UFOS:
            fly_ufo(game, there)
        note_rocks(game)
    else:
        turn(game, KEYS[action], there, over)
        note_ship(game)
    note_numbers(game)
    if not there:
        come_back(game, breaks)
    if wave:
        begin_wave(game)
    if breaks:
        split_rocks(game)
    if breaks or wave or not (there or game.hidden):
        return 0
    points = meet(game, there and not game.hidden)
    return score_points(game, points) if points else <float>0


cdef void observe(const void* state, void* out) noexcept nogil:
    """Write the features that GAME describes."""
    observe_all(<const Asteroids*>state, <float*>out)


cdef void backdrop(const double* options, Canvas* canvas) noexcept nogil:
    """Paint nothing: the ground is black and everything moves."""


cdef void draw(const void* state, Canvas* canvas) noexcept nogil:
    cdef const Asteroids* game = <const Asteroids*>state
    cdef Figures figures
    cdef int i, x = 52, left = score_seen(game, 0), before = score_seen(game, 1)
    memset(&figures, 0, sizeof(Figures))
    if canvas.rgb == NULL:
        for i in range(SMALL):
            canvas_row(canvas, i)
        memset(canvas.grey, 0, SMALL * SMALL)
    place_others(game, &figures, canvas)
    place_rocks(game, &figures)
    for i in range(figures.number):
        draw_figure(&figures, i, canvas)
    draw_digit(canvas, LIVES_X, lives_seen(game, 0), lives_seen(game, 1))
    draw_digit(canvas, 68, 0, 0)
    while left > 0:
        draw_digit(canvas, x, left % 10, before % 10 if before else left % 10)
        left, before = left // 10, before // 10
        x -= 16


cdef int lives(const void* state) noexcept nogil:
    """The lives left, the current one included."""
    return (<const Asteroids*>state).lives


cdef void chunk(char* states, Io* io, int lo, int hi) noexcept nogil:
    run_chunk(reset, step, observe, draw, NULL, sizeof(Asteroids), states, io, lo, hi)


cdef void prepare() noexcept nogil:
    lay_out()
    lay_out_watch()


GAME = Game(
    name="asteroids", title="Asteroids", version=3, summary="Shoot rocks to pieces, and keep out of their way.",
    actions=("NOOP", "FIRE", "UP", "RIGHT", "LEFT", "DOWN", "UPRIGHT", "UPLEFT", "UPFIRE", "RIGHTFIRE", "LEFTFIRE", "DOWNFIRE",
             "UPRIGHTFIRE", "UPLEFTFIRE"),
    feature_shape=lambda options: (FEATURES + UFO_FEATURES * (options["ufos"] > 0),), feature_low=-8, feature_high=8,
    frame_skip=4,
    options={"lives": Option(4, 1, MOST_LIVES, "lives at first"),
             "scatter": Option(1, 0, 1, "0: the random numbers begin as on the cartridge"),
             "ufos": Option(0, 0, 1, "UFOs: 0 none, 1 as in ALE's difficulty 3; 12 features more"),
             "still_rocks": Option(0, 0, 1, "1: rocks do not move"),
             "no_drag": Option(0, 0, 1, "1: without UP the ship keeps its speed"),
             "whole_rocks": Option(0, 0, 1, "1: a rock that is hit is gone, whatever its size")},
    features=(
        Feature("ship x", -2, 2, help="(x - 80) / 46 pixels"),
        Feature("ship y", -2, 2, help="(line - 44) / 26 lines of two pixels"),
        Feature("ship direction", -1, 1, count=2, help="unit vector ahead of the ship: to the right, down"),
        Feature("ship speed x", -4, 4, help="pixels a turn of 2 frames, positive to the right"),
        Feature("ship speed y", -8, 8, help="pixels a turn (a line is 2 pixels), positive down"),
        Feature("ship away", 0, 1, help="1 while the ship explodes or is not on the field"),
        Feature("time to return", 0, 1, help="turns until the ship comes back / 63"),
        Feature("explosion left", 0, 1, help="turns left of the explosion / 6"),
        Feature("FIRE held", 0, 1, help="1 if FIRE was held in the last turn"),
        Feature("DOWN held", 0, 1, help="1 if DOWN was held in the last turn: a second turn starts hyperspace"),
        Feature("lives", -1, 1.25, help="(lives - 4) / 4"),
        Feature("number of rocks", -1, 3, help="(rocks - 4) / 4"),
        Feature("shots", -3, 3, count=2 * SHOT_FEATURES, help="6 values for each of 2 shots, from 13 and from 19 on, all 0 if "
                "it does not fly. 1; x from the ship / 40 pixels; y from the ship / 22 lines; speed to the right and speed "
                "down, / 4 pixels or lines a turn; time left / 32 frames"),
        Feature("rocks", -3, 3, count=NEAREST * ROCK_FEATURES, help="9 values for each of the 8 nearest rocks, the nearest "
                "from 25 on, the next from 34 on, ...; all 0 if there are fewer. 1; x from the ship / 40 pixels; y from the "
                "ship / 44 pixels; cosine and sine of the angle from the ship's direction to the rock, positive to the right; "
                "nearness, 24 / (distance in pixels + 12); drift, 1 to the right and -1 to the left; 1 if it sinks and -1 if "
                "it climbs; size, 1 large, 0 medium, -0.5 small"),
    ),
    compared_with="The cartridge under ale-py, frame by frame, from its own start: ship, shots, rocks, hits, points, random "
                  "numbers and pictures.",
).bind(chunk, backdrop, draw, sizeof(Asteroids), has_mask=False, valid=valid, lives=lives, prepare=prepare)
