"""Collisions in Seaquest and their effects. The rules are in prose in seaquest.pyx.

The console notes which figures share a pixel while it shows a frame, and the game reads the notes in the next frame.
"""

from libc.stdint cimport uint8_t, uint32_t
from libc.string cimport memset

from envs_c.games.seaquest.lanes cimport BRINGS_DIVER, FROM_LEFT, FROM_RIGHT, send_sharks
from envs_c.games.seaquest.rules cimport (
    COPIES, CREW, DIES, GAP, LANES, LANE_ROWS, LANE_Y, NOBODY, PITCH, PLAYS, SAVED, SHARK_ROWS, SHIP, SHIP_ROWS, SHIP_Y,
    SHOT_ROW, SHOT_ROWS, SHOT_X, SPRITE, SUB_ROW, SWIMMER_ROWS, TORPEDO_ROW, Seaquest, begin_death, bob, enemy_points, lane_y,
    patrol_rows, patrol_y, score, screw)
from envs_c.games.seaquest.shapes cimport MIRROR, SHARK, SHOT, SUBMARINE, SWIMMER, TORPEDO_BITS, hull
from envs_c.stamp cimport WIDTH, doubled


cdef enum:
    HIT_FROM = 8, HIT_TO = 152      # x of torpedoes that hit
    PUSH_FROM = 8, PUSH_TO = 150    # x of divers that flee from a shark
    BOTH_RIGHT = 3                  # bits of the middle and the right place of a wave
    NO_LANE = -1

ctypedef struct Thing:
    # A figure of eight columns.
    const uint8_t* bits
    int x, y, rows
    bint mirrored

ctypedef struct Contacts:
    # What touched in the frame that was shown last: lanes or NO_LANE.
    int hit         # torpedo and enemy
    int run         # submarine and enemy
    int met         # submarine and the lane's diver or shot
    bint patrol     # submarine and patrol
    int pushed      # shark and diver: a bit for each lane


cdef inline uint32_t row_of(const Thing* thing, int y) noexcept nogil:
    """The eight bits of a figure in a row of the screen."""
    cdef int row = y - thing.y
    if row < 0 or row >= thing.rows:
        return 0
    return MIRROR[thing.bits[row]] if thing.mirrored else thing.bits[row]


cdef inline bint share_pixel(const Thing* one, const Thing* other) noexcept nogil:
    """True if two figures share a pixel."""
    cdef int away = other.x - one.x, y
    if not -SPRITE < away < SPRITE:
        return False
    for y in range(max(one.y, other.y), min(one.y + one.rows, other.y + other.rows)):
        if row_of(one, y) << SPRITE & row_of(other, y) << (SPRITE - away):
            return True
    return False


cdef inline bint meets_ship(const Seaquest* game, const Thing* thing) noexcept nogil:
    """True if a figure shares a pixel with the submarine."""
    cdef int away = thing.x - game.x_ship, top = game.y + SHIP_Y, y
    cdef const uint8_t* rows = hull(game)
    cdef uint32_t bits
    if not -SPRITE < away < SHIP:
        return False
    for y in range(max(top, thing.y), min(top + SHIP_ROWS, thing.y + thing.rows)):
        bits = rows[y - top]
        if doubled(bits if game.facing else MIRROR[bits]) << SPRITE & row_of(thing, y) << (SHIP - away):
            return True
    return False


cdef inline void set_enemy(Thing* thing, const Seaquest* game, int lane) noexcept nogil:
    """The lane's enemies, without their x."""
    thing.mirrored = not game.right[lane]
    if game.sub[lane]:
        thing.bits = &SUBMARINE[screw(game)][0]
        thing.rows, thing.y = SHIP_ROWS, lane_y(lane) + SUB_ROW
    else:
        thing.bits = &SHARK[game.pose[lane] > 0][0]
        thing.rows, thing.y = SHARK_ROWS, lane_y(lane) + bob(game)


cdef inline bint set_copy(Thing* thing, const Seaquest* game, int lane, int copy) noexcept nogil:
    """The x of a copy; returns whether it is on the screen."""
    thing.x = game.x[lane] + GAP * copy
    return (game.alive[lane] & (4 >> copy)) != 0 and 0 <= thing.x < WIDTH


cdef inline void set_guest(Thing* thing, const Seaquest* game, int lane) noexcept nogil:
    """The lane's diver or shot."""
    if game.sub[lane]:
        thing.bits = SHOT
        thing.rows, thing.mirrored = SHOT_ROWS, False
        thing.x, thing.y = game.guest[lane] + SHOT_X, lane_y(lane) + SHOT_ROW
    else:
        thing.bits = &SWIMMER[game.pose[lane]][0]
        thing.rows, thing.mirrored = SWIMMER_ROWS, not game.right[lane]
        thing.x, thing.y = game.guest[lane], lane_y(lane)


cdef inline int lane_at(int top, int rows) noexcept nogil:
    """The only lane that these rows of the screen can meet, or NO_LANE."""
    cdef int lane = max((LANE_Y + PITCH - top - rows) // PITCH, 0)
    return lane if lane < LANES and top < lane_y(lane) + LANE_ROWS else NO_LANE


cdef inline bint near(const Seaquest* game, int lane, int x, int width) noexcept nogil:
    """True if a place of the lane's wave can share a column with x .. x + width - 1."""
    return <uint32_t>(x - game.x[lane] + width - 1) < <uint32_t>(width - 1 + SPRITE + GAP * (COPIES - 1))


cdef inline bint pushes(const Seaquest* game, int lane) noexcept nogil:
    """True if a shark touches the lane's diver. Both must be there."""
    cdef Thing shark, diver
    cdef int copy
    set_enemy(&shark, game, lane)
    set_guest(&diver, game, lane)
    for copy in range(COPIES):
        if set_copy(&shark, game, lane, copy) and share_pixel(&diver, &shark):
            return True
    return False


cdef inline void meet_lane(const Seaquest* game, Contacts* found) noexcept nogil:
    """Find what touches the submarine in its lane, and what the torpedo hits. OUT found."""
    cdef Thing thing, torpedo
    cdef int lane = lane_at(game.y + SHIP_Y, SHIP_ROWS), copy
    if lane != NO_LANE and game.guest[lane] > 0 and -SPRITE - SHOT_X < game.guest[lane] - game.x_ship < SHIP:
        set_guest(&thing, game, lane)
        if meets_ship(game, &thing):
            found.met = lane
    if lane != NO_LANE and game.alive[lane] and near(game, lane, game.x_ship, SHIP):
        set_enemy(&thing, game, lane)
        for copy in range(COPIES):
            if set_copy(&thing, game, lane, copy) and meets_ship(game, &thing):
                found.run = lane
    if game.phase != PLAYS or not HIT_FROM <= game.torpedo <= HIT_TO:
        return
    lane = lane_at(game.y + TORPEDO_ROW, 1)
    if lane != NO_LANE and game.alive[lane] and near(game, lane, game.torpedo, SPRITE):
        torpedo.bits = TORPEDO_BITS
        torpedo.rows, torpedo.mirrored = 1, False
        torpedo.x, torpedo.y = game.torpedo, game.y + TORPEDO_ROW
        set_enemy(&thing, game, lane)
        for copy in range(COPIES):
            if set_copy(&thing, game, lane, copy) and share_pixel(&torpedo, &thing):
                found.hit = lane


cdef inline void find_contacts(const Seaquest* game, Contacts* found) noexcept nogil:
    """Find what touched in the frame that was shown last. OUT found."""
    cdef Thing thing
    cdef int lane, beside, met = 0
    found.hit = found.run = found.met = NO_LANE
    found.patrol = False
    found.pushed = 0
    if 0 < game.patrol < WIDTH:
        thing.bits = &SUBMARINE[screw(game)][0]
        thing.rows, thing.mirrored = patrol_rows(game), True
        thing.x, thing.y = game.patrol, patrol_y(game)
        found.patrol = meets_ship(game, &thing)
    if game.phase != PLAYS and game.phase != DIES:
        return
    meet_lane(game, found)
    for lane in range(LANES):  # without jumps; a chased diver flees already
        beside = (game.sub[lane] == 0) & (game.guest[lane] >= PUSH_FROM) & (game.guest[lane] <= PUSH_TO)
        beside &= near(game, lane, game.guest[lane], SPRITE)
        beside &= (game.chased[lane] == 0) | (lane == found.hit)
        met |= beside << lane
    for lane in range(LANES if met else 0):
        if met >> lane & 1 and pushes(game, lane):
            found.pushed |= 1 << lane


cdef inline int copies_at(const Seaquest* game, int lane, int x, int width) noexcept nogil:
    """The bits of the places of a wave that share a column with x .. x + width - 1."""
    cdef int bits = 0, copy
    for copy in range(COPIES):
        bits |= (4 >> copy) * (-SPRITE < game.x[lane] + GAP * copy - x < width)
    return bits


cdef inline float lose_copies(Seaquest* game, int lane, int bits, int chance) noexcept nogil:
    """Remove these enemies; after the last shark comes the next wave. Returns the points, which are those of one enemy."""
    game.alive[lane] &= ~bits
    if game.alive[lane] == 0 and not game.sub[lane]:
        send_sharks(game, lane, chance, BRINGS_DIVER)
    return score(game, enemy_points(game))


cdef inline void take_diver(Seaquest* game, int lane) noexcept nogil:
    """Take the lane's diver on board. When those of all lanes were taken, new ones may come."""
    game.guest[lane] = game.chased[lane] = 0
    game.diver[lane] = SAVED
    game.crew += 1
    if game.diver[0] == game.diver[1] == game.diver[2] == game.diver[3] == SAVED:
        memset(game.diver, NOBODY, sizeof(game.diver))


cdef inline float collide(Seaquest* game, const Contacts* found, int chance) noexcept nogil:
    """The effects of the last frame's contacts, except for the patrol's; returns the points.

    A shot that hits the submarine comes first: enemies that are hit or run into stay in this frame.
    """
    cdef float points = 0.0
    cdef bint dead = found.run != NO_LANE
    if found.met != NO_LANE and game.sub[found.met]:
        game.guest[found.met] = game.torpedo = 0
        begin_death(game)
        return 0.0
    if found.hit != NO_LANE:
        points = lose_copies(game, found.hit, copies_at(game, found.hit, game.torpedo, SPRITE), chance)
        game.torpedo = game.chased[found.hit] = 0
    if found.met != NO_LANE and game.crew < CREW:
        take_diver(game, found.met)
    if dead:
        points += lose_copies(game, found.run, copies_at(game, found.run, game.x_ship, SHIP + 1)
                              if 0 <= game.x[found.run] < WIDTH else BOTH_RIGHT, chance)
        game.torpedo = 0
        begin_death(game)
    return points


cdef inline void chase(Seaquest* game, const Contacts* found) noexcept nogil:
    """Let divers flee from sharks that touched them, unless the next wave has just started."""
    cdef int lane
    for lane in range(LANES if found.pushed else 0):
        if found.pushed >> lane & 1 and game.guest[lane] > 0 and FROM_LEFT < game.x[lane] < FROM_RIGHT:
            game.chased[lane] = 1
