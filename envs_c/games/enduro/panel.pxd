"""How Enduro's panel is painted: the distance driven, the day, and the cars left to pass or flags."""

from libc.stdint cimport uint32_t

from envs_c.games.enduro.state cimport DAY, ROUND, Race
from envs_c.games.enduro.tables cimport (
    BLACK, DIGIT, DRUM, DRUM_X, DRUM_Y, FLAG, GREEN, PLACES, PLACE_X, PLACE_Y, RED, SAND, SIGN, STAMPS, STAMP_ROWS, TROPHY,
    TROPHY_FROM)
from envs_c.stamp cimport Sheet, add_stamp, cell_at, put, put_row

cdef enum:
    LATE = 2048, FLASH = 32     # the day's last frames, in which the sign flashes: bit of the frame's number


cdef inline void put_panel(Sheet* sheet, bint done, int wave) noexcept nogil:
    """Paint the panel's boxes without digits.

    done: no car is left to pass; paint flags.
    wave: 0 or 1, the state of the flags.
    """
    cdef uint32_t box = GREEN if done else SAND
    cdef int k, row
    put(sheet, 56, 164, 40, 9, RED, SAND)
    put(sheet, 96, 164, 8, 9, RED, BLACK)
    put(sheet, 56, 179, 8, 9, RED, box)
    put(sheet, 72, 179, 32, 9, RED, BLACK if done else SAND)
    for row in range(7):
        if not done:
            put_row(sheet, 72, 180 + row, SIGN[row], SAND, BLACK)
    if done:
        for row in range(8):
            for k in range(4):
                put_row(sheet, 72 + 8 * k, 180 + row, FLAG[wave][row], BLACK, GREEN)


cdef inline void put_digit(Sheet* sheet, int place, int digit, uint32_t under) noexcept nogil:
    cdef int row
    for row in range(7):
        put_row(sheet, PLACE_X[place], PLACE_Y[place] + row, DIGIT[digit][row], under, BLACK)


cdef inline void put_roll(Sheet* sheet, int x, int digit, int part, uint32_t under, uint32_t colour) noexcept nogil:
    """Paint a digit of the distance that has rolled down by `part` of 8 rows; the next digit comes from above."""
    cdef int row, place
    for row in range(9):
        place = row + 7 - part
        if place & 7 < 7:
            put_row(sheet, x, DRUM_Y + row, DIGIT[digit if place >= 8 else (digit + 1) % 10][place & 7], under, colour)


cdef inline void put_drum(Sheet* sheet, int eighths) noexcept nogil:
    """Paint the last digit of the distance."""
    put_roll(sheet, DRUM_X, eighths >> 3, eighths & 7, BLACK, SAND)


cdef inline void put_second_digit(Sheet* sheet, int digit, uint32_t box) noexcept nogil:
    """Paint the day's last digit beside the first one."""
    cdef int row
    put(sheet, 64, 179, 8, 9, RED, box)
    for row in range(7):
        put_row(sheet, 64, 180 + row, DIGIT[digit][row], box, BLACK)


cdef inline void put_other_sign(Sheet* sheet, bint trophy) noexcept nogil:
    """Take out the sign of a car, and paint a trophy in its place or nothing."""
    cdef int row
    for row in range(7):
        put_row(sheet, 72, 180 + row, SIGN[row], BLACK, SAND)
    for row in range(8 if trophy else 0):
        put_row(sheet, 72, 179 + row, TROPHY[row], SAND, BLACK)


cdef inline void draw_numbers(const Race* race, Sheet* sheet) noexcept nogil:
    """Paint the distance, the day and the cars to pass. A digit of the distance rolls if all that follow are 9.

    The cars have no leading zeros. The sign before them flashes in the day's last LATE frames.
    """
    cdef int way = (race.odometer >> 8) % 10000, left = race.left, part = race.odometer >> 5 & 7, k
    cdef int day = race.day if race.day < ROUND else race.day % ROUND
    cdef int[PLACES] digits = [0, way // 1000, way // 100 % 10, way // 10 % 10, day if day < 10 else day // 10,
                               left // 100 % 10, left // 10 % 10, left % 10]
    cdef int rolls = 3 if way % 10 < 9 else 2 if way % 100 < 99 else 1 if way % 1000 < 999 else 0 if way < 9999 else -1
    cdef bint off = race.frame >= DAY - LATE and race.frame & FLASH
    if day >= 10:
        put_second_digit(sheet, day % 10, SAND if left > 0 else GREEN)
    if left > 0 and (day >= TROPHY_FROM or off):
        put_other_sign(sheet, not off)
    for k in range(PLACES if left > 0 else 5):
        if (k == 4 and day == 0) or (k == 5 and left < 100) or (k == 6 and left < 10):  # the cartridge shows none
            continue
        if k < 4 and k > rolls and part:
            put_roll(sheet, PLACE_X[k], digits[k], part, SAND, BLACK)
        elif sheet.canvas != NULL or (k == 4 and left == 0):
            put_digit(sheet, k, digits[k], SAND if left > 0 or k < 4 else GREEN)
        else:
            add_stamp(sheet.sums + cell_at(PLACE_X[k], PLACE_Y[k]), &STAMPS[k][digits[k]][0][0], 3)
    if sheet.canvas != NULL:
        put_drum(sheet, 8 * (way % 10) + part)
    else:
        add_stamp(sheet.sums + cell_at(DRUM_X, DRUM_Y), &DRUM[8 * (way % 10) + part][0][0], STAMP_ROWS)
