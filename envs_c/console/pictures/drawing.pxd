"""A console that keeps what it writes to the TIA, so that the picture of its frame can be drawn when somebody looks at it."""

from libc.stdint cimport int32_t, uint8_t, uint32_t

from envs_c.console.state cimport Console
from envs_c.console.tia.lines cimport BLACK, Painter, painter_begin, painter_end
from envs_c.console.tia.paint cimport paint_log


cdef extern from *:
    """
    /* The scratch memory of the thread that is in `chunk`; NULL elsewhere, and where there are no threads' variables. */
    #if defined(__wasm__) || defined(__NVPTX__)
    static inline void *console_scratch(void) { return NULL; }
    static inline void set_console_scratch(void *memory) { (void)memory; }
    #else
    static __thread void *console_memory;
    static inline void *console_scratch(void) { return console_memory; }
    static inline void set_console_scratch(void *memory) { console_memory = memory; }
    #endif
    /* Memory to draw a picture: the caller's own, or on a GPU, whose threads have a small stack, that of the block. */
    #ifdef __NVPTX__
    static char *console_rooms; /* for each block; envs_c/bare/device_cartridge.h */
    static inline void *console_room(void *own, size_t size) {
        (void)own;
        return console_rooms + __nvvm_read_ptx_sreg_ctaid_x() * size;
    }
    #else
    static inline void *console_room(void *own, size_t size) { (void)size; return own; }
    #endif
    /* game.pxd has sums for games that draw; GCC does not see that the console, which paints, never reads them. */
    #if defined(__GNUC__) && !defined(__clang__)
    #pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
    #endif
    """
    void* console_scratch() noexcept nogil
    void set_console_scratch(void* memory) noexcept nogil
    void* console_room(void* own, size_t size) noexcept nogil


cdef enum:
    LOG = 2048              # writes that are kept; a frame with more is painted in parts
    LAST_CLOCK = (1 << 18) - 1  # that an entry of the log can hold, far below the window


ctypedef struct Drawing:
    Console console         # its `drawing` is 1, which says that it is the first part of this struct
    int32_t count           # entries of `log` that are not painted yet
    int32_t accessed        # clock of the last access to the TIA, if the interpreter played
    uint8_t complete        # 1: the picture is
    uint32_t[LOG] log
    Painter painter


ctypedef struct Scratch:
    # The last two frames of one environment, while a call of `chunk` steps it: they are drawn without playing them again.
    const void* owner       # the environment; NULL for none
    uint8_t grey            # 1: its pictures are grey, 0: in colour
    uint8_t[2] there        # 1: this one of `Play.before` has its frame here
    int32_t unseen          # frames that each environment plays first, and that are not kept: nobody looks at them
    int32_t left            # of these, for the owner
    Drawing[2] frames


cdef inline void drawing_begin(Drawing* d, const Console* m, const uint8_t* shades) noexcept nogil:
    """Begin with this console, at the start of a frame. shades: (256,) bytes to draw for palette indices."""
    d.console = m[0]
    d.console.drawing = 1
    d.count = d.complete = d.accessed = 0
    painter_begin(&d.painter, &m.tia, shades, shades[BLACK])


cdef inline void drawing_end(Drawing* d) noexcept nogil:
    """Complete the picture, after the frame."""
    if not d.complete:
        paint_log(&d.painter, d.log, d.count, d.console.ended)
        painter_end(&d.painter)
        d.complete = 1


cdef inline void keep(Console* m, int register, int value, int clock) noexcept nogil:
    """A write to the TIA that changes something."""
    cdef Drawing* d
    if m.drawing:
        d = <Drawing*>m
        d.log[d.count] = <uint32_t>min(clock, LAST_CLOCK) << 14 | register << 8 | value
        d.count += 1
        if d.count == LOG:
            paint_log(&d.painter, d.log, LOG, 0)
            d.count = 0


cdef inline void note_access(Console* m, int cycle) noexcept nogil:
    """An access to the TIA."""
    if m.drawing:
        (<Drawing*>m).accessed = 3 * cycle


cdef inline Scratch* scratch_of() noexcept nogil:
    """This thread's scratch memory, or NULL."""
    return <Scratch*>console_scratch()


cdef inline void use_scratch(Scratch* scratch, bint grey, int unseen) noexcept nogil:
    """This thread's scratch memory from now on, for grey pictures or such in colour; NULL for none. unseen: as in Scratch."""
    if scratch != NULL:
        scratch.owner, scratch.grey, scratch.unseen = NULL, grey, unseen
    set_console_scratch(scratch)


cdef inline void forget_frames() noexcept nogil:
    """An episode begins: what the scratch memory holds is of another one."""
    if scratch_of() != NULL:
        scratch_of().owner = NULL
