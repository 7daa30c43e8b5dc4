"""How a frame changes a race of Enduro. enduro.pyx states the rules in prose."""

from libc.stdint cimport int8_t, int16_t, uint8_t, uint16_t, uint64_t
from libc.string cimport memcpy, memset

from envs_c.games.enduro.contact cimport hits_car, hits_edge, is_clear
from envs_c.games.enduro.road cimport side_of
from envs_c.games.enduro.state cimport (
    ALL_SLOTS, AT_EDGE, CAR_BITS, COMING, DAY, FASTEST, FIRST_QUOTA, HILLS, HIT, LEFT_BEND, LIT, MOST_LEFT, NO_BEND,
    NO_OVERTAKING, PHASE, QUOTA, REST, RIGHT_BEND, ROUND, SLIDING_RIGHT, SLOTS, SLOWEST, SNOW, SOFT_CARS, STRAIGHT_ROAD,
    WAY, WIDEST, Enduro, Race, clock_of, popcount, put_slots, season_of, slots_of)
from envs_c.rng cimport Rng, rng_below


cdef enum:
    NOOP, FIRE, RIGHT, LEFT, DOWN, DOWNRIGHT, DOWNLEFT, RIGHTFIRE, LEFTFIRE
    SOON = 46                 # speed from which on the motor gains half as much
    EDGE_STEPS = 2            # of eight frames without control at the edge; after a hit there are HIT_STEPS
    HIT_STEPS = 15
    SLIDE = 6                 # pixels in 16 frames without control
    FAST_HILLS = 44           # most pixels in 16 frames that the hills move
    MOST_CARS = 4             # in sight; no other comes while there are so many
    LATE = 4                  # day from which on more cars come in the middle lane
    MIXED = 7                 # day from which on a car may come in another lane than the car directly ahead of it
    LAST_PACE = 29            # day from which on the others are no faster than on the day before
    ROUND_PACE = 58           # by which they are faster a hundred days later
    DARK = 7167               # frame of the first day from which on more cars come: the last one before the night
    FASTER = 128              # by more than which the others are so fast that they seem to come nearer

cdef extern from *:
    """
    // In which order the 16 frames get the steps of something that moves fewer than 16 times in them: 15 is the first.
    static const unsigned char ORDER[16] = {15, 0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7};
    // By action: the way of the road that the wheel turns (1 to the right), motor, brake.
    static const signed char WHEEL[9] = {0, 0, -1, 1, 0, -1, 1, -1, 1};
    static const unsigned char MOTOR[9] = {0, 1, 0, 0, 0, 0, 0, 1, 1}, BRAKE[9] = {0, 0, 0, 0, 1, 1, 1, 0, 0};
    // Pixels in 16 frames that the wheel moves the road, without snow and in it, by speed / 4.
    static const unsigned char TURNS[2][31] = {
        {4, 4, 4, 4, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 22, 22, 22, 22, 22, 22, 22, 22},
        {4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 11, 11, 11, 11, 11, 11, 11}};
    // The others' speed by day; from the last of these days on it stays.
    static const unsigned char TRAFFIC[30] = {17, 24, 31, 38, 41, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53,
                                              54, 55, 56, 57, 58, 59, 60, 61, 62, 63, 64, 65, 66, 67, 68};
    #define EACH 0x0101010101010101ULL
    // Colour and lane of a car by its number, as in `slot`.
    static const unsigned char LOOK[256] = {
        0xB7, 0x16, 0x97, 0x36, 0x96, 0x17, 0x97, 0x16, 0xB7, 0xF6, 0xF6, 0x16, 0x97, 0x17, 0xB6, 0xD6,
        0x36, 0x17, 0xB7, 0xF7, 0xF7, 0x97, 0xF6, 0x96, 0x56, 0x96, 0x16, 0xD6, 0xD6, 0x96, 0x16, 0xD7,
        0xB7, 0xD7, 0x97, 0xB6, 0xB7, 0x36, 0x97, 0xB6, 0xB6, 0x96, 0xB7, 0xF6, 0xB6, 0x16, 0x97, 0x16,
        0x97, 0x36, 0x96, 0x16, 0x96, 0x17, 0x96, 0x17, 0x37, 0x17, 0xB6, 0xD6, 0x96, 0xD6, 0xF7, 0x97,
        0x16, 0xB7, 0xF6, 0x97, 0x36, 0x97, 0x16, 0x97, 0x36, 0xB6, 0x16, 0x96, 0x16, 0xB7, 0x17, 0x97,
        0x16, 0xB6, 0x16, 0xF6, 0xB7, 0xD6, 0x97, 0x17, 0x16, 0x97, 0x16, 0x96, 0x16, 0x96, 0x16, 0x97,
        0x37, 0x97, 0x36, 0x96, 0x17, 0x96, 0x17, 0xB6, 0x76, 0x56, 0x16, 0xF7, 0xB7, 0x16, 0xB6, 0x97,
        0x16, 0x96, 0x96, 0xB7, 0xF6, 0xD6, 0xF6, 0xD6, 0xB6, 0xF7, 0x96, 0xB6, 0xF6, 0x96, 0xB7, 0x96,
        0xB7, 0xB7, 0xF6, 0x97, 0xF7, 0x56, 0x97, 0xB6, 0x97, 0x96, 0xB7, 0x36, 0x97, 0xB6, 0xB7, 0x97,
        0x36, 0xB7, 0x96, 0x36, 0x57, 0x97, 0xB6, 0x96, 0x97, 0x96, 0x96, 0x97, 0xB7, 0x17, 0x97, 0x37,
        0x16, 0x16, 0xB7, 0x16, 0x97, 0x96, 0xB6, 0x97, 0x36, 0xB6, 0x16, 0x36, 0xB6, 0x97, 0xD6, 0x36,
        0x36, 0x16, 0x56, 0x16, 0xB6, 0x56, 0xD6, 0xB6, 0xD6, 0x16, 0x36, 0x16, 0x56, 0x16, 0xF6, 0xB6,
        0xB6, 0x56, 0x36, 0xB7, 0x76, 0x16, 0x36, 0x96, 0x16, 0x16, 0xD6, 0xD6, 0xB7, 0x96, 0x56, 0x97,
        0x96, 0x56, 0x77, 0x96, 0x97, 0x96, 0x96, 0xB7, 0xB7, 0x96, 0x16, 0x17, 0xF6, 0x37, 0x96, 0x16,
        0x57, 0xF7, 0xF6, 0x16, 0xB7, 0x16, 0x97, 0x97, 0xB7, 0x96, 0x16, 0x56, 0xB6, 0x17, 0xB6, 0x16,
        0x96, 0x97, 0x96, 0xB6, 0x96, 0x96, 0xB7, 0x16, 0x97, 0x96, 0xD6, 0x16, 0xF7, 0x96, 0xB7, 0xF6};
    """
    const uint8_t[16] ORDER
    const uint8_t[2][31] TURNS
    const int8_t[9] WHEEL
    const uint8_t[9] MOTOR, BRAKE
    const uint8_t[30] TRAFFIC
    const uint8_t[256] LOOK
    const uint64_t EACH


cdef inline int steps(int pixels, int clock) noexcept nogil:
    """Pixels to move in this frame, of so many in 16 frames."""
    return (pixels + ORDER[clock & 15]) >> 4


cdef inline int counted_day(const Race* race) noexcept nogil:
    """The day as the cartridge counts it: 0 after 99."""
    return race.day if race.day < ROUND else race.day % ROUND


cdef inline int more_left(const Race* race) noexcept nogil:
    """By how many more cars are left if one comes from behind. The hundreds of the day's number are reached only once.

    As on the cartridge, day 100 asks for 300 cars, but its hundreds are those of the first day.
    """
    cdef int hundreds = race.left // 100, limit = (FIRST_QUOTA if counted_day(race) < 2 else QUOTA) // 100
    if hundreds == limit or race.left == 0 or race.left > MOST_LEFT - 2:
        return 0
    return 1 + (hundreds > limit)


cdef inline void collide(Race* race) noexcept nogil:
    """Touching a car or the road's edge, in the picture that the screen shows."""
    cdef int sliding
    if is_clear(race):
        return
    sliding = SLIDING_RIGHT if race.x < 0 else 0
    if not race.changes & SOFT_CARS and hits_car(race):
        race.crash = <uint8_t>(HIT | sliding | HIT_STEPS)
        race.speed = SLOWEST
    elif hits_edge(race):
        race.x = <int8_t>(race.x + (1 if race.x < 0 else -1))
        if not race.crash & AT_EDGE:
            race.crash = <uint8_t>(AT_EDGE | sliding | EDGE_STEPS)
            race.speed = <int16_t>max((race.speed >> 1) + (race.speed >> 2) + (race.speed >> 1 & 1), SLOWEST)


cdef inline void steer(Race* race, int action, int season) noexcept nogil:
    """Motor, brake, wheel and the bend's pull, or the slide of a crash; hills move against a bend.

    What differs from one environment to the next is computed without jumps, which no CPU could predict.
    """
    cdef int clock = clock_of(race), side = side_of(race.bend >> 6), gain, turn, hills, pixels, slides, speed
    slides = -(race.crash != 0)
    gain = -BRAKE[action]
    if clock & 7 == 1:
        gain += MOTOR[action] << (race.speed < SOON)
    speed = max(SLOWEST, min(race.speed + (gain & ~slides), FASTEST))
    race.speed = <int16_t>speed
    pixels = TURNS[season == SNOW][speed >> 2] & ~slides | SLIDE & slides
    turn = WHEEL[action] & ~slides | (((race.crash & SLIDING_RIGHT) >> 3) - 1) & slides
    turn = turn * steps(pixels, clock)
    # The bend that was there last pulls until the new one has come.
    hills = race.hills + turn - side * steps(min(speed >> 1, FAST_HILLS), clock)
    turn += side * steps(pixels >> 2, clock)
    race.x = <int8_t>max(-WIDEST, min(race.x + turn, WIDEST))
    race.hills = <uint8_t>(hills + HILLS if hills < 0 else hills - HILLS if hills >= HILLS else hills)


cdef inline void come_bend(Race* race) noexcept nogil:
    """A new slot of the own car's way: a bend comes nearer, or the next one is chosen."""
    cdef int to
    race.marks = <uint8_t>(race.marks - 1)
    if race.bend & 15:
        race.bend -= 1
        if race.bend & 15 == 0:
            race.bend = <uint8_t>((race.bend & 48) * 5)
    elif race.rolls > 0:
        race.rolls -= 1
    else:
        to = NO_BEND if not race.random[0] & 16 else RIGHT_BEND if race.random[0] & 32 else LEFT_BEND
        race.rolls = race.random[1] >> ((counted_day(race) > 2) + (to == NO_BEND))
        if race.changes & STRAIGHT_ROAD:
            to = NO_BEND
        if to != race.bend >> 6:
            race.bend = <uint8_t>((race.bend & 192) | to << 4 | COMING)


cdef inline void dim(Race* race, int lit) noexcept nogil:
    """In the dark all cars that are seen, those of the first `lit` slots, get the colour of tail lights, and keep it."""
    cdef uint64_t slots = slots_of(race), cars = (slots >> 1 & (EACH >> 8 * (8 - lit))) * 255
    cdef uint64_t dark = slots & ~cars | cars & (0x46 * EACH | slots & 17 * EACH)
    if dark != slots:
        put_slots(race, dark)


cdef inline void come_nearer(Race* race, bint comes, int cars, float* reward) noexcept nogil:
    """Pass the nearest car, and bring a new slot into sight."""
    cdef uint64_t slots = slots_of(race), changes = slots & ~ALL_SLOTS
    cdef int look = LOOK[(race.serial - cars) & 255], next_look
    if slots & 255:
        race.serial -= 1
        if race.left > 0:
            race.left -= 1
            reward[0] = 1.0
            if race.left == 0:
                race.rest = REST
    slots = (slots & ALL_SLOTS) >> 8
    if comes:
        next_look = slots >> 8 * (SLOTS - 2)
        if look >= 128 and race.random[1] & (1 if counted_day(race) >= LATE else 3) == 0:
            look -= 16
        if next_look and counted_day(race) < MIXED:
            look = look & 254 | next_look & 1
        slots |= <uint64_t>look << 8 * (SLOTS - 1)
    put_slots(race, slots | changes)


cdef inline void go_ahead(Race* race, bint comes, float* reward) noexcept nogil:
    """Lose sight of the farthest slot; a car from behind may come on the other side of the road."""
    cdef uint64_t slots = slots_of(race), changes = slots & ~ALL_SLOTS
    cdef int more
    comes = comes and not slots & 255 and not race.changes & NO_OVERTAKING
    slots = slots << 8 & ALL_SLOTS
    if comes:
        race.serial += 1
        slots |= LOOK[race.serial] & 254 | (race.x >= 0)
        more = more_left(race)
        race.left += more
        reward[0] = -more
    put_slots(race, slots | changes)


cdef inline int traffic_of(const Race* race) noexcept nogil:
    """Speed of all other cars."""
    return TRAFFIC[min(counted_day(race), LAST_PACE)] + (ROUND_PACE * (race.day // ROUND) if race.day >= ROUND else 0) & 255


cdef inline void drive(Race* race, int pace, bint dark, float* reward) noexcept nogil:
    """Move the own car and all others.

    pace: speed of the others.
    dark: as many cars come as at night.
    """
    cdef bint comes, new = race.travelled < race.speed
    cdef int phase = race.phase, cars
    race.travelled = <uint8_t>(race.travelled - race.speed)
    race.odometer += (race.speed + 1) >> 1
    if race.odometer >= WAY:
        race.odometer -= WAY
    if new:
        come_bend(race)
    else:
        phase += pace - race.speed - (PHASE if pace - race.speed > FASTER else 0)
    race.phase = <uint8_t>phase
    if 0 <= phase < PHASE:
        return
    cars = popcount(slots_of(race) & CAR_BITS & ALL_SLOTS)
    comes = cars < MOST_CARS and (race.random[1] < 128 if dark else race.random[1] >> 6 == 1)
    if phase < 0:
        come_nearer(race, comes, cars, reward)
    else:
        go_ahead(race, comes, reward)


cdef inline float play_frame(Enduro* game, int action, bint* over) noexcept nogil:
    cdef Race* race = &game.now
    cdef float reward = 0.0
    cdef int old = race.random[0], last_but_one = race.random[1], season = season_of(race), lit
    cdef uint16_t pair = <uint16_t>(old << 8 | ((old << 1 | last_but_one >> 7) ^ last_but_one) & 255)
    cdef bint dark = race.day > 1 or race.frame >= DARK
    cdef bint last = race.frame == DAY - 1 and race.left > 0
    game.shown = race[0]
    memcpy(race.random, &pair, sizeof(pair))
    if race.frame == DAY - 1 and race.left == 0:
        race.day = <int16_t>min(race.day + 1, 9999)
        race.left = QUOTA
    if race.rest:
        race.rest -= clock_of(race) & 1
    collide(race)
    if race.crash and clock_of(race) & 7 == 0:
        race.crash = race.crash - 1 if race.crash & 15 else 0
    lit = LIT[season]
    if lit:
        dim(race, lit)
    if not (race.rest or last):
        steer(race, action, season)
        race.random[0] += (race.crash == 0) & (WHEEL[action] >= 0)
        drive(race, traffic_of(race), dark, &reward)
    race.frame = <int16_t>(race.frame + 1 if race.frame < DAY - 1 else DAY - 1 if last else 0)
    over[0] = last
    return reward


cdef inline void begin(Enduro* game, int speed, bint scatter, int changes, Rng* rng) noexcept nogil:
    """Begin a race; with `scatter` the random numbers begin anywhere, otherwise as on the cartridge."""
    cdef Race* race = &game.now
    memset(game, 0, sizeof(Enduro))
    race.day = 1
    race.left = FIRST_QUOTA
    race.speed = <int16_t>speed
    race.phase = 24
    race.hills = 120
    race.serial = 2
    race.random[0] = <uint8_t>(rng_below(rng, 256) if scatter else 241)
    race.random[1] = <uint8_t>(rng_below(rng, 256) if scatter else 237)
    race.changes = <uint8_t>changes
    game.shown = race[0]
