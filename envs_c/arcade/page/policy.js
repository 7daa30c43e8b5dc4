/* A trained agent in a browser or in node: the policy in a safetensors file of `insertcoin export`, and its play.
 *
 *     const policy = Policy.parse(await (await fetch("agents/pong.safetensors")).arrayBuffer());
 *     const game = await Game.create("games/pong.wasm", about, policy.settings({ count: 1 }));
 *     const agent = new Agent(policy, 1, 7);
 *     game.reset(7);
 *     for (;;) game.step(agent.act(game));   // also: agent.probabilities, agent.values, agent.logits
 *
 * The weights may be float32, float16, bfloat16, or int8 with a factor for each row (agents.py). The arithmetic is that of
 * trainer/export/graph.py. Actions are sampled as in the trainer (trainer/kernels/rows.h): the random number of a step depends
 * on (seed, environment, step) only.
 */

import { ENCODERS, MEMORIES, linear } from "./layers.js";
import { choose, randomBits } from "./sampling.js";
import { checkSeed } from "./settings.js";
import { readTensors } from "./tensors.js";

/** @typedef {import("./engine.js").Game} Game */
/** @typedef {import("./engine.js").Settings} Settings */
/** @typedef {Object<string, Float32Array>} Memory by name, a row for each environment */

/**
 * The header of the file; see trainer/export/weights.py.
 * @typedef {object} PolicyAbout
 * @property {string} game
 * @property {Object<string, any>} env view, frame_skip, sticky, noop_max, time_limit
 * @property {Object<string, number>} options of the game
 * @property {number[]} observation_shape
 * @property {number} num_actions
 * @property {{kind: string}} [actions]
 * @property {string} memory lstm, mingru or none
 * @property {number} layers of the memory
 * @property {boolean} [highway] around each layer of mingru
 * @property {string} encoder mlp, cells, bits, conv or board
 * @property {string} [heads] of the user's own
 * @property {string} [observation_transform] before the encoder, of the user's own
 * @property {number} encoder_size
 * @property {number} core_size
 * @property {number} scale of the observations
 * @property {boolean} normalize
 * @property {number} normalize_clip
 * @property {number} frame_stack frames of an observation
 * @property {Object<string, number[]>} states shapes of the memory's parts
 * @property {number} step environment steps of its training
 * @property {number} [training_seed] of the agents that come with the package; see agents.py
 * @property {{mean: number, episodes: number, protocol: {actions: string, sticky: number, noop_max: number}}} [evaluation]
 */

export class Policy {
  /** @type {PolicyAbout} */ about;
  /** @type {number} numbers of one observation */ size;
  /** @type {Object<string, import("./tensors.js").Tensor>} */ #weights;

  /**
   * @param {ArrayBuffer} file
   * @returns {Policy}
   * Throws a TypeError if the file is no exported policy, or if a part of the policy has no version here.
   */
  static parse(file) {
    const { tensors, metadata } = readTensors(file);
    if (!metadata.policy) throw new TypeError("the file must be a policy that `insertcoin export` wrote as safetensors");
    return new Policy(tensors, JSON.parse(metadata.policy));
  }

  /** @param {Object<string, import("./tensors.js").Tensor>} weights @param {PolicyAbout} about */
  constructor(weights, about) {
    if (!(about.encoder in ENCODERS) || !(about.memory in MEMORIES))
      throw new TypeError(`encoder ${about.encoder} with memory ${about.memory} has no version for browsers: use an encoder ` +
        `of ${Object.keys(ENCODERS).join(", ")} and a memory of ${Object.keys(MEMORIES).join(", ")}`);
    for (const [part, name] of Object.entries({ heads: about.heads, observation_transform: about.observation_transform }))
      if (name) throw new TypeError(`${part} ${name} has no version for browsers: train without it to play there`);
    if ((about.actions?.kind ?? "discrete") !== "discrete")
      throw new TypeError(`the policy must have discrete actions, not ${about.actions?.kind}`);
    this.#weights = weights;
    this.about = about;
    this.size = about.observation_shape.reduce((product, length) => product * length, 1);
  }

  /** The settings under which it was trained, for Game.create. @param {Settings} [more] @returns {Settings} */
  settings(more = {}) {
    const { env, options } = this.about;
    if (Array.isArray(env.frame_skip))
      throw new TypeError(`frame_skip must be one number in a browser, not ${env.frame_skip.join(" to ")}`);
    return {
      view: env.view, frameSkip: env.frame_skip ?? undefined, sticky: env.sticky, noopMax: env.noop_max,
      timeLimit: env.time_limit ?? undefined, ...more, options: { ...options, ...more.options },
    };
  }

  /** What its file says of its score, in one line; "" if that says nothing, as after `insertcoin export`. */
  record() {
    const { evaluation, training_seed: seed, options } = this.about;
    if (!evaluation) return "";
    const { mean, episodes, protocol: { actions, sticky, noop_max: noOps } } = evaluation;
    const rules = [`${actions} actions`, sticky ? `sticky actions ${sticky}` : "without sticky actions",
      noOps && `up to ${noOps} no-ops`, ...Object.entries(options).map(([name, value]) => `${name} ${value}`)];
    return `one training, seed ${seed ?? "not recorded"}: mean ${Number(mean.toPrecision(4))} of ${episodes} games, `
      + rules.filter(Boolean).join(", ");
  }

  /** The memory of `count` environments before their first observation. @param {number} count @returns {Memory} */
  memory(count) {
    const sizes = Object.entries(this.about.states);
    return Object.fromEntries(sizes.map(([name, shape]) => [name, new Float32Array(shape.reduce((a, b) => a * b, count))]));
  }

  /**
   * One step.
   * @param {ArrayLike<number>} observation (count * size) as the game writes it
   * @param {ArrayLike<number>} start (count) 1 if the observation is the first of its episode
   * @param {Memory} memory of `memory(count)`; it becomes that after this step
   * @returns {{logits: Float32Array, values: Float32Array}} (count * actions), (count)
   */
  forward(observation, start, memory) {
    const count = start.length, actions = this.about.num_actions;
    const logits = new Float32Array(count * actions), values = new Float32Array(count);
    for (let i = 0; i < count; i++) {
      /** @type {Memory} */
      const state = {};
      for (const [name, rows] of Object.entries(memory)) {
        const size = rows.length / count;
        state[name] = rows.subarray(i * size, (i + 1) * size);
        if (start[i]) state[name].fill(0);
      }
      const out = this.#step(this.#scaled(observation, i), state);
      logits.set(out.subarray(0, actions), i * actions);
      values[i] = out[actions];
    }
    return { logits, values };
  }

  /** The observation of environment i, scaled and normalized. @param {ArrayLike<number>} observation @param {number} i */
  #scaled(observation, i) {
    const { scale, normalize, normalize_clip: clip } = this.about, x = new Float32Array(this.size);
    for (let k = 0; k < this.size; k++) x[k] = observation[i * this.size + k] * scale;
    if (normalize) {
      const shift = this.#weights["normalizer.shift"].data, factor = this.#weights["normalizer.factor"].data;
      for (let k = 0; k < this.size; k++) x[k] = Math.min(Math.max((x[k] - shift[k]) * factor[k], -clip), clip);
    }
    return x;
  }

  /** Logits, then the value. @param {Float32Array} newest @param {Memory} state of one environment */
  #step(newest, state) {
    let frames = newest;
    if (state.frames) {
      frames = new Float32Array(state.frames.length + newest.length);
      frames.set(state.frames);
      frames.set(newest, state.frames.length);
      state.frames.set(frames.subarray(newest.length));
    }
    const encoded = ENCODERS[this.about.encoder](this.#weights, frames, this.about);
    return linear(this.#weights, "heads", MEMORIES[this.about.memory](this.#weights, encoded, state, this.about));
  }
}

/** An agent playing `count` environments of a `Game`. */
export class Agent {
  /** @type {Float32Array} (count * actions) */ logits = new Float32Array(0);
  /** @type {Float32Array} (count * actions) of the last `act`; 0 for illegal actions */ probabilities;
  /** @type {Float32Array} (count) the expected return from here, in the units of the training's rewards */ values;
  /** @type {number} calls of `act` */ #step = 0;
  /** @type {bigint} */ #seed;
  /** @type {Memory} */ #memory;
  /** @type {Float32Array} 1 if the next observation is the first of its episode */ #start;

  /**
   * @param {Policy} policy
   * @param {number} [count] environments
   * @param {number|bigint} [seed] of the sampling
   * @param {boolean} [greedy] take the most probable action
   */
  constructor(policy, count = 1, seed = 0, greedy = false) {
    this.policy = policy;
    this.count = count;
    this.greedy = greedy;
    this.#seed = checkSeed(seed);
    this.#memory = policy.memory(count);
    this.#start = new Float32Array(count).fill(1);
    this.probabilities = new Float32Array(count * policy.about.num_actions);
    this.values = new Float32Array(count);
  }

  /**
   * Choose an action for each environment. Call it once for each step.
   * @param {Game} game
   * @param {ArrayLike<number>} [observation] (count * size) in place of the game's own
   * @returns {Int32Array} (count)
   * Throws a TypeError if the policy was trained with other observations or actions than the game has.
   */
  act(game, observation = game.observation) {
    const actions = this.policy.about.num_actions;
    if (game.count !== this.count || game.size !== this.policy.size || game.actions.length !== actions)
      throw new TypeError(`the game must have ${this.count} environments with ${this.policy.size} numbers and ${actions} ` +
        `actions each, not ${game.count} with ${game.size} and ${game.actions.length}: create it with policy.settings()`);
    const { logits, values } = this.policy.forward(observation, this.#start, this.#memory);
    const chosen = new Int32Array(this.count);
    for (let i = 0; i < this.count; i++) {
      const at = i * actions, actionMask = game.actionMask ? game.actionMask.subarray(at, at + actions) : null;
      const random = this.greedy ? null : randomBits(this.#seed, i, this.#step);
      const { action, probabilities } = choose(logits.subarray(at, at + actions), actionMask, random);
      chosen[i] = action;
      this.probabilities.set(probabilities, at);
      this.#start[i] = Number(game.terminated[i] || game.truncated[i]);
    }
    Object.assign(this, { logits, values });
    this.#step++;
    return chosen;
  }

  /** Forget the past of all environments, or of one: its next observation is the first of an episode. Call it after a reset.
   * @param {number} [index] */
  restart(index) {
    this.#start.fill(1, index, index === undefined ? undefined : index + 1);
  }
}
