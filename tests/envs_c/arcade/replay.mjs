// node replay.mjs FOLDER LINK: replays a link; prints its checksum, then the same replay as a link again.
// node replay.mjs FOLDER GAME SEED SETTINGS: plays the actions in standard input, a JSON list, while a Recorder records them;
// prints the link. Errors are printed as their name and message.
import { readFileSync } from "node:fs";
import { Game } from "../../../envs_c/arcade/page/engine.js";
import { Recorder, checksum, formatLink, parseLink } from "../../../envs_c/arcade/page/replay.js";

const [folder, name, seed, settings] = process.argv.slice(2);
/** @param {string} game @param {object} given */
const create = (game, given) => Game.create(readFileSync(`${folder}/${game}.wasm`),
  JSON.parse(readFileSync(`${folder}/${game}.json`, "utf8")), given);
try {
  if (seed === undefined) {
    const replay = parseLink(name);
    console.log(checksum(await create(replay.game, replay.settings), replay));
    console.log(formatLink(replay));
  } else {
    const game = await create(name, JSON.parse(settings));
    game.reset(BigInt(seed));
    const recorder = new Recorder(game, BigInt(seed));
    for (const action of JSON.parse(readFileSync(0, "utf8"))) {
      game.step([action]);
      recorder.add(action);
    }
    console.log(recorder.link());
  }
} catch (error) {
  console.log(`${error.name}: ${error.message}`);
}
