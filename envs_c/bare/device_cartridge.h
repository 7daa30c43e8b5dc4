/* The console's cartridge on a GPU, for device.h: one a module, which the host inserts before all else. */

static BARE_Rom device_rom;

/* For one thread: insert a cartridge.
   rom: (size,) its bytes; facts, power: sizeof(Facts) and sizeof(PowerOn) bytes; loaded: the bytes of a console after ALE's
   loadROM. rom and loaded stay in use.
   rooms: memory in which the blocks of `draw` paint pictures, sizeof(Room) bytes for each; NULL for features.
   kind, hot, plain, key: as in Rom (envs_c/console/state.pxd). */
__global__ void insert(uint8_t *rom, const uint8_t *facts, const uint8_t *power, char *loaded, char *rooms, long long size,
                       long long kind, long long hot, long long plain, long long key) {
    device_rom.bytes = rom;
    device_rom.size = (int)size;
    device_rom.kind = (int)kind;
    device_rom.hot = (int)hot;
    device_rom.plain = (int)plain;
    device_rom.key = (uint64_t)key;
    __builtin_memcpy(&device_rom.facts, facts, sizeof device_rom.facts);
    __builtin_memcpy(&device_rom.power, power, sizeof device_rom.power);
    BARE_cartridges[0] = &device_rom;
    BARE_loaded[0] = (BARE_state *)loaded;
    BARE_cartridge_count = 1;
#ifdef __NVPTX__
    console_rooms = rooms;
#endif
}
