/* The console in a browser or in node: a cartridge from a file of the user's own, whose bytes stay in this page.
 *
 *     const table = await (await fetch("console/cartridges.json")).json();
 *     const cartridge = readCartridge(new Uint8Array(await file.arrayBuffer()), table);
 *     const game = await openCartridge(module, cartridge, { count: 1 });   // a Game of engine.js: the same bits as natively
 *
 * envs_c/arcade/cartridges.py makes console.wasm and the table.
 */

import { Game } from "./engine.js";
import { md5 } from "./md5.js";

/** @typedef {import("./engine.js").About} About */
/** @typedef {import("./engine.js").Settings} Settings */

/**
 * A game of the table.
 * @typedef {object} Row
 * @property {string|null} name ALE's; null for files that are not in the table
 * @property {string|null} title
 * @property {string} kind of the cartridge; "" if its bytes tell
 * @property {number[]} actions numbers of `Table.about.actions`
 * @property {number[]} modes
 * @property {number[]} difficulties
 * @property {number} height rows of the screen
 * @property {boolean} lives
 * @property {[number, string][]} facts the struct Facts of envs_c/console/state.pxd: places and base64 of the parts that are not 0
 */

/**
 * @typedef {object} Table
 * @property {About} about of a cartridge with all 18 actions
 * @property {Object<string, [number, number, number]>} kinds of cartridges: number, first address that switches banks, first
 *     address that only reads the ROM
 * @property {Row} unknown for files that are not in the table
 * @property {Object<string, Row>} games by the MD5 digest of the file
 * @property {string[]} agents names of the games that have an agent on this page
 */

/**
 * @typedef {object} Cartridge
 * @property {About} about
 * @property {Uint8Array} rom 2, 4, 8, 10, 16 or 32 KB
 * @property {[number, number, number]} kind
 * @property {[number, string][]} facts
 * @property {number} key by which the console knows it: 48 bits of the digest
 * @property {boolean} known in the table, so that it has rewards
 */

/**
 * The exports of the console's instance beside those of a game: envs_c/arcade/cartridge.h.
 * @typedef {object} Slot
 * @property {WebAssembly.Memory} memory
 * @property {() => number} cartridge_bytes
 * @property {() => number} cartridge_facts
 * @property {(size: number, kind: number, hot: number, plain: number, key: number) => void} insert
 */

const SIZES = [2048, 4096, 8192, 16384, 32768], LARGEST = 32768;
const BANK = 4096, PORTS = 256; // bytes; PORTS to write and to read a cartridge's own RAM
const DPC = 10240, DPC_MOST = 10496; // bytes of a DPC cartridge that are used, and of its file at most
/** @type {Object<number, string>} kinds by the size of the ROM */
const KINDS = { 8192: "F8", 16384: "F6", 32768: "F4" };
/** instructions with a whole address */
const ABSOLUTE = new Set([0x0c, 0x2c, 0x8c, 0x8d, 0x8e, 0xac, 0xad, 0xae, 0xcc, 0xcd, 0xce]);

/** The kind of a cartridge of 8 KB; as `kind_of_8k` of envs_c/console/cartridges.py. @param {Uint8Array} rom @returns {string} */
function kindOf8k(rom) {
  let slices = 0, banks = 0, stores = 0, switches = 0;
  for (let at = 0; at < rom.length - 2; at++) {
    const address = (rom[at + 1] | (rom[at + 2] << 8)) & 0x1fff;
    if (!ABSOLUTE.has(rom[at])) continue;
    if (address >= 0x1fe0 && address <= 0x1ff7) slices++;
    if (address >= 0x1ff8 && address <= 0x1ff9) banks++;
  }
  for (let at = 0; at < rom.length - 1; at++) {
    if (rom[at] === 0x85 && rom[at + 1] === 0x3f) stores++;
    if (rom[at] === 0x8d && rom[at + 1] === 0x40 && rom[at + 2] === 0x02) switches++;
  }
  if (slices > banks + 2) return "E0";
  if (banks === 0 && stores > 1) return "3F";
  return banks === 0 && switches > 0 ? "UA" : "F8";
}

/** The bytes repeated to 2 KB or filled up, and the kind of cartridge; as `filled` of envs_c/console/cartridges.py.
 * @param {Uint8Array} bytes @param {string} given @returns {{rom: Uint8Array, kind: string}} */
function filled(bytes, given) {
  if (given === "DPC" || (!given && bytes.length >= DPC && bytes.length <= DPC_MOST)) {
    const rom = new Uint8Array(DPC);
    rom.set(bytes.subarray(0, DPC));
    return { rom, kind: "DPC" };
  }
  const size = SIZES.find((each) => bytes.length <= each) ?? LARGEST, rom = new Uint8Array(size);
  for (let at = 0; at < (size === SIZES[0] ? size : 1); at += bytes.length) rom.set(bytes.subarray(0, size - at), at);
  const kind = size === 2 * BANK ? kindOf8k(rom) : KINDS[size] ?? "plain";
  if (given || !Object.values(KINDS).includes(kind)) return { rom, kind: given || kind };
  for (let bank = 0; bank < size; bank += BANK)
    for (let k = bank; k < bank + PORTS; k++) if (rom[k] !== rom[bank]) return { rom, kind };
  return { rom, kind: `${kind}SC` };
}

/** An option that must be one of these numbers. @param {import("./engine.js").Option} option @param {number[]} values */
const choice = (option, values) => ({ ...option, default: values[0], low: values[0], high: values[values.length - 1], values });

/** Throw a RangeError for a file that is empty or too large. @param {number} size in bytes */
export function checkSize(size) {
  if (!(size >= 1 && size <= LARGEST)) throw new RangeError(`a cartridge must be a file of 1 to ${LARGEST} bytes, not ${size}`);
}

/**
 * @param {Uint8Array} bytes of the file
 * @param {Table} table
 * @returns {Cartridge}
 * Throws a RangeError for a file that is empty or too large.
 */
export function readCartridge(bytes, table) {
  checkSize(bytes.length);
  const digest = md5(bytes), row = table.games[digest] ?? table.unknown, known = row.name !== null;
  const { rom, kind } = filled(bytes, row.kind), all = table.about.actions, options = table.about.options;
  const title = row.title ?? `Unknown cartridge ${digest.slice(0, 6)}`;
  return {
    rom, kind: table.kinds[kind], facts: row.facts, known, key: parseInt(digest.slice(0, 12), 16),
    about: {
      ...table.about, title, name: `atari_${row.name ?? `rom_${digest.slice(0, 12)}`}`,
      summary: `${title}, from your file, which stays in this page. There is no sound.`
        + (known ? "" : " The file is not in the table of games: there are no scores, lives and ends."),
      actions: row.actions.map((number) => all[number]), screen: [table.about.screen[0], row.height], hasLives: row.lives,
      cartridge: true,
      options: { ...options, mode: choice(options.mode, row.modes), difficulty: choice(options.difficulty, row.difficulties) },
      variants: { full_action_space: { 1: { actions: all, featureShape: table.about.featureShape } } },
    },
  };
}

/**
 * Environments that play a cartridge, in an instance of their own.
 * @param {WebAssembly.Module} module console.wasm
 * @param {Cartridge} cartridge
 * @param {Settings} [settings]
 * @returns {Promise<Game>}
 */
export async function openCartridge(module, cartridge, settings = {}) {
  const instance = await WebAssembly.instantiate(module, {}), { rom, kind, facts, key } = cartridge;
  const slot = /** @type {Slot} */ (/** @type {unknown} */ (instance.exports));
  const memory = new Uint8Array(slot.memory.buffer), place = slot.cartridge_facts();
  memory.set(rom, slot.cartridge_bytes());
  for (const [at, text] of facts) memory.set(Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)), place + at);
  slot.insert(rom.length, ...kind, key);
  return new Game(module, instance, cartridge.about, settings);
}
