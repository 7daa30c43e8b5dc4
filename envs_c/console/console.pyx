"""The console as games of the suite: one `Game` for each cartridge.

Features. The 128 bytes of RAM.

Pictures. The 160x210 pixels that ale-py shows, 250 rows for a PAL cartridge.

Actions, points, lives, ends and starts are ALE's, as games.toml has them.
"""

from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, malloc
from libc.string cimport memcpy, memset

from envs_c.console.facts cimport (
    BCD, BIN, HI, LO, LOW3, SIGNED, is_over, lives_left, press, reward, start)
from envs_c.console.frame cimport power_on, run_frame
from envs_c.console.palette cimport NTSC, PAL
from envs_c.console.state cimport LOG, Console, Facts, Rom
from envs_c.console.tia cimport Tia
from envs_c.console.tia_rows cimport tia_run
from envs_c.game cimport Game, Io, run_chunk
from envs_c.rng cimport Rng
from envs_c.screen cimport Canvas, canvas_rect
from envs_c.valid cimport all_between, between

from envs_c.game import Option


cdef enum:
    MOST_CARTRIDGES = 1024
    WIDTH = 160
    MOST_ROWS = 250


cdef Rom* cartridges[MOST_CARTRIDGES]
cdef Console* loaded[MOST_CARTRIDGES]  # a console after ALE's loadROM
cdef int cartridge_count = 0
cdef uint32_t[2][256] palette              # 0xRRGGBB of NTSC and PAL; PAL's odd numbers are those after an odd frame


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
    start(m, cartridges[k], resets)
    m.full = options[1] != 0


cdef float step(void* state, int action, Rng* rng, bint* over) noexcept nogil:
    cdef Console* m = <Console*>state
    cdef const Rom* rom = cartridges[place_of(m.cartridge)]
    press(m, &rom.facts, action if m.full else rom.facts.actions[action])
    run_frame(m, rom)
    over[0] = is_over(m, &rom.facts)
    return <float>reward(m, &rom.facts)


cdef void observe(const void* state, void* out) noexcept nogil:
    memcpy(out, (<const Console*>state).ram, 128)


cdef void backdrop(const double* options, Canvas* canvas) noexcept nogil:
    pass


cdef void draw(const void* state, Canvas* canvas) noexcept nogil:
    cdef const Console* m = <const Console*>state
    cdef uint8_t[WIDTH * MOST_ROWS] picture
    cdef Tia tia = m.before
    cdef int y, x, first
    cdef uint8_t* row
    cdef const uint32_t* colours = palette[1 if m.last_line > 300 else 0]
    memset(picture, 0, sizeof(picture))
    tia_run(&tia, m.log, m.logged, m.shown, picture)
    for y in range(tia.height):
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
            and safe(&m.tia, &cartridges[k].facts) and safe(&m.before, &cartridges[k].facts))


cdef void chunk(char* states, Io* io, int lo, int hi) noexcept nogil:
    run_chunk(reset, step, observe, draw, NULL, sizeof(Console), states, io, lo, hi)


cdef void fill(Facts* f, facts):
    """The facts of a game from a row of games.toml."""
    cdef int k, v
    codes = {"bin": BIN, "bcd": BCD, "lo": LO, "hi": HI, "signed": SIGNED, "low3": LOW3}
    for k, letter in enumerate(facts["start"]):
        f.start[k] = {"R": 1, "S": 2, "N": 0}[letter]
    f.start_frames = len(facts["start"])
    for k, v in enumerate(facts["begin"]):
        f.begin[k] = v
    f.begin_actions = len(facts["begin"])
    for k, v in enumerate(facts["actions"]):
        f.actions[k] = v
    f.paddles, f.last_line, f.top, f.height = facts["paddles"], facts["last_line"], facts["top"], facts["height"]
    f.no_comb = not facts["comb"]
    for k, (address, coding, factor) in enumerate(facts["score"]):
        f.score[k].address, f.score[k].coding, f.score[k].multiplier = address - 128, codes[coding], factor
    f.scores, f.wrap = len(facts["score"]), facts["wrap"]
    for k, (address, coding, factor) in enumerate(facts["lives"]):
        f.lives[k].address, f.lives[k].coding, f.lives[k].multiplier = address - 128, codes[coding], factor
    f.lives_terms, f.lives_more = len(facts["lives"]), facts["lives_more"]
    for k, (address, values) in enumerate(facts["over"]):
        f.ends[k].address = address - 128
        for v in values:
            f.ends[k].values[v >> 3] |= 1 << (v & 7)
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
    rom.size, rom.kind, rom.hot, rom.key = len(data), facts["kind"], facts["hot"], key
    fill(&rom.facts, facts)
    with nogil:
        power_on(m, rom)
        for _k in range(60):
            run_frame(m, rom)
        start(m, rom, 1)
    loaded[cartridge_count], cartridges[cartridge_count] = m, rom
    cartridge_count += 1


cdef uint32_t grey_of(uint32_t colour):
    """The grey of a PAL colour after a frame with an odd number of lines."""
    cdef int grey = <int>(0.2989 * (colour >> 16) + 0.5870 * (colour >> 8 & 255) + 0.1140 * (colour & 255) + 0.5)
    return <uint32_t>(grey << 16 | grey << 8 | grey)


for _i in range(256):
    palette[0][_i] = NTSC[_i >> 1]
    palette[1][_i] = grey_of(PAL[_i >> 1]) if _i & 1 else PAL[_i >> 1]


def game_of(str name, str title, uint64_t key, facts, names, all_names):
    """The `Game` of an inserted cartridge."""
    return Game(
        name=name, title=title, version=1, summary=f"The Atari 2600 cartridge {title}, as ale-py plays it.",
        actions=lambda options: all_names if options["full_action_space"] else names,
        feature_shape=(128,), feature_dtype="uint8", feature_low=0, feature_high=255, screen=(WIDTH, facts["height"]),
        frame_skip=4, fps=60,
        options={"cartridge": Option(key, key, key, "the cartridge's digest"),
                 "full_action_space": Option(0, 0, 1, "1: all 18 actions of ALE")},
        compared_with="ale-py, frame by frame: RAM, picture, reward, lives and end.",
    ).bind(chunk, backdrop, draw, sizeof(Console), has_mask=False, valid=valid, lives=lives)
