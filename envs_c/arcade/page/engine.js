/* The games in a browser or in node: `Game` is N environments of one game, in one WebAssembly instance.
 *
 *     const about = await (await fetch("games/pong.json")).json();
 *     const game = await Game.create("games/pong.wasm", about, { count: 1, frameSkip: 4, options: { points: 5 } });
 *     game.reset(7);                       // as envs_c.make("pong", 1, seed=7, points=5).reset(): the same bits
 *     game.step([2]);                      // one action for each environment; actions are numbers of about.actions
 *     game.reward[0]; game.terminated[0];  // views of the instance's memory: the next call writes over them
 *     context.putImageData(new ImageData(game.picture(0), about.screen[0], about.screen[1]), 0, 0);
 *
 * The step after an episode's end begins a new episode; it ignores the action (autoreset "next_step" of envs_c.make).
 * Errors are RangeError or TypeError, one line each. envs_c/arcade/build.py makes the two files of a game.
 */

import { check, checkSeed, complete, randomSeed } from "./settings.js";

/**
 * The description of a game: NAME.json.
 * @typedef {object} About
 * @property {string} name
 * @property {string} title
 * @property {string} summary
 * @property {number} version of the rules
 * @property {string[]} actions names in their order, under the default options
 * @property {number[]} featureShape under the default options
 * @property {"float32"|"uint8"} featureDtype
 * @property {{name: string, low: number|null, high: number|null, count: number, help: string}[]} features rows in the order of
 *     the vector, under the default options; null is unbounded, [] undescribed
 * @property {[number, number]} screen width and height in pixels
 * @property {number} frameSkip the default
 * @property {number} fps frames a second
 * @property {number|null} timeLimit the default, in steps
 * @property {Object<string, Option>} options in their order
 * @property {Object<string, {picture: boolean}>} views what an observation can show, by the name of the view; the default first
 * @property {Object<string, Object<string, {actions: string[], featureShape: number[]}>>} variants by option and value: the
 *     actions and features where they differ from the default's
 * @property {boolean} hasActionMask some actions are illegal at times
 * @property {boolean} hasLives
 * @property {number} capacity the most environments of one instance
 * @property {boolean} [cartridge] the game is a file of the user's own (console.js)
 */

/** @typedef {{default: number, low: number, high: number, help: string, integer: boolean, values?: number[]}} Option values:
 *     those that it may have, if not all */

/**
 * Settings, all optional; those of `envs_c.make`.
 * @typedef {object} Settings
 * @property {number} [count] environments; 1
 * @property {string} [view] the content of `observation`: one of `About.views`, or the first
 * @property {number} [frameSkip] frames of a step; the game's own
 * @property {number} [sticky] probability that a frame repeats the last action; 0
 * @property {number} [noopMax] most frames of NOOP after a reset; 0
 * @property {number|null} [timeLimit] steps of an episode; the game's own; 0 or null is none
 * @property {Object<string, number>} [options] of the game
 */

/** @typedef {Float32Array|Uint8Array} Numbers */

const SMALL = 84; // rows and columns of the grey picture

/**
 * The exports of a game's instance: envs_c/arcade/shim.h.
 * @typedef {object} Exports
 * @property {WebAssembly.Memory} memory
 * @property {() => void} [_initialize]
 * @property {(place: number) => number} address
 * @property {() => number} state_bytes
 * @property {(count: number, seed: bigint, pixels: number, actions: number, features: number, frameSkip: number,
 *     sticky: number, noopMax: number, timeLimit: number) => void} setup
 * @property {(i: number, seed: bigint, index: bigint) => void} seed
 * @property {() => void} step
 * @property {(i: number, pixels: number) => void} look
 * @property {(i: number) => void} reset
 * @property {(i: number) => void} draw
 * @property {(i: number) => number} score
 * @property {(i: number) => number} length
 * @property {(i: number) => number} over
 * @property {(i: number) => void} save
 * @property {(i: number) => number} restore
 */

/** The order of `address` in shim.h. */
const PLACES = ["observation", "reward", "terminated", "truncated", "actionMask", "lives", "ended", "endedScore", "endedLength",
  "actions", "options", "state", "view", "rgba"];

/** @param {string|URL|BufferSource|WebAssembly.Module} source @returns {Promise<WebAssembly.Module>} */
async function moduleOf(source) {
  if (source instanceof WebAssembly.Module) return source;
  if (!(typeof source === "string" || source instanceof URL)) return WebAssembly.compile(source);
  const answer = await fetch(source);
  if (!answer.ok) throw new TypeError(`${source} cannot be read: ${answer.status} ${answer.statusText}`);
  return WebAssembly.compile(await answer.arrayBuffer());
}

export class Game {
  /**
   * @param {string|URL|BufferSource|WebAssembly.Module} source a game's .wasm; the module can make more instances
   * @param {About} about
   * @param {Settings} [settings]
   * @returns {Promise<Game>} environments before their first reset
   */
  static async create(source, about, settings = {}) {
    const module = await moduleOf(source);
    return new Game(module, await WebAssembly.instantiate(module, {}), about, settings);
  }

  /** @type {Exports} */ #wasm;
  /** @type {Object<string, number>} addresses of the data in the memory */ #at = {};
  /** @type {number} bytes of an environment's state */ #stateBytes;
  /** @type {boolean} */ #started = false;
  /** @type {Int32Array} */ #actions;
  /** @type {Uint8ClampedArray} */ #rgba;

  /** @type {About} */ about;
  /** @type {WebAssembly.Module} for more instances: `Game.create(game.module, game.about, ...)` */ module;
  /** @type {Required<Settings>} as completed with the defaults */ settings;
  /** @type {string[]} names of the actions under these options */ actions = [];
  /** @type {number[]} shape of one observation: [118], or [84, 84] of a picture */ shape = [];
  /** @type {number} numbers of one observation */ size = 0;
  /** @type {number} features of one environment */ featureSize = 0;
  /** @type {number} environments */ count = 1;

  // The results of the last call, one row for each environment.
  /** @type {Numbers} (count * size) */ observation = new Float32Array(0);
  /** @type {Float32Array} (count) the raw reward */ reward = new Float32Array(0);
  /** @type {Float32Array} (count) 0 or 1 */ terminated = new Float32Array(0);
  /** @type {Float32Array} (count) 0 or 1: the time limit */ truncated = new Float32Array(0);
  /** @type {Uint8Array|null} (count * actions.length) 1 for each legal action; null if all are legal */ actionMask = null;
  /** @type {Int32Array|null} (count) lives left; null in a game without */ lives = null;
  /** @type {Uint8Array} (count) 1 if the last step ended an episode, with: */ ended = new Uint8Array(0);
  /** @type {Float64Array} (count) its score */ endedScore = new Float64Array(0);
  /** @type {Int32Array} (count) its steps */ endedLength = new Int32Array(0);

  /**
   * `Game.create` calls it.
   * @param {WebAssembly.Module} module
   * @param {WebAssembly.Instance} instance
   * @param {About} about
   * @param {Settings} settings
   */
  constructor(module, instance, about, settings) {
    this.module = module;
    this.about = about;
    this.#wasm = /** @type {Exports} */ (/** @type {unknown} */ (instance.exports));
    this.#wasm._initialize?.();
    PLACES.forEach((name, place) => { this.#at[name] = this.#wasm.address(place); });
    this.#stateBytes = this.#wasm.state_bytes();
    const [width, height] = about.screen;
    this.#rgba = new Uint8ClampedArray(this.#wasm.memory.buffer, this.#at.rgba, 4 * width * height);
    this.settings = complete(about, settings);
    this.#actions = new Int32Array(0);
    this.#setUp();
  }

  /** Set up the environments under `settings`. */
  #setUp() {
    const { count, view, options, frameSkip, sticky, noopMax, timeLimit } = this.settings, about = this.about;
    const { picture } = about.views[view];
    const buffer = this.#wasm.memory.buffer, at = this.#at;
    new Float64Array(buffer, at.options, Object.keys(options).length).set(Object.values(options));
    let variant = { actions: about.actions, featureShape: about.featureShape };
    for (const [name, values] of Object.entries(about.variants)) variant = values[options[name]] ?? variant;
    const features = variant.featureShape.reduce((product, length) => product * length, 1);
    this.#wasm.setup(count, randomSeed(), Number(picture), variant.actions.length, features, frameSkip, sticky,
      noopMax, timeLimit ?? 0);
    this.#started = false;
    this.actions = variant.actions;
    this.count = count;
    this.shape = picture ? [SMALL, SMALL] : variant.featureShape;
    this.size = picture ? SMALL * SMALL : features;
    this.featureSize = features;
    const bytes = picture || about.featureDtype === "uint8";
    this.observation = new (bytes ? Uint8Array : Float32Array)(buffer, at.observation, count * this.size);
    this.reward = new Float32Array(buffer, at.reward, count);
    this.terminated = new Float32Array(buffer, at.terminated, count);
    this.truncated = new Float32Array(buffer, at.truncated, count);
    this.actionMask = about.hasActionMask ? new Uint8Array(buffer, at.actionMask, count * this.actions.length) : null;
    this.lives = about.hasLives ? new Int32Array(buffer, at.lives, count) : null;
    this.ended = new Uint8Array(buffer, at.ended, count);
    this.endedScore = new Float64Array(buffer, at.endedScore, count);
    this.endedLength = new Int32Array(buffer, at.endedLength, count);
    this.#actions = new Int32Array(buffer, at.actions, count);
  }

  /**
   * Begin new episodes in all environments; environment i draws its random numbers from (seed, i).
   * @param {number|bigint|null} [seed] 0 to 2^64 - 1; null goes on with the present random numbers
   * @param {Settings} [settings] new settings; those left out stay
   */
  reset(seed = null, settings) {
    const key = seed === null ? null : checkSeed(seed);
    if (settings !== undefined) {
      const { options, ...others } = this.settings;
      this.settings = complete(this.about, { ...others, ...settings, options: { ...options, ...settings.options } });
      this.#setUp();
    }
    for (let i = 0; key !== null && i < this.count; i++) this.#wasm.seed(i, key, BigInt(i));
    this.#wasm.reset(-1);
    this.#started = true;
  }

  /**
   * Begin a new episode in one environment; it then draws from (seed, 0).
   * @param {number} index
   * @param {number|bigint|null} [seed]
   */
  resetOne(index, seed = null) {
    this.#check(index);
    if (seed !== null) this.#wasm.seed(index, checkSeed(seed), 0n);
    this.#wasm.reset(index);
  }

  /**
   * A step of all environments.
   * @param {ArrayLike<number>} actions (count)
   */
  step(actions) {
    this.#check(0);
    if (actions.length !== this.count) throw new RangeError(`actions must be ${this.count} numbers, not ${actions.length}`);
    for (let i = 0; i < this.count; i++) check(`the action of environment ${i}`, actions[i], 0, this.actions.length - 1);
    this.#actions.set(actions);
    this.#wasm.step();
  }

  /** The features of an environment, a copy.
   * @param {number} [index]
   * @returns {Numbers} */
  features(index = 0) {
    this.#check(index);
    this.#wasm.look(index, 0);
    const kind = this.about.featureDtype === "uint8" ? Uint8Array : Float32Array;
    return new kind(this.#wasm.memory.buffer, this.#at.view, this.featureSize).slice();
  }

  /** The grey picture of 84 x 84 of an environment, a copy. @param {number} [index] @returns {Uint8Array} */
  pixels(index = 0) {
    this.#check(index);
    this.#wasm.look(index, 1);
    return new Uint8Array(this.#wasm.memory.buffer, this.#at.view, SMALL * SMALL).slice();
  }

  /**
   * The screen of an environment, RGBA for ImageData. The next call of `picture` writes over it.
   * @param {number} [index]
   * @returns {Uint8ClampedArray}
   */
  picture(index = 0) {
    this.#check(index);
    this.#wasm.draw(index);
    return this.#rgba;
  }

  /** The raw return of the present episode. @param {number} [index] @returns {number} */
  score(index = 0) {
    this.#check(index);
    return this.#wasm.score(index);
  }

  /** Steps of the present episode. @param {number} [index] @returns {number} */
  length(index = 0) {
    this.#check(index);
    return this.#wasm.length(index);
  }

  /** True at an episode's end, before the step that begins the next one. @param {number} [index] @returns {boolean} */
  over(index = 0) {
    this.#check(index);
    return this.#wasm.over(index) !== 0;
  }

  /** A copy of an environment's whole state: the game, its random numbers, score and length. @param {number} [index]
   * @returns {Uint8Array} */
  save(index = 0) {
    this.#check(index);
    this.#wasm.save(index);
    return new Uint8Array(this.#wasm.memory.buffer, this.#at.state, this.#stateBytes).slice();
  }

  /**
   * Restore a state and observe it; the reward and the flags of the environment become 0. Throws a RangeError, and changes
   * nothing, if the game cannot have produced these bytes under these options.
   * @param {Uint8Array} state
   * @param {number} [index]
   */
  restore(state, index = 0) {
    this.#check(index);
    if (state.length === this.#stateBytes) {
      new Uint8Array(this.#wasm.memory.buffer, this.#at.state, this.#stateBytes).set(state);
      if (this.#wasm.restore(index)) return;
    }
    throw new RangeError(`the state must be bytes that save() returned under the same options of ${this.about.name}`);
  }

  /** Throw a RangeError for an unknown environment, or before the first reset. @param {number} index */
  #check(index) {
    check("the environment's index", index, 0, this.count - 1);
    if (!this.#started) throw new RangeError(`${this.about.name} must be reset first`);
  }
}
