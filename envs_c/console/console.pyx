"""The console as games of the suite: one `Game` for each cartridge.

Features. The 128 bytes of RAM. Pictures: pictures.pxd.

Actions, points, lives, ends and starts are ALE's, as games.toml has them.
"""

from libc.stdint cimport uint8_t, uint16_t, uint64_t, uintptr_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memset

from envs_c.console.cartridge.cartridge cimport has_own_ram
from envs_c.console.recompiled.compiled cimport addresses, places, trace_frame
from envs_c.console.pictures.drawing cimport Scratch, forget_frames, scratch_of, use_scratch
from envs_c.console.cartridge.facts cimport count_lives, is_over, lives_left, press, reward, start
from envs_c.console.frame cimport play_frame, power_on
from envs_c.console.pictures.pictures cimport Room, Tables, advance, make_tables, paint_both, paint_last, paint_two
from envs_c.console.cartridge.power_on cimport fill_power_on
from envs_c.console.cartridge.row cimport fill
from envs_c.console.snapshot cimport safe_play
from envs_c.console.state cimport MOST_ROWS, WIDTH, Console, Facts, Play, PowerOn, Rom, compiled_fn
from envs_c.game cimport Game, Head, Io, picture_of, run_chunk, see, state_stride
from envs_c.rng cimport Rng
from envs_c.screen cimport SMALL, Canvas

from envs_c.console.description import described
from envs_c.errors import InvalidArgument
from envs_c.lock import Lock


cdef enum:
    MOST_CARTRIDGES = 1024
    GUARD = 4096          # bytes around the state in `try_rom`


cdef Rom* cartridges[MOST_CARTRIDGES]
cdef Play* loaded[MOST_CARTRIDGES]  # a console after ALE's loadROM
cdef int cartridge_count = 0
cdef Tables tables
_changing = Lock()  # while a cartridge is added or removed


cdef inline int place_of(uint64_t key) noexcept nogil:
    """The number of a cartridge; -1 if it was not inserted here."""
    cdef int k
    for k in range(cartridge_count):
        if cartridges[k].key == key:
            return k
    return -1


cdef int inserted(uint64_t key) except -1:
    """The number of a cartridge. Raises InvalidArgument if it was not inserted here."""
    cdef int k = place_of(key)
    if k < 0:
        raise InvalidArgument(f"key must be the one of an inserted cartridge, not {key}")
    return k


cdef void reset(void* state, const double* options, Rng* rng) noexcept nogil:
    cdef Play* p = <Play*>state
    cdef uint64_t key = <uint64_t>options[0]
    cdef int k = place_of(key), resets = p.now.resets if p.now.cartridge == key else 0
    forget_frames()
    if resets < 2 or resets > 1 << 30:
        p[0] = loaded[k][0]
        resets = 2
    else:
        resets += 1
    start(p, cartridges[k], resets, <int>options[2], <int>options[3])
    p.two = 0
    p.now.full = options[1] != 0


cdef float step(void* state, int action, Rng* rng, bint* over) noexcept nogil:
    cdef Play* p = <Play*>state
    cdef Console* m = &p.now
    cdef const Rom* rom = cartridges[place_of(m.cartridge)]
    if not p.two and is_over(p, &rom.facts):  # some modes begin with the end of a game, after which ale-py plays no frame
        over[0] = True
        return 0
    action = action if m.full else rom.facts.actions[action]
    press(m, &rom.facts, 0 if rom.facts.ignored >> action & 1 else action)
    p.two = 1
    advance(&tables, p, rom, scratch_of())
    count_lives(p, &rom.facts)
    over[0] = is_over(p, &rom.facts)
    return <float>reward(p, &rom.facts)


cdef void observe(const void* state, void* out) noexcept nogil:
    memcpy(out, (<const Play*>state).now.ram, 128)


cdef void backdrop(const double* options, Canvas* canvas) noexcept nogil:
    pass


cdef void draw(const void* state, Canvas* canvas) noexcept nogil:
    """The last frame."""
    cdef const Play* p = <const Play*>state
    paint_last(&tables, p, cartridges[place_of(p.now.cartridge)], scratch_of(), canvas)


cdef void draw_two(const void* state, Canvas* canvas) noexcept nogil:
    """The brighter pixels of the last two frames of the episode, on a grey canvas."""
    cdef const Play* p = <const Play*>state
    paint_two(&tables, p, cartridges[place_of(p.now.cartridge)], scratch_of(), canvas)


cdef int lives(const void* state) noexcept nogil:
    cdef const Play* p = <const Play*>state
    return lives_left(p, &cartridges[place_of(p.now.cartridge)].facts)


cdef bint valid(const void* state, const double* options, bint over) noexcept nogil:
    """Bounds of all that is used as an index, a count or a shift; registers and RAM can hold any bytes."""
    cdef const Play* p = <const Play*>state
    cdef int k = place_of(p.now.cartridge)
    return k >= 0 and p.now.cartridge == <uint64_t>options[0] and safe_play(p, cartridges[k])


cdef void chunk(char* states, Io* io, int lo, int hi) noexcept nogil:
    cdef bint two = io.frame_skip > 1 or io.frame_skip_span > 1
    cdef Scratch scratch
    if io.pixels or io.picture != NULL:
        use_scratch(&scratch, io.paint == NULL, io.frame_skip - 2)
    run_chunk(reset, step, observe, draw_two if two else draw, NULL, sizeof(Play), states, io, lo, hi)
    if two and io.noop_max > 0 and io.paint == NULL:
        draw_starts(states, io, lo, hi)
    use_scratch(NULL, False, 0)


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


cdef void load(Rom* rom, Play* p) noexcept nogil:
    """Do as ALE's loadROM with a new console, and keep the cartridge and the console. p: zeros."""
    global cartridge_count
    cdef int _k
    fill_power_on(&rom.power, has_own_ram(rom.kind))
    power_on(&p.now, rom)
    for _k in range(rom.facts.idle):
        play_frame(p, rom)
    start(p, rom, 1, rom.facts.modes[0], 0)
    loaded[cartridge_count], cartridges[cartridge_count] = p, rom
    cartridge_count += 1


def insert(bytes data, uint64_t key, facts):
    """Make a cartridge known to the console. data: the ROM, 2 KB or a multiple of 4 KB. Raises ValueError as `fill` does."""
    cdef Rom new
    cdef Rom* rom
    cdef Play* p
    with _changing.held():
        if place_of(key) >= 0:
            return
        if cartridge_count == MOST_CARTRIDGES:
            raise MemoryError(f"no room for more than {MOST_CARTRIDGES} cartridges")
        memset(&new, 0, sizeof(Rom))
        fill(&new.facts, facts)
        new.size, new.kind, new.key = len(data), facts["kind"], key
        new.hot, new.plain = facts["hot"], facts["plain"]
        new.bytes = <uint8_t*>malloc(len(data))
        rom, p = <Rom*>malloc(sizeof(Rom)), <Play*>calloc(1, sizeof(Play))
        if new.bytes == NULL or rom == NULL or p == NULL:
            release(new.bytes, rom, p)
            raise MemoryError(f"no memory for a cartridge of {len(data):,} bytes")
        memcpy(new.bytes, <const char*>data, len(data))
        rom[0] = new
        load(rom, p)


cdef void release(uint8_t* data, Rom* rom, Play* p) noexcept nogil:
    """Free the memory of a cartridge. Each may be NULL."""
    free(data)
    free(rom)
    free(p)


def bytes_of(facts):
    """The game's Facts as bytes, for the console in a browser. facts: as for `insert`. Raises ValueError as `fill` does."""
    cdef Facts filled
    fill(&filled, facts)
    return (<const char*>&filled)[:sizeof(Facts)]


def for_gpu(uint64_t key):
    """The bytes of a cartridge's console after ALE's loadROM, of its PowerOn, and how many a block's picture takes."""
    cdef int k = inserted(key)
    return (<const char*>loaded[k])[:sizeof(Play)], (<const char*>&cartridges[k].power)[:sizeof(PowerOn)], sizeof(Room)


def layout() -> dict[str, int]:
    """The places of the fields that recompiled/prelude.h reads and writes, in bytes from the console's start."""
    return places()


def callbacks() -> list[int]:
    """The addresses of read_chip, write_chip and touch_hot, then that of each of the TIA's 64 registers, or 0."""
    return addresses()


def attach(uint64_t key, uintptr_t run):
    """Let an inserted cartridge run by the compiled function at this address; 0 for the interpreter."""
    cartridges[inserted(key)].compiled = <compiled_fn><void*>run


def trace(uint64_t key, const uint8_t[::1] actions):
    """Play an inserted cartridge by the interpreter, and return its code that was executed.

    actions: ALE's number of each frame's action; they follow a reset.

    Returns `found` and `addresses` of trace_frame as bytes, the second two a place.
    """
    cdef int k = inserted(key), i
    cdef const Rom* rom = cartridges[k]
    cdef bytearray found = bytearray(8 * rom.size), at = bytearray(16 * rom.size)
    cdef uint8_t* marks = found
    cdef char* first = at
    cdef Play p = loaded[k][0]
    with nogil:
        for i in range(actions.shape[0]):
            press(&p.now, &rom.facts, actions[i])
            p.before[p.last] = p.now
            trace_frame(&p.now, rom, marks, <uint16_t*>first)
            if is_over(&p, &rom.facts):
                start(&p, rom, p.now.resets + 1, rom.facts.modes[0], 0)
    return bytes(found), bytes(at)


def try_rom(bytes data, facts, actions, *, int seed=0):
    """Play a ROM that is not kept, from two resets each, with a picture in colour and a grey one of two frames after each.

    data, facts: as for `insert`.
    actions: ALE's numbers, one a frame. seed: fills the memory around the state.

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
    with _changing.held():
        insert(data, 0, facts)
        memory = <char*>malloc(size + 2 * GUARD)
        rgb = <uint8_t*>malloc(3 * WIDTH * MOST_ROWS + SMALL * SMALL + SMALL)
        try:
            if memory == NULL or rgb == NULL:
                raise MemoryError("no memory to try a cartridge")
            memset(memory, seed, size + 2 * GUARD)
            memset(memory + GUARD, 0, size)
            for _ in range(2):
                reset(memory + GUARD, options, &rng)
                for action in actions:
                    step(memory + GUARD, action, &rng, &over)
                    paint_both(&tables, <const Play*>(memory + GUARD), cartridges[place_of(0)], rgb)
            for k in range(GUARD):
                whole &= memory[k] == memory[size + GUARD + k] == <char>seed
            if not whole:
                raise RuntimeError("the console wrote outside its state")
            observe(memory + GUARD, rgb)
            return bytes(rgb[:128])
        finally:
            free(memory)
            free(rgb)
            cartridge_count -= 1
            release(cartridges[cartridge_count].bytes, cartridges[cartridge_count], loaded[cartridge_count])


cdef void prepare() noexcept nogil:
    make_tables(&tables)


def game_of(str name, str title, uint64_t key, facts, names, all_names):
    """The `Game` of an inserted cartridge."""
    cdef Game game = described(name, title, key, facts, names, all_names, (WIDTH, facts["height"]))
    return game.bind(chunk, backdrop, draw, sizeof(Play), has_mask=False, valid=valid, lives=lives, prepare=prepare)
