// node cartridges.mjs FOLDER: files and settings that a page must refuse, and what an unknown cartridge is.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { openCartridge, readCartridge } from "../../../envs_c/arcade/page/console.js";

const [folder] = process.argv.slice(2);
const table = JSON.parse(readFileSync(`${folder}/cartridges.json`, "utf8"));
const module = await WebAssembly.compile(readFileSync(`${folder}/console.wasm`));

for (const size of [0, 32769])
  assert.throws(() => readCartridge(new Uint8Array(size), table),
    { name: "RangeError", message: `a cartridge must be a file of 1 to 32768 bytes, not ${size}` });

const random = Uint8Array.from({ length: 5000 }, (_, k) => (k * k * 31) >> 3), unknown = readCartridge(random, table);
assert.deepEqual([unknown.known, unknown.about.hasLives, unknown.about.actions.length, unknown.rom.length], [false, false, 18, 8192]);
assert.match(unknown.about.summary, /not in the table of games/);
assert.match(unknown.about.summary, /There is no sound/);
const game = await openCartridge(module, unknown, { count: 2 });
game.reset(1);
for (let step = 0; step < 50; step++) game.step([step % 18, 0]);
assert.deepEqual([game.score(), game.features().length, game.picture().length], [0, 128, 4 * 160 * 210]);
const state = game.save(), later = () => { game.step([3, 3]); return game.features(); }, after = later();
game.restore(state);
assert.deepEqual(later(), after);
state[48 + 20] ^= 255; // the cartridge's slices or what is near them: any bytes are refused or safe
try { game.restore(state); } catch (error) { assert.equal(error.name, "RangeError"); }
for (let step = 0; step < 50; step++) game.step([step % 18, 0]);

for (const mode of [1, 256])
  await assert.rejects(openCartridge(module, unknown, { options: { mode } }), { name: "RangeError", message: /option mode of atari_rom_/ });
