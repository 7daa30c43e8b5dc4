/* A trained agent in a browser or in node: the policy in a safetensors file of `insertcoin export`, and its play.
 *
 *     const policy = Policy.parse(await (await fetch("agents/pong.safetensors")).arrayBuffer());
 *     const game = await Game.create("games/pong.wasm", about, policy.settings({ count: 1 }));
 *     const agent = new Agent(policy, 1, 7);
 *     game.reset(7);
 *     for (;;) game.step(agent.act(game));   // also: agent.probabilities, agent.values, agent.logits
 *
 * The weights may be float32, float16 or bfloat16; the arithmetic is that of trainer/export/graph.py. Actions are sampled as
 * in the trainer (trainer/kernels/rows.h): the random number of a step depends on (seed, environment, step) only.
 */

/** @typedef {import("./engine.js").Game} Game */
/** @typedef {import("./engine.js").Settings} Settings */

/**
 * The header of the file; see trainer/export/weights.py.
 * @typedef {object} PolicyAbout
 * @property {string} game
 * @property {Object<string, any>} env view, frame_skip, sticky, noop_max, time_limit
 * @property {Object<string, number>} options of the game
 * @property {number[]} observation_shape
 * @property {number} num_actions
 * @property {string} memory lstm, mingru or none
 * @property {string} encoder mlp, cells, conv or board
 * @property {number} step environment steps of its training
 */

export class Policy {
  /** @type {PolicyAbout} */ about;

  /**
   * @param {ArrayBuffer} file
   * @returns {Policy}
   * Throws a TypeError if the file is no exported policy, or if its encoder or memory has no version here.
   */
  static parse(file) { throw new Error("not written yet"); }

  /** The settings under which it was trained, for Game.create. @param {Settings} [more] @returns {Settings} */
  settings(more = {}) { return more; }

  /** The memory of `count` environments before their first observation. @param {number} count
   * @returns {Object<string, Float32Array>} */
  memory(count) { return {}; }

  /**
   * One step.
   * @param {ArrayLike<number>} observation (count * size) as the game writes it
   * @param {ArrayLike<number>} start (count) 1 if the observation is the first of its episode
   * @param {Object<string, Float32Array>} memory of `memory(count)`; it becomes that after this step
   * @returns {{logits: Float32Array, values: Float32Array}} (count * actions), (count)
   */
  forward(observation, start, memory) { return { logits: new Float32Array(0), values: new Float32Array(0) }; }
}

/** An agent playing `count` environments of a `Game`. */
export class Agent {
  /** @type {Float32Array} (count * actions) */ logits = new Float32Array(0);
  /** @type {Float32Array} (count * actions) of the last `act`; 0 for illegal actions */ probabilities = new Float32Array(0);
  /** @type {Float32Array} (count) the expected return from here, in the units of the training's rewards */
  values = new Float32Array(0);

  /**
   * @param {Policy} policy
   * @param {number} [count] environments
   * @param {number|bigint} [seed] of the sampling
   * @param {boolean} [greedy] take the most probable action
   */
  constructor(policy, count = 1, seed = 0, greedy = false) {}

  /** Choose an action for each environment. Call it once for each step. @param {Game} game @returns {Int32Array} (count) */
  act(game) { return new Int32Array(0); }

  /** Forget everything, as before the first observation. Call it after `game.reset`. */
  restart() {}
}
