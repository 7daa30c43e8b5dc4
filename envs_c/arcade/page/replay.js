/* Replays: a game, its settings, the seed and all actions as one link, which plays the same bits here and natively.
 *
 *     const recorder = new Recorder(game, 7);      // directly after game.reset(7), a game of one environment
 *     game.step([2]); recorder.add(2);
 *     location.hash = recorder.link();             // "#replay=1&game=pong&version=2&seed=7&frame_skip=4&actions=..."
 *
 *     const replay = parseLink(location.href);     // throws a RangeError that names the wrong part
 *     const game = await Game.create(`games/${replay.game}.wasm`, about, replay.settings);
 *     game.reset(replay.seed);
 *     for (const action of replay.actions) game.step([action]);
 *
 * `insertcoin replay LINK` replays it natively (envs_c/arcade/links.py has the same format in Python, and describes it).
 */

/** @typedef {import("./engine.js").Game} Game */
/** @typedef {import("./engine.js").Settings} Settings */
/** @typedef {{game: string, version: number, seed: bigint, settings: Settings, actions: number[]}} Replay */

/** @param {string} link a URL with a fragment, or the fragment; "#" may be left out @returns {Replay} */
export function parseLink(link) { throw new Error("not written yet"); }

/** The fragment of a replay, with "#". @param {Replay} replay @returns {string} */
export function formatLink(replay) { return ""; }

/** Eight hexadecimal digits over all observations, rewards and flags of a replay; `insertcoin replay` prints the same.
 * @param {Game} game of one environment, with the replay's settings @param {Replay} replay @returns {string} */
export function checksum(game, replay) { return ""; }

/** Collects the actions of a game of one environment. */
export class Recorder {
  /** @param {Game} game @param {number|bigint} seed that it was reset with */
  constructor(game, seed) {}
  /** @param {number} action of the next step */
  add(action) {}
  /** @returns {string} the fragment, with "#" */
  link() { return ""; }
}
