/* The main program that tools/isa/bare.py compiles for other processors, after bare.h.
 *
 * PROGRAM SEED PIXELS STEPS: reads STEPS times BARE_COUNT int32 actions from standard input, and writes all outputs to standard
 * output: of the reset and of each step, in the order in which play_core of tests/support/support.py hashes them. Then the
 * coloured pictures of all environments. Numbers have the processor's byte order, which must be little-endian.
 */

#include <stdio.h>
#include <stdlib.h>
#ifdef _WIN32
#include <fcntl.h>
#include <io.h>
#endif

static void play_write(void) {
    fwrite(bare.observation, bare_io.observation_bytes, BARE_COUNT, stdout);
    fwrite(bare.reward, sizeof bare.reward, 1, stdout);
    fwrite(bare.terminated, sizeof bare.terminated, 1, stdout);
    fwrite(bare.truncated, sizeof bare.truncated, 1, stdout);
    fwrite(bare.action_mask, bare_actions, BARE_COUNT, stdout);
}

int main(int count, char **arguments) {
    int32_t actions[BARE_COUNT];
    if (count != 4) return 2;
#ifdef _WIN32 /* bytes, without a change of line ends */
    _setmode(_fileno(stdin), _O_BINARY);
    _setmode(_fileno(stdout), _O_BINARY);
#endif
    int steps = atoi(arguments[3]);
    bare_setup(strtoull(arguments[1], NULL, 10), atoi(arguments[2]));
    bare_reset();
    play_write();
    for (int step = 0; step < steps; step++) {
        if (fread(actions, sizeof actions, 1, stdin) != 1) return 3;
        bare_step(actions);
        play_write();
        for (int i = 0; i < BARE_COUNT; i++)
            if (bare.ended[i]) fwrite(&bare.ended_return[i], sizeof(double), 1, stdout);
        for (int i = 0; i < BARE_COUNT; i++)
            if (bare.ended[i]) fwrite(&bare.ended_length[i], sizeof(int32_t), 1, stdout);
    }
    for (int i = 0; i < BARE_COUNT; i++) fwrite(bare_draw(i), sizeof bare_rgb, 1, stdout);
    return fflush(stdout) ? 4 : 0;
}
