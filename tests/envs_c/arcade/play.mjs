// node play.mjs FOLDER GAME SEED SETTINGS [ROM]: reads actions (steps * count int32), and writes all outputs of the reset and of
// each step in the order in which play_core of tests/support/support.py hashes them; then the coloured pictures. ROM: the file of
// a cartridge for the console in FOLDER; GAME is then the name that it must have.
import assert from "node:assert/strict";
import { readFileSync, writeSync } from "node:fs";
import { openCartridge, readCartridge } from "../../../envs_c/arcade/page/console.js";
import { Game } from "../../../envs_c/arcade/page/engine.js";

const [folder, name, seed, settings, rom] = process.argv.slice(2);

/** @param {string} path @returns {Promise<Game>} */
async function withCartridge(path) {
  const cartridge = readCartridge(readFileSync(path), JSON.parse(readFileSync(`${folder}/cartridges.json`, "utf8")));
  assert.equal(cartridge.about.name, name);
  return openCartridge(await WebAssembly.compile(readFileSync(`${folder}/console.wasm`)), cartridge, JSON.parse(settings));
}

const game = rom ? await withCartridge(rom) : await Game.create(readFileSync(`${folder}/${name}.wasm`),
  JSON.parse(readFileSync(`${folder}/${name}.json`, "utf8")), JSON.parse(settings));
const input = readFileSync(0);
const actions = new Int32Array(input.buffer, input.byteOffset, input.length / 4);

/** @param {ArrayBufferView} array */
function write(array) {
  const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
  for (let at = 0; at < bytes.length;) {
    try {
      at += writeSync(1, bytes.subarray(at));
    } catch (error) {
      if (error.code !== "EAGAIN") throw error;
    }
  }
}

function writeOutputs() {
  for (const array of [game.observation, game.reward, game.terminated, game.truncated]) write(array);
  write(game.actionMask ?? new Uint8Array(game.count * game.actions.length));
}

game.reset(BigInt(seed));
writeOutputs();
for (let step = 0; step < actions.length / game.count; step++) {
  game.step(actions.subarray(step * game.count, (step + 1) * game.count));
  writeOutputs();
  write(game.endedScore.filter((_, i) => game.ended[i]));
  write(game.endedLength.filter((_, i) => game.ended[i]));
}
for (let i = 0; i < game.count; i++) write(game.picture(i).filter((_, k) => k % 4 !== 3));
