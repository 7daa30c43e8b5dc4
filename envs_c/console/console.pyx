"""The console as games of the suite: one `Game` for each cartridge.

Features. The 128 bytes of RAM.

Pictures. The 160x210 pixels that ale-py shows, 250 rows for a PAL cartridge. Grey pictures of 84x84 are those of
`ale_py.AtariVectorEnv` (grey.pxd): after a step of several frames, the brighter pixels of the last two of them; after a reset,
and in steps of one frame, the last frame alone.

Actions, points, lives, ends and starts are ALE's, as games.toml has them.
"""

from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t, uintptr_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memset

from envs_c.console.compiled cimport read_chip, touch_hot, trace_frame, write_chip
from envs_c.console.facts cimport (
    BCD, BIN, HI, LO, LOW3, SIGNED, is_over, lives_left, press, reward, start)
from envs_c.console.frame cimport draw_frame, play_frame, power_on
from envs_c.console.grey cimport Axis, make_axis, shrink_frames
from envs_c.console.palette cimport NTSC, PAL
from envs_c.console.pokes cimport poke_of
from envs_c.console.state cimport Console, Drawing, Facts, Play, Rom, compiled_fn
from envs_c.console.tia cimport Tia
from envs_c.game cimport Game, Head, Io, picture_of, run_chunk, see, state_stride
from envs_c.rng cimport Rng
from envs_c.screen cimport SMALL, Canvas, Screen, canvas_rect, grey_of
from envs_c.valid cimport all_between, between

from envs_c.game import Option


cdef enum:
    MOST_CARTRIDGES = 1024
    WIDTH = 160
    MOST_ROWS = 250
    GUARD = 4096          # bytes around the state in `try_rom`


cdef Rom* cartridges[MOST_CARTRIDGES]
cdef Play* loaded[MOST_CARTRIDGES]  # a console after ALE's loadROM
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
    cdef Play* p = <Play*>state
    cdef uint64_t key = <uint64_t>options[0]
    cdef int k = place_of(key), resets = p.now.resets if p.now.cartridge == key else 0
    if resets < 2 or resets > 1 << 30:
        p[0] = loaded[k][0]
        resets = 2
    else:
        resets += 1
    start(p, cartridges[k], resets)
    p.two = 0
    p.now.full = options[1] != 0


cdef float step(void* state, int action, Rng* rng, bint* over) noexcept nogil:
    cdef Play* p = <Play*>state
    cdef Console* m = &p.now
    cdef const Rom* rom = cartridges[place_of(m.cartridge)]
    press(m, &rom.facts, action if m.full else rom.facts.actions[action])
    p.two = 1
    play_frame(p, rom)
    over[0] = is_over(m, &rom.facts)
    return <float>reward(m, &rom.facts)


cdef void observe(const void* state, void* out) noexcept nogil:
    memcpy(out, (<const Play*>state).now.ram, 128)


cdef void backdrop(const double* options, Canvas* canvas) noexcept nogil:
    pass


cdef void draw(const void* state, Canvas* canvas) noexcept nogil:
    """The last frame."""
    cdef const Play* p = <const Play*>state
    cdef Drawing drawn
    draw_frame(&p.before[p.last], cartridges[place_of(p.now.cartridge)], &drawn)
    if canvas.rgb == NULL:
        shrink(&drawn, NULL, canvas)
    else:
        colour(&drawn, canvas)


cdef void draw_two(const void* state, Canvas* canvas) noexcept nogil:
    """The brighter pixels of the last two frames of the episode, on a grey canvas."""
    cdef const Play* p = <const Play*>state
    cdef const Rom* rom = cartridges[place_of(p.now.cartridge)]
    cdef Drawing drawn, other
    draw_frame(&p.before[p.last], rom, &drawn)
    if p.two:
        draw_frame(&p.before[1 - p.last], rom, &other)
    shrink(&drawn, &other if p.two else NULL, canvas)


cdef inline void shrink(const Drawing* drawn, const Drawing* other, Canvas* canvas) noexcept nogil:
    cdef const Console* m = &drawn.console
    cdef bint pal = m.last_line > 300
    cdef float[MOST_ROWS * SMALL] narrow
    cdef int[MOST_ROWS] kept
    shrink_frames(drawn.picture, greys[2 * m.odd + pal], other.picture if other else NULL,
                  greys[2 * (other.console.odd if other else 0) + pal], m.tia.height, &columns,
                  &rows[m.tia.height == MOST_ROWS], narrow, kept, canvas)


cdef inline void colour(const Drawing* drawn, Canvas* canvas) noexcept nogil:
    """Paint a frame on a canvas in colour."""
    cdef const Console* m = &drawn.console
    cdef const uint32_t* colours = palette[m.last_line > 300]
    cdef const uint8_t* row
    cdef int y, x, first
    for y in range(m.tia.height):
        row = drawn.picture + y * WIDTH
        x = 0
        while x < WIDTH:
            first = x
            while x < WIDTH and row[x] == row[first]:
                x += 1
            canvas_rect(canvas, first, y, x - first, 1, colours[row[first] | m.odd])


cdef int lives(const void* state) noexcept nogil:
    cdef const Console* m = &(<const Play*>state).now
    return lives_left(m, &cartridges[place_of(m.cartridge)].facts)


cdef inline bint safe(const Tia* tia, const Facts* facts) noexcept nogil:
    return (tia.live < 64 and between(tia.least, 0, 1 << 20) and tia.top == facts.top and tia.height == facts.height
            and between(tia.clock, -(1 << 20), 1 << 20) and between(tia.hmove, -(1 << 30), 1 << 20)
            and all_between(tia.position, 5, 0, WIDTH - 1))


cdef inline bint safe_console(const Console* m, const Rom* rom) noexcept nogil:
    cdef int i
    for i in range(8):
        if m.slice[i] + 1024 > rom.size or m.slice[i] % 1024 != 0:
            return False
    return (m.cartridge == rom.key and m.drawing == 0 and m.odd < 2 and m.odd_next < 2 and between(m.shift, 0, 10)
            and between(m.cpu.cycle, 0, 1 << 16) and between(m.vsync, -(1 << 20), 1 << 20)
            and between(m.timer_set, -(1 << 25), 1 << 16) and between(m.late, -1, 1 << 26)
            and between(m.dumped, -(1 << 30), 1 << 16) and m.last_line == rom.facts.last_line and safe(&m.tia, &rom.facts))


cdef bint valid(const void* state, const double* options, bint over) noexcept nogil:
    """Bounds of all that is used as an index, a count or a shift; registers and RAM can hold any bytes."""
    cdef const Play* p = <const Play*>state
    cdef int k = place_of(p.now.cartridge)
    return (k >= 0 and p.now.cartridge == <uint64_t>options[0] and between(p.last, 0, 1)
            and safe_console(&p.now, cartridges[k]) and safe_console(&p.before[0], cartridges[k])
            and safe_console(&p.before[1], cartridges[k]))


cdef void chunk(char* states, Io* io, int lo, int hi) noexcept nogil:
    cdef bint two = io.frame_skip > 1 or io.frame_skip_span > 1
    run_chunk(reset, step, observe, draw_two if two else draw, NULL, sizeof(Play), states, io, lo, hi)
    if two and io.noop_max > 0 and io.paint == NULL:
        draw_starts(states, io, lo, hi)


cdef void draw_starts(char* states, Io* io, int lo, int hi) noexcept nogil:
    """Observe again where an episode began with frames of NOOP: its first picture shows the last frame alone."""
    cdef size_t stride = state_stride(sizeof(Play))
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
    cdef Play* p
    if place_of(key) >= 0:
        return
    if cartridge_count == MOST_CARTRIDGES:
        raise MemoryError(f"no room for more than {MOST_CARTRIDGES} cartridges")
    rom = <Rom*>calloc(1, sizeof(Rom))
    p = <Play*>calloc(1, sizeof(Play))
    rom.bytes = <uint8_t*>malloc(len(data))
    memcpy(rom.bytes, <const char*>data, len(data))
    rom.size, rom.kind, rom.hot, rom.key = len(data), facts["kind"], facts["hot"], key
    fill(&rom.facts, facts)
    with nogil:
        power_on(&p.now, rom)
        for _k in range(60):
            play_frame(p, rom)
        start(p, rom, 1)
    loaded[cartridge_count], cartridges[cartridge_count] = p, rom
    cartridge_count += 1


def layout() -> dict[str, int]:
    """The places of the fields that recompiled/prelude.h reads and writes, in bytes from the console's start."""
    cdef Console m
    cdef char* first = <char*>&m
    return {"AT_RAM": <char*>&m.ram - first, "AT_SLICE": <char*>&m.slice - first, "AT_DONE": <char*>&m.done - first,
            "AT_DRAWING": <char*>&m.drawing - first, "AT_SAME": <char*>&m.tia.same - first,
            "AT_COLOUR": <char*>&m.tia.colour - first, "AT_TIMER": <char*>&m.timer - first,
            "AT_SHIFT": <char*>&m.shift - first, "AT_TIMER_SET": <char*>&m.timer_set - first}


def callbacks() -> list[int]:
    """The addresses of read_chip, write_chip and touch_hot, then that of each of the TIA's 64 registers, or 0."""
    return [<uintptr_t>&read_chip, <uintptr_t>&write_chip, <uintptr_t>&touch_hot,
            *(<uintptr_t>poke_of(register) for register in range(64))]


def attach(uint64_t key, uintptr_t run):
    """Let an inserted cartridge run by the compiled function at this address; 0 for the interpreter."""
    cartridges[place_of(key)].compiled = <compiled_fn><void*>run


def trace(uint64_t key, const uint8_t[::1] actions):
    """Play an inserted cartridge by the interpreter, and return its code that was executed.

    actions: ALE's number of each frame's action; they follow a reset.

    Returns `found` and `addresses` of trace_frame as bytes, the second two a place.
    """
    cdef int k = place_of(key), i
    cdef const Rom* rom = cartridges[k]
    cdef bytearray found = bytearray(8 * rom.size), addresses = bytearray(16 * rom.size)
    cdef uint8_t* marks = found
    cdef char* places = addresses
    cdef Play p = loaded[k][0]
    with nogil:
        for i in range(actions.shape[0]):
            press(&p.now, &rom.facts, actions[i])
            trace_frame(&p.now, rom, marks, <uint16_t*>places)
            if is_over(&p.now, &rom.facts):
                start(&p, rom, p.now.resets + 1)
    return bytes(found), bytes(addresses)


def try_rom(bytes data, facts, actions, *, int seed=0):
    """Play a ROM that is not kept, from two resets each, with a picture in colour and a grey one of two frames after each.

    data, facts: as for `insert`.
    actions: ALE's numbers, one a frame.
    seed: fills the memory around the state.

    Returns the RAM, 128 bytes. Raises RuntimeError if the console wrote outside its state.
    """
    global cartridge_count
    cdef size_t size = sizeof(Play)
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


def game_of(str name, str title, uint64_t key, facts, names, all_names):
    """The `Game` of an inserted cartridge."""
    cdef Game game = Cartridge(
        name=name, title=title, version=1, summary=f"The Atari 2600 cartridge {title}, as ale-py plays it.",
        actions=lambda options: all_names if options["full_action_space"] else names,
        feature_shape=(128,), feature_dtype="uint8", feature_low=0, feature_high=255, screen=(WIDTH, facts["height"]),
        frame_skip=4, fps=60,
        options={"cartridge": Option(key, key, key, "the cartridge's digest"),
                 "full_action_space": Option(0, 0, 1, "1: all 18 actions of ALE")},
        compared_with="ale-py, frame by frame: RAM, picture, reward, lives and end.",
    )
    game.key = key
    return game.bind(chunk, backdrop, draw, sizeof(Play), has_mask=False, valid=valid, lives=lives, prepare=prepare)
