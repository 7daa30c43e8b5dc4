"""The state of one console: a struct without pointers, so that a snapshot is a memcpy."""

from libc.stdint cimport int32_t, uint8_t, uint16_t, uint64_t

from envs_c.console.tia cimport Tia


cdef enum:
    LINE = 76             # cycles of the processor in a line
    CLOCKS = 228          # of the TIA in a line: three a cycle


ctypedef struct Cpu:
    # The registers of the processor. Flags N and Z are kept as the byte that decides them.
    int32_t cycle         # at the end of the last instruction, since the start of the frame
    uint16_t pc
    uint8_t a
    uint8_t x
    uint8_t y
    uint8_t sp
    uint8_t negative      # N is bit 7
    uint8_t zero          # Z is 1 if this is 0
    uint8_t c
    uint8_t v
    uint8_t d
    uint8_t i
    uint8_t bus           # the last byte on the data bus
    uint8_t[3] unused     # in place of padding, which would get any bytes when a copy is written back


ctypedef struct Console:
    Cpu cpu
    uint8_t[128] ram
    # RIOT (riot.pxd)
    int32_t timer_set     # cycle of the last write to the timer
    int32_t late          # cycles past the timer's end when it was first read there; -1 before
    uint8_t timer         # the value written
    uint8_t shift         # log2 of the interval
    uint8_t port_a        # output latches, and the direction of each bit
    uint8_t port_a_out
    uint8_t port_b
    uint8_t port_b_out
    # the user
    uint8_t sticks        # SWCHA's inputs: the right nibble is player 1
    uint8_t switches      # SWCHB's inputs
    uint8_t switches_set  # by the user; a frame that was cut off delays them by a frame
    uint8_t cut           # the last frame ended after INSTRUCTIONS
    uint8_t triggers      # bit 0 and 1: the buttons of players 0 and 1 are pressed
    int32_t[4] paddles    # ohm
    # the cartridge (cartridge.pxd)
    uint16_t[8] slice     # offset in the ROM of each 1 KB of the address space; the second half is for addresses with bit 13
    uint8_t[128] extra    # RAM of the cartridge
    # the frame (frame.pxd)
    int32_t vsync         # clock at which VSYNC was set; -1 if it is not set
    int32_t dumped        # cycle at which the paddles' capacitors began to charge
    int32_t last_line     # after which a write to the TIA ends the frame
    uint8_t vblank        # last value written to VBLANK
    uint8_t done          # the frame has ended
    uint8_t odd           # a PAL picture after a frame with an odd number of lines: it has no colours
    uint8_t odd_next
    Tia tia
    # the game (facts.pxd)
    uint64_t cartridge    # key of the ROM
    int32_t resets        # power-ons of this console, which decide the timer's value at power-on
    int32_t score         # after the last frame
    int32_t ohm           # the player's paddle
    uint8_t full          # 1: actions are ALE's 18, not the game's own
    uint8_t drawing       # 1: this is the console of a `Drawing`; 0 in every `Play`


ctypedef struct Drawing:
    # A console that draws while it plays.
    Console console
    uint8_t[160 * 250] picture  # palette indices, rows of 160; pixels that the beam did not cross keep theirs


ctypedef struct Play:
    # One environment. A picture is drawn by playing its frame again, if it is looked at.
    Console now
    Console[2] before     # at the start of the last two frames
    int32_t last          # which of them is the last frame's
    uint8_t two           # 1: a frame of this episode was played, so that two can be drawn


ctypedef struct Term:
    # A part of a number in RAM: multiplier * coding(ram[address]).
    uint8_t address
    uint8_t coding        # Coding of facts.pxd
    int32_t multiplier


ctypedef struct End:
    # The game is over if ram[address] is in the set.
    uint8_t address
    uint8_t[32] values    # bit v & 7 of byte v >> 3


ctypedef struct Facts:
    # What the console cannot know of a game; games.toml has them.
    uint8_t[512] start    # SWCHB's switches of each frame after the first 60: bit 0 RESET, bit 1 SELECT
    int start_frames
    uint8_t[32] begin     # ALE's numbers of the starting actions
    int begin_actions
    uint8_t[18] actions   # ALE's numbers of the game's own actions
    int paddles           # 0: joystick, 1: the first paddle, 2: the second one
    int last_line
    int top               # first line shown
    int height
    bint no_comb
    Term[8] score
    int scores
    int32_t wrap          # the score's range, for differences; 0 for none
    Term[4] lives
    int lives_terms
    int lives_more        # to add
    End[4] ends
    int ends_count


# Executes up to `left` instructions; returns how many are left when the frame has ended, or when the interpreter must go on.
ctypedef int (*compiled_fn)(Cpu* cpu, Console* m, const void* rom, int left) noexcept nogil


ctypedef struct Rom:
    # One cartridge, shared by all consoles that play it.
    uint8_t* bytes
    int size
    int kind              # Kind of cartridge.pxd
    uint64_t key
    Facts facts
    compiled_fn compiled  # the ROM's code in C, or NULL
    int hot               # first address (12 bits) of those that switch banks; 0x1000 for none
