"""The console as games of the suite: one `Game` for each cartridge.

Features. The 128 bytes of RAM.

Pictures. The 160x210 pixels that ale-py shows, 250 rows for a PAL cartridge. Grey pictures of 84x84 are those of
`ale_py.AtariVectorEnv` (grey.pxd): after a step of several frames, the brighter pixels of the last two of them; after a reset,
and in steps of one frame, the last frame alone.

Actions, points, lives, ends and starts are ALE's, as games.toml has them.
"""

from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memset

from envs_c.console.facts cimport (
    BCD, BIN, EIGHTH, GLYPH, HI, HI3, HI10, LO, LO10, LOW2, LOW3, ONES, ONES3, SIGNED, is_over,
    lives_left, press, reward, start)
from envs_c.console.frame cimport power_on, run_frame
from envs_c.console.grey cimport Axis, make_axis, shrink_frames
from envs_c.console.palette cimport NTSC, PAL
from envs_c.console.state cimport LOG, Console, Facts, Rom
from envs_c.console.tia cimport Tia
from envs_c.console.tia_rows cimport tia_run
from envs_c.game cimport Game, Head, Io, picture_of, run_chunk, see, state_stride
from envs_c.rng cimport Rng
from envs_c.screen cimport SMALL, Canvas, Screen, canvas_rect, grey_of
from envs_c.valid cimport all_between, between

from envs_c.engine import checks
from envs_c.errors import InvalidArgument
from envs_c.game import Option


cdef enum:
    MOST_CARTRIDGES = 1024
    WIDTH = 160
    MOST_ROWS = 250
    GUARD = 4096          # bytes around the state in `try_rom`


cdef Rom* cartridges[MOST_CARTRIDGES]
cdef Console* loaded[MOST_CARTRIDGES]  # a console after ALE's loadROM
cdef int cartridge_count = 0
cdef uint32_t[2][256] palette              # 0xRRGGBB of NTSC and PAL; PAL's odd numbers are those after an odd frame
cdef float[4][256] greys                   # of NTSC and PAL, and of both after an odd frame
cdef Axis columns
cdef Axis[2] rows                          # of a screen of 210 and of MOST_ROWS rows


cdef inline int place_of(uint64_t key) noexcept nogil:
    """The number of a cartridge; -1 if it was not inserted in this process."""
    cdef int k
    for k in range(cartridge_count):
        if cartridges[k].key == key:
            return k
    return -1


cdef void reset(void* state, const double* options, Rng* rng) noexcept nogil:
    cdef Console* m = <Console*>state
    cdef uint64_t key = <uint64_t>options[0]
    cdef int k = place_of(key), resets = m.resets if m.cartridge == key else 0
    if resets < 2 or resets > 1 << 30:
        memcpy(m, loaded[k], sizeof(Console))
        resets = 2
    else:
        resets += 1
    start(m, cartridges[k], resets, <int>options[2], <int>options[3])
    m.two = 0
    m.full = options[1] != 0


cdef inline void keep_frame(Console* m) noexcept nogil:
    """Keep the last frame's log, for pictures of two frames."""
    m.two = 1
    m.earlier.before, m.earlier.shown, m.earlier.odd, m.earlier.logged = m.before, m.shown, m.odd, m.logged
    memcpy(m.earlier.log, m.log, m.logged * sizeof(uint32_t))


cdef float step(void* state, int action, Rng* rng, bint* over) noexcept nogil:
    cdef Console* m = <Console*>state
    cdef const Rom* rom = cartridges[place_of(m.cartridge)]
    action = action if m.full else rom.facts.actions[action]
    press(m, &rom.facts, 0 if rom.facts.ignored >> action & 1 else action)
    keep_frame(m)
    run_frame(m, rom)
    over[0] = is_over(m, &rom.facts)
    return <float>reward(m, &rom.facts)


cdef void observe(const void* state, void* out) noexcept nogil:
    memcpy(out, (<const Console*>state).ram, 128)


cdef void backdrop(const double* options, Canvas* canvas) noexcept nogil:
    pass


cdef void draw(const void* state, Canvas* canvas) noexcept nogil:
    """The last frame."""
    cdef const Console* m = <const Console*>state
    cdef uint8_t[WIDTH * MOST_ROWS] picture
    paint_frame(&m.before, m.log, m.logged, m.shown, picture)
    if canvas.rgb == NULL:
        shrink(m, picture, NULL, canvas)
    else:
        colour(m, picture, canvas)


cdef void draw_two(const void* state, Canvas* canvas) noexcept nogil:
    """The brighter pixels of the last two frames of the episode, on a grey canvas."""
    cdef const Console* m = <const Console*>state
    cdef uint8_t[WIDTH * MOST_ROWS] picture, other
    paint_frame(&m.before, m.log, m.logged, m.shown, picture)
    if m.two:
        paint_frame(&m.earlier.before, m.earlier.log, m.earlier.logged, m.earlier.shown, other)
    shrink(m, picture, other if m.two else NULL, canvas)


cdef inline void paint_frame(const Tia* before, const uint32_t* log, int logged, int shown, uint8_t* picture) noexcept nogil:
    """The colours of a frame's pixels. picture: (MOST_ROWS, WIDTH), of which the screen's rows are written."""
    cdef Tia tia = before[0]
    memset(picture, 0, WIDTH * tia.height)
    tia_run(&tia, log, logged, shown, picture)


cdef inline void shrink(const Console* m, const uint8_t* picture, const uint8_t* other, Canvas* canvas) noexcept nogil:
    cdef bint pal = m.last_line > 300
    cdef float[MOST_ROWS * SMALL] narrow
    cdef int[MOST_ROWS] kept
    shrink_frames(picture, greys[2 * m.odd + pal], other, greys[2 * m.earlier.odd + pal], m.tia.height, &columns,
                  &rows[m.tia.height == MOST_ROWS], narrow, kept, canvas)


cdef inline void colour(const Console* m, const uint8_t* picture, Canvas* canvas) noexcept nogil:
    """Paint a frame on a canvas in colour."""
    cdef const uint32_t* colours = palette[m.last_line > 300]
    cdef const uint8_t* row
    cdef int y, x, first
    for y in range(m.tia.height):
        row = picture + y * WIDTH
        x = 0
        while x < WIDTH:
            first = x
            while x < WIDTH and row[x] == row[first]:
                x += 1
            canvas_rect(canvas, first, y, x - first, 1, colours[row[first] | m.odd])


cdef int lives(const void* state) noexcept nogil:
    cdef const Console* m = <const Console*>state
    return lives_left(m, &cartridges[place_of(m.cartridge)].facts)


cdef inline bint safe(const Tia* tia, const Facts* facts) noexcept nogil:
    return (tia.top == facts.top and tia.height == facts.height and between(tia.clock, -(1 << 20), 1 << 20)
            and between(tia.hmove, -(1 << 30), 1 << 20) and all_between(tia.position, 5, 0, WIDTH - 1))


cdef bint valid(const void* state, const double* options, bint over) noexcept nogil:
    """Bounds of all that is used as an index, a count or a shift; registers and RAM can hold any bytes."""
    cdef const Console* m = <const Console*>state
    cdef int k = place_of(m.cartridge), i
    if k < 0 or m.cartridge != <uint64_t>options[0]:
        return False
    for i in range(8):
        if m.slice[i] + 1024 > cartridges[k].size or m.slice[i] % 1024 != 0:
            return False
    return (between(m.logged, 0, LOG) and between(m.replayed, 0, m.logged) and between(m.shift, 0, 10)
            and between(m.cpu.cycle, 0, 1 << 16) and between(m.shown, 0, 1 << 20) and between(m.vsync, -(1 << 20), 1 << 20)
            and between(m.timer_set, -(1 << 25), 1 << 16) and between(m.late, -1, 1 << 26)
            and between(m.dumped, -(1 << 30), 1 << 16) and m.last_line == cartridges[k].facts.last_line
            and safe(&m.tia, &cartridges[k].facts) and safe(&m.before, &cartridges[k].facts) and m.odd < 2
            and between(m.earlier.logged, 0, LOG) and between(m.earlier.shown, 0, 1 << 20) and m.earlier.odd < 2
            and (not m.two or safe(&m.earlier.before, &cartridges[k].facts)))


cdef void chunk(char* states, Io* io, int lo, int hi) noexcept nogil:
    cdef bint two = io.frame_skip > 1 or io.frame_skip_span > 1
    run_chunk(reset, step, observe, draw_two if two else draw, NULL, sizeof(Console), states, io, lo, hi)
    if two and io.noop_max > 0 and io.paint == NULL:
        draw_starts(states, io, lo, hi)


cdef void draw_starts(char* states, Io* io, int lo, int hi) noexcept nogil:
    """Observe again where an episode began with frames of NOOP: its first picture shows the last frame alone."""
    cdef size_t stride = state_stride(sizeof(Console))
    cdef const Head* head
    cdef uint8_t* picture
    cdef void* out
    cdef int i
    for i in range(lo, hi):
        head = <const Head*>(states + i * stride)
        out = <char*>io.observation + (i - io.first) * io.observation_bytes
        picture = picture_of(io, False, <uint8_t*>io.observation, io.picture, i - io.first)
        if head.started and head.episode_length == 0 and picture != NULL:
            see(observe, draw, NULL, states + i * stride + sizeof(Head), io, True, out, picture, NULL)


cdef void fill(Facts* f, facts):
    """The facts of a game from a row of games.toml."""
    cdef int k, j, v
    codes = {"bin": BIN, "bcd": BCD, "lo": LO, "hi": HI, "signed": SIGNED, "low3": LOW3, "hi3": HI3, "ones": ONES,
             "lo10": LO10, "hi10": HI10, "eighth": EIGHTH, "glyph": GLYPH, "low2": LOW2, "ones3": ONES3}
    for k, (switches, action, frames, body) in enumerate(facts["steps"]):
        f.steps[k].switches, f.steps[k].action, f.steps[k].frames, f.steps[k].body = switches, action, frames, body
    f.step_count = len(facts["steps"])
    for k, v in enumerate(facts["select"]):
        f.select[k] = v - 128
    f.selects = len(facts["select"])
    for k, (mode, *values) in enumerate(facts["modes"]):
        f.modes[k] = mode
        for v in range(f.selects):
            f.values[k][v] = values[v]
    f.mode_count = len(facts["modes"])
    for k, v in enumerate(facts["actions"]):
        f.actions[k] = v
    f.paddles, f.last_line, f.top, f.height = facts["paddles"], facts["last_line"], facts["top"], facts["height"]
    f.ignored = sum(1 << v for v in facts["ignored"])
    f.no_comb, f.right_port = not facts["comb"], facts["right_port"]
    for k, (address, coding, factor) in enumerate(facts["score"]):
        f.score[k].address, f.score[k].coding, f.score[k].multiplier = address - 128, codes[coding], factor
    f.scores, f.wrap = len(facts["score"]), facts["wrap"]
    for k, (address, coding, factor) in enumerate(facts["lives"]):
        f.lives[k].address, f.lives[k].coding, f.lives[k].multiplier = address - 128, codes[coding], factor
    f.lives_terms, f.lives_more = len(facts["lives"]), facts["lives_more"]
    for k, tests in enumerate(facts["over"]):
        f.ends[k].count = len(tests)
        for j, (address, values) in enumerate(tests):
            f.ends[k].tests[j].address = address - 128
            for v in values:
                f.ends[k].tests[j].values[v >> 3] |= 1 << (v & 7)
    f.lives_stay = facts["lives_stay"]
    f.ends_count = len(facts["over"])


def insert(bytes data, uint64_t key, facts):
    """Make a cartridge known to the console. data: the ROM, 2 KB or a multiple of 4 KB."""
    global cartridge_count
    cdef Rom* rom
    cdef Console* m
    if place_of(key) >= 0:
        return
    if cartridge_count == MOST_CARTRIDGES:
        raise MemoryError(f"no room for more than {MOST_CARTRIDGES} cartridges")
    rom = <Rom*>calloc(1, sizeof(Rom))
    m = <Console*>malloc(sizeof(Console))
    rom.bytes = <uint8_t*>malloc(len(data))
    memcpy(rom.bytes, <const char*>data, len(data))
    rom.size, rom.kind, rom.key = len(data), facts["kind"], key
    rom.hot, rom.plain = facts["hot"], facts["plain"]
    fill(&rom.facts, facts)
    with nogil:
        power_on(m, rom)
        for _k in range(60):
            run_frame(m, rom)
        start(m, rom, 1, rom.facts.modes[0], 0)
    loaded[cartridge_count], cartridges[cartridge_count] = m, rom
    cartridge_count += 1


def try_rom(bytes data, facts, actions, *, int seed=0):
    """Play a ROM that is not kept, from two resets each, with a picture in colour and a grey one of two frames after each.

    data, facts: as for `insert`.
    actions: ALE's numbers, one a frame.
    seed: fills the memory around the state.

    Returns the RAM, 128 bytes. Raises RuntimeError if the console wrote outside its state.
    """
    global cartridge_count
    cdef size_t size = sizeof(Console)
    cdef int k
    cdef char* memory
    cdef uint8_t* rgb
    cdef double[16] options
    cdef Rng rng
    cdef bint over = False, whole = True
    memset(&options, 0, sizeof(options))
    memset(&rng, 0, sizeof(rng))
    options[1] = 1
    insert(data, 0, facts)
    memory = <char*>malloc(size + 2 * GUARD)
    rgb = <uint8_t*>malloc(3 * WIDTH * MOST_ROWS + SMALL * SMALL + SMALL)
    memset(memory, seed, size + 2 * GUARD)
    memset(memory + GUARD, 0, size)
    for _ in range(2):
        reset(memory + GUARD, options, &rng)
        for action in actions:
            step(memory + GUARD, action, &rng, &over)
            draw_once(memory + GUARD, rgb, facts["height"])
    for k in range(GUARD):
        whole = whole and memory[k] == <char>seed and memory[size + GUARD + k] == <char>seed
    observe(memory + GUARD, rgb)
    ram = bytes(rgb[:128])
    free(memory)
    free(rgb)
    cartridge_count -= 1
    free(loaded[cartridge_count])
    free(cartridges[cartridge_count].bytes)
    free(cartridges[cartridge_count])
    if not whole:
        raise RuntimeError("the console wrote outside its state")
    return ram


cdef void draw_once(const void* state, uint8_t* memory, int height) noexcept nogil:
    """A picture in colour, and a grey one."""
    cdef Canvas canvas
    cdef Screen screen
    memset(&canvas, 0, sizeof(canvas))
    memset(&screen, 0, sizeof(screen))
    screen.x.length, screen.y.length = WIDTH, height
    canvas.screen = &screen
    canvas.rgb = memory
    draw(state, &canvas)
    canvas.rgb = NULL
    canvas.grey = memory + 3 * WIDTH * MOST_ROWS
    canvas.touched = canvas.grey + SMALL * SMALL
    draw_two(state, &canvas)


cdef inline uint32_t without_colour(uint32_t colour) noexcept nogil:
    """The grey of a PAL colour after a frame with an odd number of lines."""
    cdef int grey = <int>(0.2989 * (colour >> 16) + 0.5870 * (colour >> 8 & 255) + 0.1140 * (colour & 255) + 0.5)
    return <uint32_t>(grey << 16 | grey << 8 | grey)


cdef void prepare() noexcept nogil:
    cdef int k, pal
    for k in range(256):
        palette[0][k] = NTSC[k >> 1]
        palette[1][k] = without_colour(PAL[k >> 1]) if k & 1 else PAL[k >> 1]
    for k in range(256):
        for pal in range(2):
            greys[pal][k] = grey_of(palette[pal][k])
            greys[2 + pal][k] = grey_of(palette[pal][k | 1])
    make_axis(&columns, WIDTH)
    make_axis(&rows[0], 210)
    make_axis(&rows[1], MOST_ROWS)


class Cartridge(Game):
    """The `Game` of a cartridge.

    path: its file, or None.
    key: by which the console knows it, from its bytes.
    """

    has_ram = True
    path = None
    key = 0

    @property
    def gym_id(self):
        """The id in Gymnasium's registry, of a game in the table."""
        return f"Atari/{self.title}-v0"


class Choice(Option):
    """An option that must be one of `numbers`, a sorted list."""

    def check(self, game, name, value):
        super().check(game, name, value)
        if value not in self.numbers:
            raise InvalidArgument(f"option {name!r} of {game} must be {' or '.join(map(str, self.numbers))} ({self.help}), "
                                  f"not {checks.shown(value)}")
        return float(value)


def choice(numbers, str meaning):
    """The option that is one of these numbers; its default is the smallest."""
    option = Choice(min(numbers), min(numbers), max(numbers), meaning)
    option.numbers = sorted(set(numbers))
    return option


def game_of(str name, str title, uint64_t key, facts, names, all_names):
    """The `Game` of an inserted cartridge."""
    cdef Game game = Cartridge(
        name=name, title=title, version=1, summary=f"The Atari 2600 cartridge {title}, as ale-py plays it.",
        actions=lambda options: all_names if options["full_action_space"] else names,
        feature_shape=(128,), feature_dtype="uint8", feature_low=0, feature_high=255, screen=(WIDTH, facts["height"]),
        frame_skip=4, fps=60,
        options={"cartridge": Option(key, key, key, "the cartridge's digest"),
                 "full_action_space": Option(0, 0, 1, "1: all 18 actions of ALE"),
                 "mode": choice([mode for mode, *_ in facts["modes"]], "ALE's mode of the game"),
                 "difficulty": choice([0, *facts["difficulties"]], "ALE's difficulty: 1 and 2 are the console's switches")},
        compared_with="ale-py, frame by frame: RAM, picture, reward, lives and end.",
    )
    game.key = key
    return game.bind(chunk, backdrop, draw, sizeof(Console), has_mask=False, valid=valid, lives=lives, prepare=prepare)
