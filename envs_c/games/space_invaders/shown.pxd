"""What the picture of a frame of Space Invaders shows: the console draws it before it looks for hits."""

from libc.stdint cimport uint8_t
from libc.string cimport memcpy

from envs_c.games.space_invaders.state cimport (
    BOMBS, BURN, BURN_CLOCK, Invaders, OLD_BLAST, OLD_BOMBS, OLD_INVADER, OLD_SAUCER, OLD_SHIELDS, OLD_SHOT, PLAY, SHIELDS,
    SHIELD_ROWS)


cdef inline void keep_blast(Invaders* game) noexcept nogil:
    """Note the blast before a change of this frame."""
    if not game.late & OLD_BLAST:
        game.late |= OLD_BLAST
        game.old_blast, game.old_blast_row, game.old_blast_column = game.blast, game.blast_row, game.blast_column


cdef inline void keep_shields(Invaders* game) noexcept nogil:
    """Note the shields before the first hit of this frame."""
    if not game.late & OLD_SHIELDS:
        game.late |= OLD_SHIELDS
        memcpy(game.old_shield, game.shield, SHIELDS * SHIELD_ROWS)


cdef inline void keep_shot(Invaders* game) noexcept nogil:
    """Note the shot before it hits something."""
    game.late |= OLD_SHOT
    game.old_shot = <uint8_t>game.shot_y


cdef inline Invaders as_shown(const Invaders* game) noexcept nogil:
    """The game as the picture of this frame shows it: before hits, and before the saucer and the blast changed."""
    cdef Invaders shown = game[0]
    cdef int k
    if game.phase == BURN and game.clock == BURN_CLOCK:  # the cannon has been hit in this frame
        shown.phase = PLAY
    shown.score -= game.points
    if game.late & OLD_INVADER:
        shown.row[game.blast_row] |= 1 << game.blast_column
        shown.count += 1
    if game.late & OLD_BLAST:
        shown.blast, shown.blast_row, shown.blast_column = game.old_blast, game.old_blast_row, game.old_blast_column
    if game.late & OLD_SHOT:
        shown.shot_y = game.old_shot
    if game.late & OLD_SAUCER:
        shown.saucer_x = game.old_saucer
    if game.late & OLD_BOMBS:
        for k in range(BOMBS):
            shown.bomb_y[k] = game.old_bomb[k]
    if game.late & OLD_SHIELDS:
        memcpy(shown.shield, game.old_shield, SHIELDS * SHIELD_ROWS)
    return shown
