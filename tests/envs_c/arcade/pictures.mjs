// node pictures.mjs FOLDER CARTRIDGE STEPS: throws unless an agent that plays frame by frame sees the pictures of its training,
// whose steps have four frames.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { openCartridge, readCartridge } from "../../../envs_c/arcade/page/console.js";
import { Machine } from "../../../envs_c/arcade/page/ui/players.js";

const [folder, path, steps] = process.argv.slice(2), SKIP = 4;
const table = JSON.parse(readFileSync(`${folder}/cartridges.json`, "utf8"));
const module = await WebAssembly.compile(readFileSync(`${folder}/console.wasm`));
const cartridge = readCartridge(new Uint8Array(readFileSync(path)), table);
const trained = await openCartridge(module, cartridge, { view: "pixels", frameSkip: SKIP });
const watched = await openCartridge(module, cartridge, { view: "pixels", frameSkip: 1 });
const machine = new Machine({ about: { num_actions: trained.actions.length }, memory: () => ({}) }, SKIP);
let seen = [], step = 0;
machine.agent = {
  act(game, observation) { // a new picture for each step, and another action
    seen = Array.from(observation);
    return [(step * 7) % game.actions.length];
  },
  restart() {},
};
trained.reset(1);
watched.reset(1);
for (; step < Number(steps); step++) {
  for (let frame = 0; frame < SKIP; frame++) watched.step([machine.choose(watched)]);
  assert.deepEqual(seen, Array.from(trained.observation), `step ${step}`);
  trained.step([(step * 7) % trained.actions.length]);
}
