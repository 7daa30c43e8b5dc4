"""UFOs of Asteroids: when they come, how they fly and shoot."""

from libc.stdint cimport uint8_t

from envs_c.games.asteroids.rules cimport (
    ALL_SMALL, BURST, BURST_END, NO_UFO, NO_UFOS, SOME_SMALL, UFO_DOWN, UFO_LEFT, UFO_LIFE, UFO_LINES, UFO_SHOT, UFO_UP, UFO_X,
    Asteroids, draw, drifted, ship_x)


cdef inline void send_ufo(Asteroids* game) noexcept nogil:
    cdef int bits = draw(game), line = bits >> 1 & 127
    game.ufo_x = UFO_X
    game.ufo_y = <uint8_t>(line if line < UFO_LINES else line - UFO_LINES + 1)
    game.ufo_course = (bits & UFO_LEFT) | (bits >> 1 & (UFO_UP | UFO_DOWN))
    game.ufo_small = game.score >= ALL_SMALL or (game.score >= SOME_SMALL and not draw(game) & 1)


cdef inline void move_ufo(Asteroids* game) noexcept nogil:
    cdef int climb = game.ufo_course & (UFO_UP | UFO_DOWN)
    game.ufo_x = drifted(game.ufo_x, game.ufo_course & UFO_LEFT)
    if game.ufo_x == UFO_X:
        game.ufo_y = NO_UFO
        game.ufo_timer = 0
    elif climb == UFO_UP:
        game.ufo_y -= 1
        if game.ufo_y == 0:
            game.ufo_course ^= UFO_UP | UFO_DOWN
    elif climb == UFO_DOWN:
        game.ufo_y += 1
        if game.ufo_y == UFO_LINES - 1:
            game.ufo_course ^= UFO_UP | UFO_DOWN


cdef inline void fire_at_ship(Asteroids* game) noexcept nogil:
    """Shoot in a random direction; a small UFO chooses one of the four of the quarter in which the ship is."""
    cdef int way = draw(game) & 15, line = NO_UFO if game.hidden else <uint8_t>(game.y >> 8)
    cdef bint up = game.ufo_y > line
    if game.ufo_small:
        way = (way & 3) | ((0 if up else 4) if game.ufo_x > ship_x(game) else 12 if up else 8)
    game.shot_x[UFO_SHOT] = game.ufo_x
    game.shot_y[UFO_SHOT] = <uint8_t>(game.ufo_y + 3)
    game.shot_way[UFO_SHOT] = <uint8_t>way
    game.shot_life[UFO_SHOT] = UFO_LIFE[way]


cdef inline void fly_ufo(Asteroids* game, bint there) noexcept nogil:
    """The UFO in an odd frame. there: the ship was there in the frame before."""
    if game.ufo_y != NO_UFO:
        move_ufo(game)
        if game.ufo_y != NO_UFO and game.shot_life[UFO_SHOT] == 0:
            fire_at_ship(game)
    elif there and game.frame >= NO_UFOS:
        game.ufo_timer -= 1
        if game.ufo_timer == 0:
            send_ufo(game)


cdef inline void burst(Asteroids* game) noexcept nogil:
    """A turn of the UFO's explosion."""
    game.ufo_timer += BURST
    if game.ufo_timer == BURST_END:
        game.ufo_timer = game.ufo_burst = 0
        game.ufo_y = NO_UFO
