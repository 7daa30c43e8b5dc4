/* The cartridge of a console in a browser, on top of shim.h. page/console.js writes the file's bytes and the game's Facts to
 * their addresses, calls `insert` once, and then plays as any game. No file is in here: the bytes come from the page's user.
 */

#define CARTRIDGE_MOST 32768 /* LARGEST of envs_c/console/cartridges.py */

static uint8_t cartridge_bytes[CARTRIDGE_MOST];
static BARE_Rom cartridge;
static BARE_state cartridge_loaded;

EXPORT(cartridge_bytes) const void *arcade_cartridge_bytes(void) { return cartridge_bytes; }
EXPORT(cartridge_facts) const void *arcade_cartridge_facts(void) { return &cartridge.facts; }

/* Insert the cartridge, as `insert` of envs_c/console/console.pyx. key: its first option, an integer below 2^53. */
EXPORT(insert) void arcade_insert(int size, int kind, int hot, int plain, double key) {
    cartridge.bytes = cartridge_bytes;
    cartridge.size = size;
    cartridge.kind = kind;
    cartridge.hot = hot;
    cartridge.plain = plain;
    cartridge.key = (uint64_t)key;
    bare_options[0] = key;
    BARE_load(&cartridge, &cartridge_loaded);
}
