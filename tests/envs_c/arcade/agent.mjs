// node agent.mjs FOLDER AGENTS GAME STEPS SEED: the game's agent plays 8 environments; prints the mean of their scores: of the
// first episode if it has ended, else of the present one.
import { readFileSync } from "node:fs";
import { Game } from "../../../envs_c/arcade/page/engine.js";
import { Agent, Policy } from "../../../envs_c/arcade/page/policy.js";

const [folder, agents, name, steps, seed] = process.argv.slice(2), COUNT = 8;
const bytes = readFileSync(`${agents}/${name}.safetensors`);
const policy = Policy.parse(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
const about = JSON.parse(readFileSync(`${folder}/${name}.json`, "utf8"));
const game = await Game.create(readFileSync(`${folder}/${name}.wasm`), about, policy.settings({ count: COUNT }));
const agent = new Agent(policy, COUNT, Number(seed)), scores = new Array(COUNT).fill(null);
game.reset(Number(seed));
for (let step = 0; step < Number(steps); step++) {
  game.step(agent.act(game));
  for (let i = 0; i < COUNT; i++) if (game.ended[i]) scores[i] ??= game.endedScore[i];
}
console.log(scores.reduce((sum, score, i) => sum + (score ?? game.score(i)), 0) / COUNT);
