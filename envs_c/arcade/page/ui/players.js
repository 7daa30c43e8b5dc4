/* Who plays: a person, or a trained agent. A player chooses the action of each frame, or null to wait. */
import { Agent } from "../policy.js";
import { Cursor, controlsFor } from "./controls.js";

/** @typedef {import("../engine.js").Game} Game */
/** @typedef {import("../policy.js").Policy} Policy */
/** @typedef {import("./controls.js").Keys} Keys */

const TILES = 30; // frames a second: in games with fewer, each press counts once, one in a frame if no action has several keys
const TURNS = 12; // frames a second: games without NOOP that have fewer wait for a key; in others the last action goes on

export class Person {
  /** @type {number|null} */ #last = null;
  #keys; #tiles; #turns; #single;

  /** @param {Game} game @param {Keys} keys */
  constructor(game, keys) {
    const controls = controlsFor(game.actions, game.about.name);
    this.controls = controls;
    this.#keys = keys;
    this.#tiles = game.about.fps < TILES;
    this.#turns = game.about.fps < TURNS;
    this.#single = this.#tiles && !(controls instanceof Cursor) && !controls.chords;
    if (controls instanceof Cursor) keys.onpress = (name) => controls.press(name);
  }

  /** @param {Game} game @returns {number|null} */
  choose(game) {
    const { down, pressed } = this.#keys.taken(this.#single);
    let action = this.controls.choose(this.#tiles ? pressed : down, pressed);
    if (action === null && !this.#turns) action = this.#last;
    this.#last = action;
    return action === null || game.actionMask?.[action] === 0 ? null : action;
  }

  /** In each frame. */
  poll() { this.#keys.poll(); }

  /** Forget what was pressed, as while the game paused. */
  forget() {
    this.#keys.forget();
    if (this.controls instanceof Cursor) this.controls.forget();
  }

  restart() {
    this.#last = null;
    this.forget();
  }
}

export class Machine {
  #skip; #since = 0; #action = 0;

  /**
   * An agent in a game that goes frame by frame: it chooses an action for as many frames as in its training.
   * @param {Policy} policy @param {number} skip frames of an action @param {number} [seed] of the sampling
   */
  constructor(policy, skip, seed = 0) {
    this.agent = new Agent(policy, 1, seed);
    this.#skip = skip;
  }

  /** @param {Game} game @returns {number} */
  choose(game) {
    if (game.over()) return this.#action; // the step that begins an episode takes no action
    if (game.length() === 0) this.agent.restart();
    if (game.length() === 0 || this.#since >= this.#skip) {
      this.#action = this.agent.act(game, this.#seen(game))[0];
      this.#since = 0;
    }
    this.#since++;
    return this.#action;
  }

  /** What it saw in its training: of a cartridge's pictures those of the last two frames. @param {Game} game */
  #seen(game) {
    const { about, settings } = game;
    return about.cartridge && this.#skip > 1 && about.views[settings.view].picture ? game.pixels() : game.observation;
  }

  restart() {
    this.agent.restart();
    this.#since = 0;
  }
}

/**
 * The settings of a game of one environment that goes frame by frame, as the agent was trained.
 * @param {Policy} policy
 * @param {number} defaultSkip the game's own frames of a step
 * @returns {{settings: import("../engine.js").Settings, skip: number}}
 */
export function frameByFrame(policy, defaultSkip) {
  const settings = policy.settings({ count: 1 }), skip = settings.frameSkip ?? defaultSkip;
  const timeLimit = settings.timeLimit ? settings.timeLimit * skip : settings.timeLimit;
  return { settings: { ...settings, frameSkip: 1, ...(timeLimit === undefined ? {} : { timeLimit }) }, skip };
}
