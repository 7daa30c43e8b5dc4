"""Ship and shots of Asteroids."""

from libc.stdint cimport int16_t, uint8_t

from envs_c.games.asteroids.rules cimport (
    END_Y, FAST, FIRE, HIGH, JUMP, LEFT, LIFE, NONE, NO_DRAG, NO_UFO, ONE, PUSH_X, PUSH_Y, REST, RIGHT, SHOT_X, SHOT_Y, SLOTS,
    START_X, START_Y, TOP_Y, UFOS, UFO_SHOT, UP, Asteroids, far_x, moved, ship_line, ship_x)


cdef inline int slow(int v) noexcept nogil:
    return v - 2 * (v >> 8) - (v > 0)


cdef inline int push(int v, int* slip) noexcept nogil:
    """The speed v within the limit. `slip` is what the ship then moves less along this axis in the turn, in 1/256."""
    slip[0] = 240 if v >= FAST else -240 if v < -FAST else 0
    return v - 256 if v >= FAST else v + 256 if v < -FAST else v


cdef inline void jump(Asteroids* game) noexcept nogil:
    """Leave for hyperspace; x and y are those of the landing."""
    cdef int y = game.numbers >> 9
    game.x = far_x(game.numbers, game.numbers >> 4) * ONE
    game.y = (y if y < 79 else y - 79) * ONE
    game.vx = game.vy = 0
    game.hidden = JUMP
    game.dived = 0


cdef inline void fire(Asteroids* game) noexcept nogil:
    cdef int shot = 0 if game.shot_life[0] == 0 else 1
    if game.shot_life[shot] > 0:
        return
    game.shot_x[shot] = <uint8_t>ship_x(game)
    game.shot_y[shot] = <uint8_t>((ship_line(game) + 3) % HIGH)
    game.shot_way[shot] = game.way
    game.shot_life[shot] = LIFE[game.way]


cdef inline void steer(Asteroids* game, int keys, int* slip_x, int* slip_y) noexcept nogil:
    """Obey the keys. The ship moves later, in `move_ship`: the shots move before it does."""
    slip_x[0] = slip_y[0] = 0
    if game.frame & 3 == 2:
        game.way = (game.way + ((keys & LEFT) > 0) - ((keys & RIGHT) > 0)) & 15
    if keys & UP:
        game.vx = <int16_t>push(game.vx + PUSH_X[game.way], slip_x)
        game.vy = <int16_t>push(game.vy + PUSH_Y[game.way], slip_y)
    elif not game.rules & NO_DRAG:
        game.vx = <int16_t>slow(game.vx)
        game.vy = <int16_t>slow(game.vy)
    if keys & FIRE and not game.fired:
        fire(game)


cdef inline void move_ship(Asteroids* game, int slip_x, int slip_y) noexcept nogil:
    cdef int before = ship_x(game), after
    game.x -= (game.vx >> 4) - slip_x
    after = ship_x(game)
    game.x += (moved(before, after - before) - after) * ONE
    game.y += (game.vy >> 4) - slip_y
    if game.y < TOP_Y * ONE:
        game.y += HIGH * ONE
    elif game.y >= END_Y * ONE:
        game.y -= HIGH * ONE


cdef inline int carried(int v) noexcept nogil:
    """Pixels or lines a turn that a ship of this speed adds to a shot."""
    return v >> 12 if v >= 0 else -(~(v >> 8) >> 4)


cdef inline void shot_speed(const Asteroids* game, int shot, int* dx, int* dy) noexcept nogil:
    """Set dx and dy to the shot's pixels to the right and lines down a turn."""
    cdef int left = SHOT_X[game.shot_way[shot]] + carried(game.vx)
    dx[0] = -left if left >= 0 else 1 - left
    dy[0] = SHOT_Y[game.shot_way[shot]] + carried(game.vy)


cdef inline uint8_t line_of(int y) noexcept nogil:
    """The line of a shot that has come to y. The cartridge counts lines in a byte and leaves 128 to 166, which only a UFO below
    the field can shoot from, as they are."""
    cdef uint8_t line = <uint8_t>y
    return <uint8_t>(line - HIGH if HIGH <= line < 128 else line + HIGH if line >= 256 - HIGH else line)


cdef inline void move_shots(Asteroids* game) noexcept nogil:
    cdef int shot, dx, dy
    for shot in range(3 if game.rules & UFOS else 2):
        if game.shot_life[shot] == 0:
            continue
        game.shot_life[shot] -= game.frame & 3 == 0
        shot_speed(game, shot, &dx, &dy)
        game.shot_x[shot] = <uint8_t>moved(game.shot_x[shot], dx)
        game.shot_y[shot] = line_of(game.shot_y[shot] + dy)


# --- away ------------------------------------------------------------------------------------------------------------

cdef inline bint is_clear(const Asteroids* game) noexcept nogil:
    """Whether there is no UFO, no shot of one, and no rock near the place at which ships begin."""
    cdef int slot, x, y
    if game.ufo_y != NO_UFO or game.shot_life[UFO_SHOT]:
        return False
    for slot in range(SLOTS):
        x = game.rock_x[slot]
        y = game.rock_y[slot]
        if game.kind[slot] != NONE and 8 <= y < 64 and (79 <= x < 94 or (64 <= x < 106 and 24 <= y < 56)):
            return False
    return True


cdef inline void burn(Asteroids* game, bint* over) noexcept nogil:
    """A turn of the explosion."""
    game.blast -= 1
    if game.blast == 0:
        game.lives -= 1
        over[0] = game.lives == 0
        game.hidden = REST
        game.x = START_X * ONE
        game.y = START_Y * ONE
        game.way = 0


cdef inline void come_back(Asteroids* game, bint breaks) noexcept nogil:
    """A frame without a ship: it is in hyperspace, or the next one is waited for. No jump ends at START_X.

    breaks: a rock breaks in this frame; then no ship comes.
    """
    if game.hidden > 1 and not game.frame & 1:
        game.hidden -= 1
    if game.hidden == 1 and not breaks and (game.x != START_X * ONE or is_clear(game)):
        game.hidden = 0
        game.vx = game.vy = 0
