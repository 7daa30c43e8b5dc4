/* Replays: a game, its settings, the seed and all actions as one link, which plays the same bits here and natively.
 *
 *     game.reset(7);
 *     const recorder = new Recorder(game, 7);      // a game of one environment, directly after the reset
 *     game.step([2]);
 *     recorder.add(2);
 *     location.hash = recorder.link();             // "#replay=1&game=pong&version=1&seed=7&frame_skip=4&steps=1&actions=BgI"
 *
 *     const replay = parseLink(location.href);     // throws a RangeError that names the wrong part
 *     const game = await Game.create(`games/${replay.game}.wasm`, about, replay.settings);
 *     checkReplay(game, replay);                   // throws a RangeError if the link is of another version
 *     game.reset(replay.seed);
 *     for (const action of replay.actions) game.step([action]);
 *
 * `insertcoin replay LINK` replays it natively; envs_c/arcade/links.py describes the format.
 */

/** @typedef {import("./engine.js").Game} Game */
/** @typedef {import("./engine.js").Settings} Settings */
/**
 * @typedef {object} Replay
 * @property {string} game
 * @property {number} version of its rules
 * @property {bigint} seed
 * @property {Settings} settings
 * @property {number} numActions of the game
 * @property {number[]} actions
 */

const MOST_STEPS = 1000000;
const CUT = "it was cut off, copy it again";
/** @type {Map<string, "frameSkip"|"sticky"|"noopMax"|"timeLimit">} */
const SETTINGS = new Map([["frame_skip", "frameSkip"], ["sticky", "sticky"], ["noop_max", "noopMax"],
  ["time_limit", "timeLimit"]]);

/** @param {string} name @param {string} text @returns {number} */
function number(name, text) {
  if (/^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(text)) return Number(text);
  throw new RangeError(`${name} of the link must be a number, not ${text}`);
}

/** @param {string} link a URL with a fragment, or the fragment; "#" may be left out @returns {Replay} */
export function parseLink(link) {
  const parts = [...new URLSearchParams(link.slice(link.indexOf("#") + 1))], fields = new Map(parts);
  if (fields.get("replay") !== "1") throw new RangeError("the link must have replay=1 behind its #, as links copied here do");
  if (fields.size !== parts.length) throw new RangeError("each part of the link must stand there once: copy the link again");
  for (const name of ["game", "version", "seed", "actions"])
    if (!fields.has(name)) throw new RangeError(`the link must have ${name}=: ${CUT}`);
  /** @type {Settings & {options: Object<string, number>}} */
  const settings = { options: {} };
  for (const [name, text] of fields) {
    const setting = SETTINGS.get(name);
    if (name.startsWith("o.")) settings.options[name.slice(2)] = number(name, text);
    else if (setting) settings[setting] = number(name, text);
    else if (!["replay", "game", "version", "seed", "steps", "actions"].includes(name))
      throw new RangeError(`the link must have known parts only, not ${name}`);
  }
  const seed = fields.get("seed") ?? "";
  if (!/^\d{1,20}$/.test(seed)) throw new RangeError(`seed of the link must be an integer, not ${seed}`);
  const decoded = decode(fields.get("actions") ?? ""), steps = fields.get("steps");
  if (steps !== undefined && number("steps", steps) !== decoded.actions.length)
    throw new RangeError(`actions of the link must be ${steps} steps, not ${decoded.actions.length}: ${CUT}`);
  return {
    game: fields.get("game") ?? "", version: number("version", fields.get("version") ?? ""), seed: BigInt(seed), settings,
    ...decoded,
  };
}

/** @param {string} coded @returns {{numActions: number, actions: number[]}} */
function decode(coded) {
  if (!/^[\w-]*$/.test(coded)) throw new RangeError("actions of the link must be in base64url: the link was changed, copy it again");
  if (coded.length % 4 === 1) throw new RangeError(`actions of the link must be complete: ${CUT}`);
  const bytes = atob(coded.replaceAll("-", "+").replaceAll("_", "/"));
  const numbers = [], actions = /** @type {number[]} */ ([]);
  let value = 0, scale = 1;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes.charCodeAt(i);
    value += (byte & 127) * scale;
    scale *= 128;
    if (byte < 128) {
      numbers.push(value);
      value = 0;
      scale = 1;
    } else if (scale > 2 ** 49) throw new RangeError(`actions of the link must be at most ${MOST_STEPS} steps`);
  }
  if (scale > 1 || !numbers[0]) throw new RangeError(`actions of the link must be complete: ${CUT}`);
  const [numActions, ...runs] = numbers;
  for (const run of runs) {
    const length = Math.floor(run / numActions) + 1;
    if (actions.length + length > MOST_STEPS) throw new RangeError(`actions of the link must be at most ${MOST_STEPS} steps`);
    for (let k = 0; k < length; k++) actions.push(run % numActions);
  }
  return { numActions, actions };
}

/** @param {number} numActions @param {number[]} actions @returns {string} */
function encode(numActions, actions) {
  let text = "";
  /** @param {number} value */
  const add = (value) => {
    for (; value > 127; value = Math.floor(value / 128)) text += String.fromCharCode(value % 128 + 128);
    text += String.fromCharCode(value);
  };
  add(numActions);
  for (let first = 0, end = 0; first < actions.length; first = end) {
    while (end < actions.length && actions[end] === actions[first]) end++;
    add((end - first - 1) * numActions + actions[first]);
  }
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** The fragment of a replay, with "#". @param {Replay} replay @returns {string} */
export function formatLink({ game, version, seed, settings, numActions, actions }) {
  const fields = new URLSearchParams({ replay: "1", game, version: String(version), seed: String(seed) });
  for (const [name, key] of SETTINGS) if (settings[key] != null) fields.set(name, String(settings[key]));
  for (const [name, value] of Object.entries(settings.options ?? {})) fields.set(`o.${name}`, String(value));
  fields.set("steps", String(actions.length)); // shows that a link was cut off inside its actions
  fields.set("actions", encode(numActions, actions));
  return `#${fields}`;
}

/** Throw a RangeError if a game cannot play the replay. @param {Game} game created with its settings @param {Replay} replay */
export function checkReplay(game, replay) {
  const { name, version } = game.about;
  if (name !== replay.game || version !== replay.version)
    throw new RangeError(`the link is of ${replay.game} version ${replay.version}, but this is ${name} version ${version}`);
  if (game.actions.length !== replay.numActions)
    throw new RangeError(`the link must be of a game with ${game.actions.length} actions, not ${replay.numActions}`);
}

/** Eight hexadecimal digits over all features, rewards and flags of a replay; `insertcoin replay` prints the same.
 * @param {Game} game of one environment, with the replay's settings; it is played to the end
 * @param {Replay} replay
 * @returns {string} */
export function checksum(game, replay) {
  checkReplay(game, replay);
  game.reset(replay.seed);
  let sum = crc32(game.features(), 0);
  for (const action of replay.actions) {
    game.step([action]);
    for (const output of [game.features(), game.reward, game.terminated, game.truncated]) sum = crc32(output, sum);
  }
  return sum.toString(16).padStart(8, "0");
}

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  for (let bit = 0; bit < 8; bit++) byte = byte & 1 ? 0xedb88320 ^ byte >>> 1 : byte >>> 1;
  return byte;
});

/** @param {Float32Array|Uint8Array} array @param {number} before @returns {number} */
function crc32(array, before) {
  const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
  let sum = ~before;
  for (const byte of bytes) sum = TABLE[(sum ^ byte) & 255] ^ sum >>> 8;
  return ~sum >>> 0;
}

/** Collects the actions of a game of one environment. */
export class Recorder {
  /** @type {number[]} */ actions = [];

  /** @param {Game} game @param {number|bigint} seed that it was reset with */
  constructor(game, seed) {
    this.game = game;
    this.seed = BigInt(seed);
  }

  /** True if a link holds no more steps; later ones are left out. */
  get full() { return this.actions.length >= MOST_STEPS; }

  /** @param {number} action of a step */
  add(action) {
    if (!this.full) this.actions.push(action);
  }

  /** @returns {Replay} the actions until now */
  replay() {
    const { about, settings, actions } = this.game, { frameSkip, sticky, noopMax, timeLimit } = settings;
    const changed = Object.entries(settings.options).filter(([name, value]) => value !== about.options[name].default);
    return {
      game: about.name, version: about.version, seed: this.seed, numActions: actions.length, actions: [...this.actions],
      settings: {
        frameSkip, timeLimit, options: Object.fromEntries(changed), sticky: sticky || undefined, noopMax: noopMax || undefined,
      },
    };
  }

  /** @returns {string} the fragment of a link, with "#" */
  link() {
    return formatLink(this.replay());
  }
}
