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
 * @property {Object<string, Object<string, {actions: string[], featureShape: number[]}>>} variants by option and value: the
 *     actions and features where they differ from the default's
 * @property {boolean} hasMask some actions are illegal at times
 * @property {boolean} hasLives
 * @property {number} capacity the most environments of one instance
 */

/** @typedef {{default: number, low: number, high: number, help: string, integer: boolean}} Option */

/**
 * Settings, all optional; those of `envs_c.make`.
 * @typedef {object} Settings
 * @property {number} [count] environments; 1
 * @property {"features"|"pixels"} [view] the content of `observation`; "features"
 * @property {number} [frameSkip] frames of a step; the game's own
 * @property {number} [sticky] probability that a frame repeats the last action; 0
 * @property {number} [noopMax] most frames of NOOP after a reset; 0
 * @property {number|null} [timeLimit] steps of an episode; the game's own; 0 or null is none
 * @property {Object<string, number>} [options] of the game
 */

/** @typedef {Float32Array|Uint8Array} Numbers */

export class Game {
  /**
   * @param {string|URL|BufferSource|WebAssembly.Module} source a game's .wasm; the module can make more instances
   * @param {About} about
   * @param {Settings} [settings]
   * @returns {Promise<Game>} environments before their first reset
   */
  static async create(source, about, settings = {}) { throw new Error("not written yet"); }

  /** @type {About} */ about;
  /** @type {WebAssembly.Module} for more instances: `Game.create(game.module, game.about, ...)` */ module;
  /** @type {Required<Settings>} */ settings;
  /** @type {string[]} names of the actions under these options */ actions = [];
  /** @type {number[]} shape of one observation: [118], or [84, 84] under view "pixels" */ shape = [];
  /** @type {number} numbers of one observation */ size = 0;
  /** @type {number} environments */ count = 1;

  // The results of the last call, one row for each environment.
  /** @type {Numbers} (count * size) */ observation = new Float32Array(0);
  /** @type {Float32Array} (count) the raw reward */ reward = new Float32Array(0);
  /** @type {Float32Array} (count) 0 or 1 */ terminated = new Float32Array(0);
  /** @type {Float32Array} (count) 0 or 1: the time limit */ truncated = new Float32Array(0);
  /** @type {Uint8Array|null} (count * actions.length) 1 for each legal action; null if all are legal */ mask = null;
  /** @type {Int32Array|null} (count) lives left; null in a game without */ lives = null;
  /** @type {Uint8Array} (count) 1 if the last step ended an episode, with: */ ended = new Uint8Array(0);
  /** @type {Float64Array} (count) its score */ endedScore = new Float64Array(0);
  /** @type {Int32Array} (count) its steps */ endedLength = new Int32Array(0);

  /**
   * Begin new episodes in all environments; environment i draws its random numbers from (seed, i).
   * @param {number|bigint|null} [seed] 0 to 2^64 - 1; null goes on with the present random numbers
   * @param {Settings} [settings] new settings; those left out stay
   */
  reset(seed = null, settings) {}

  /**
   * Begin a new episode in one environment; it then draws from (seed, 0).
   * @param {number} index
   * @param {number|bigint|null} [seed]
   */
  resetOne(index, seed = null) {}

  /**
   * A step of all environments.
   * @param {ArrayLike<number>} actions (count)
   */
  step(actions) {}

  /** The features of an environment, a copy. @param {number} [index] @returns {Numbers} */
  features(index = 0) { return new Float32Array(0); }

  /** The grey picture of 84 x 84 of an environment, a copy. @param {number} [index] @returns {Uint8Array} */
  pixels(index = 0) { return new Uint8Array(0); }

  /**
   * The screen of an environment, RGBA for ImageData. The next call of `picture` writes over it.
   * @param {number} [index]
   * @returns {Uint8ClampedArray}
   */
  picture(index = 0) { return new Uint8ClampedArray(0); }

  /** The raw return of the present episode. @param {number} [index] @returns {number} */
  score(index = 0) { return 0; }

  /** Steps of the present episode. @param {number} [index] @returns {number} */
  length(index = 0) { return 0; }

  /** True at an episode's end, before the step that begins the next one. @param {number} [index] @returns {boolean} */
  over(index = 0) { return false; }

  /** A copy of an environment's whole state: the game, its random numbers, score and length. @param {number} [index]
   * @returns {Uint8Array} */
  save(index = 0) { return new Uint8Array(0); }

  /**
   * Restore a state and observe it; the reward and the flags of the environment become 0. Throws a RangeError, and changes
   * nothing, if the game cannot have produced these bytes under these options.
   * @param {Uint8Array} state
   * @param {number} [index]
   */
  restore(state, index = 0) {}
}
