"""The state of one console: a struct without pointers, so that a snapshot is a memcpy."""

from libc.stdint cimport int32_t, uint8_t, uint16_t, uint32_t, uint64_t

from envs_c.console.tia.tia cimport Tia


cdef enum:
    LINE = 76             # cycles of the processor in a line
    CLOCKS = 228          # of the TIA in a line: three a cycle
    NO_VSYNC = 1 << 20
    OPEN = -1             # ohm of a paddle that is not there
    WIDTH = 160           # of a picture
    MOST_ROWS = 250
    # a game's facts, at most
    STEPS = 64            # of the start
    SELECTS = 2
    MODES = 64
    SCORES = 8
    LIVES = 4
    ENDS = 4
    BLANKS = 2
    TESTS = 5             # of an end or another condition
    # power-ons whose numbers are kept: all of the timer's, and those of a cartridge's own RAM
    POWER_ONS = 8192
    OWN_POWER_ONS = 512


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


ctypedef struct Dpc:
    # The chip of a DPC cartridge (dpc.pxd).
    int32_t played        # cycle at which its music was read last
    int32_t units         # of the oscillator's period that had passed then
    uint16_t[8] counter   # of the fetchers
    uint8_t[8] top
    uint8_t[8] bottom
    uint8_t[8] flag
    uint8_t[3] music      # 1: this one of fetchers 5 to 7 makes music
    uint8_t random


ctypedef union Extra:
    # What is in a cartridge beside the ROM.
    uint8_t[128] ram
    Dpc dpc


ctypedef struct Console:
    Cpu cpu
    uint8_t[128] ram
    # RIOT (riot.pxd)
    int32_t timer_set     # cycle of the last write to the timer
    int32_t late          # cycles past the timer's end when it was first read there; 0 before
    uint8_t timer         # the value written
    uint8_t shift         # log2 of the interval
    uint8_t port_a        # output latches, and the direction of each bit
    uint8_t port_a_out
    uint8_t port_b
    uint8_t port_b_out
    # the user
    uint8_t sticks        # SWCHA's inputs: the right nibble is player 1
    uint8_t switches      # SWCHB's inputs
    uint8_t switches_rest  # without a switch pressed; ALE's difficulties are bits 6 and 7
    uint8_t cut           # the last frame ended after facts.instructions and goes on
    uint8_t triggers      # bit 0 and 1: the buttons of players 0 and 1 are pressed
    int32_t[4] paddles    # ohm, or OPEN
    # the cartridge (cartridge.pxd)
    uint16_t[8] slice     # offset in the ROM of each 1 KB of the address space; the second half is for addresses with bit 13
    Extra extra
    # the frame (frame.pxd)
    int32_t vsync         # clock from which clearing VSYNC ends the frame: a line after VSYNC was set last; or NO_VSYNC
    int32_t dumped        # cycle at which the paddles' capacitors began to charge
    int32_t ended         # clock at which the last frame ended, for its picture
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
    int32_t lives         # the count that ale-py keeps; below 0 until the number in RAM has been equal to it (facts.pxd)
    int32_t ohm           # the player's paddle
    uint8_t full          # 1: actions are ALE's 18, not the game's own
    uint8_t drawing       # 1: this is the console of a `Drawing` (drawing.pxd); 0 in every `Play`
    uint8_t par           # these three with facts.holes: of the hole that is played
    uint8_t hole
    uint8_t strokes       # the count of strokes in RAM, a number from 0 to 99; `score` has those of the hole
    uint8_t[3] unused     # in place of padding


ctypedef struct Play:
    # One environment. A picture is drawn if it is looked at: from a Drawing that played the frame, or by playing it again.
    Console now
    Console[2] before     # at the start of the last two frames
    Console older         # with facts.older_rows: at the start of the frame that is shown below the end of one that ended early
    int32_t last          # which of `before` is the last frame's
    uint8_t two           # 1: a frame of this episode was played, so that two can be drawn
    uint8_t goes_on       # 1: the last frame goes on with one that was cut off, whose start stands in `before`
    uint8_t[2] early      # 1: the frame of this one of `before` ended before its picture; 0 without facts.older_rows
    uint8_t older_of      # the one of `before` that `older` belongs to


ctypedef struct Term:
    # A part of a number in RAM: multiplier * coding(ram[address]).
    uint8_t address       # from 128 on, of the cartridge's RAM
    uint8_t coding        # Coding of facts.pxd
    int32_t multiplier


ctypedef struct Test:
    # True if all bytes of the RAM from `address` to `last` are in the set.
    uint8_t address
    uint8_t last
    uint8_t before        # 1: of the RAM before the frame
    uint8_t[32] values    # bit v & 7 of byte v >> 3


ctypedef struct End:
    # A condition, such as the end of a game: all tests are true.
    Test[TESTS] tests
    int count


ctypedef struct Step:
    # A part of a game's start.
    uint8_t switches      # SWCHB's switches that are pressed: bit 0 RESET, bit 1 SELECT
    uint8_t action        # ALE's number
    uint16_t frames
    int body              # above 0: the next `body` steps are repeated until the mode is there


ctypedef struct Facts:
    # What the console cannot know of a game; games.toml has them.
    int idle              # frames without an input before the start; ale-py has 60
    int instructions      # after which a frame ends in any case; ale-py has 25,000
    Step[STEPS] steps     # of the start
    int step_count
    uint8_t[SELECTS] select     # bytes of RAM that hold the mode
    int selects
    uint8_t[MODES] modes  # ALE's numbers, and what the bytes hold in each mode
    uint8_t[MODES][SELECTS] values
    int mode_count
    uint8_t[18] actions   # ALE's numbers of the game's own actions
    int paddles           # 0: joystick, 1: the first paddle of two, 2: the second one of four
    int ohm_most          # a paddle's resistance turned to the left; it begins in the middle
    uint32_t ignored      # bit of each of ALE's actions that presses nothing
    bint right_port       # the joystick is in the right port
    int last_line
    int top               # first line shown
    int height
    bint no_comb
    bint older_rows       # frames can end before their pictures, where rows of an older frame are seen
    Term[SCORES] score
    int scores
    int scores_small      # the first of them, which do not count in a frame in which the others change
    int32_t wrap          # the score's range, for differences; 0 for none
    int32_t most_reward   # of a frame; 0 for no limit
    bint holes            # points are those of the holes of Miniature Golf
    int32_t[ENDS] points  # of the frame with each of the first ends; the others give the score's difference
    int points_count
    End[BLANKS] blank     # the score is 0 at any of these
    int blanks
    Term[LIVES] lives
    int lives_terms
    int lives_more        # to add
    int lives_rule        # Rule of facts.pxd
    int lives_first       # of an episode, unless the rule is NOW
    End lives_tests       # of the rule
    End[ENDS] ends           # the game is over at any of these
    int ends_count
    bint lives_stay       # they are not 0 when the game is over


# Executes up to `left` instructions; returns how many are left when the frame has ended, or when the interpreter must go on.
ctypedef int (*compiled_fn)(Cpu* cpu, Console* m, const void* rom, int left) noexcept nogil


ctypedef struct PowerOn:
    # What ale-py puts into a console at each power-on (power_on.pxd).
    uint8_t[128] ram      # the first one only
    uint8_t[POWER_ONS] timers
    uint8_t[OWN_POWER_ONS][128] own  # the cartridge's own RAM


ctypedef struct Rom:
    # One cartridge, shared by all consoles that play it.
    uint8_t* bytes
    int size
    int kind              # Kind of cartridge.pxd
    uint64_t key
    Facts facts
    compiled_fn compiled  # the ROM's code in C, or NULL
    int hot               # first address (13 bits) of those that switch banks; 0x2000 for none
    int plain             # first address (13 bits) of those that only read the ROM
    PowerOn power
