/* The bus of a compiled cartridge: bus.pxd with an address that is known to the compiler in most places.

Above this text the generator writes its constants (SIZE, HOT, SLICED, LIMIT, MARGIN, the places of fields in the console's
struct), CODE, the ROM's bytes, and REGISTERS, the fields of state.pxd's Cpu. */

#define INLINE static inline __attribute__((always_inline))
#define register selected

typedef struct { REGISTERS } Registers;
/* base: the instruction's offset in the ROM less its address; bank: offset of its 4 KB; event: look where to go on */
typedef struct { REGISTERS int base, bank, event; } Cpu;
typedef uint8_t Console;
typedef void Rom;

static struct {
    int (*read)(Console*, const Rom*, int address, int cycle, int bus);
    int (*write)(Console*, const Rom*, int address, int value, int cycle);
    void (*hot)(Console*, const Rom*, int address);
    void (*poke[64])(Console*, int value, int cycle); /* writes to the TIA's registers; 0 for those that `write` takes */
} chips;

void connect(void** functions) { memcpy(&chips, functions, sizeof(chips)); }

#define FIELD(type, place) (*(type*)(m + (place)))
#define RAM(address) m[AT_RAM + ((address) & 0x7F)]
#define SAME(address) ((uint16_t*)(m + AT_SAME))[(address) & 0x3F]

INLINE int offset_of(Console* m, int address) {
    return ((uint16_t*)(m + AT_SLICE))[(address >> 10 & 3) | (address >> 11 & 4)] + (address & 0x3FF);
}

INLINE int fetch(Cpu* cpu, Console* m, const Rom* rom) {
    cpu->bus = CODE[cpu->base + cpu->pc];
    cpu->pc += 1;
    return cpu->bus;
}

INLINE int fetch_word(Cpu* cpu, Console* m, const Rom* rom) {
    int low = fetch(cpu, m, rom);
    return low | fetch(cpu, m, rom) << 8;
}

INLINE int load(Cpu* cpu, Console* m, const Rom* rom, int address) {
    if (address & 0x1000) {
        if ((address & 0x1FFF) >= HOT) {
            chips.hot(m, rom, address);
            cpu->event = 1;
            cpu->bus = CODE[offset_of(m, address)];
        } else
            cpu->bus = CODE[SLICED ? offset_of(m, address) : (cpu->bank | (address & 0xFFF)) & (SIZE - 1)];
    } else if ((address & 0x280) == 0x80)
        cpu->bus = RAM(address);
    else
        cpu->bus = (uint8_t)chips.read(m, rom, address, cpu->cycle, cpu->bus);
    return cpu->bus;
}

INLINE void store(Cpu* cpu, Console* m, const Rom* rom, int address, int value) {
    int chip = address & 0x3F;
    value &= 0xFF;
    cpu->bus = value;
    if ((address & 0x1280) == 0x80) {
        RAM(address) = value;
        return;
    }
    if (address & 0x1000) {
        if ((address & 0x1FFF) >= HOT) {
            chips.hot(m, rom, address);
            cpu->event = 1;
        }
        return;
    }
    if (!(address & 0x80) && cpu->cycle < LIMIT) {
        if (chip == 2) { /* WSYNC */
            cpu->cycle = (cpu->cycle + 75) / 76 * 76;
            return;
        }
        if (SAME(chip) == value)
            return;
        if (chip >= 6 && chip <= 9 && !m[AT_DRAWING]) { /* COLUP0 to COLUBK */
            m[AT_COLOUR + chip - 6] = value & 0xFE;
            SAME(chip) = value;
            return;
        }
    }
    if (__builtin_constant_p(address) && !(address & 0x80) && cpu->cycle < LIMIT && KNOWN >> chip & 1) {
        chips.poke[chip](m, value, cpu->cycle);
        return;
    }
    cpu->cycle = chips.write(m, rom, address, value, cpu->cycle);
    cpu->event |= m[AT_DONE];
}

static void forget_same(Console* m) {
    for (int i = 0; i < 64; i++)
        SAME(i) = 256;
}

/* A loop that reads INTIM until it is 0, or until it is negative, all but the last turn: the number of turns.
last: 0 or -1, the value that ends it; first: cycle of the first read; turn: cycles of a turn; most: turns at most. */
INLINE int waiting(Console* m, int last, int first, int turn, int most) {
    int shift = m[AT_SHIFT], set = FIELD(int32_t, AT_TIMER_SET), end = set + 1 + ((m[AT_TIMER] - 1 - last) << shift);
    int turns = (end - first + turn - 1) / turn;
    if (last < 0 && m[AT_TIMER] - 1 - ((first - set - 1) >> shift) > 127)
        return 0; /* bit 7 is set from the start */
    return shift < 3 || turns < 0 ? 0 : turns < most ? turns : most;
}
