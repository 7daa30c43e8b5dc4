/* A stage: one game of one environment on a canvas, with its player, its clock, its score and its replay. */
import { Recorder } from "../replay.js";
import { Clock } from "./clock.js";
import { el } from "./dom.js";

/** @typedef {import("../engine.js").Game} Game */
/** @typedef {import("../engine.js").Settings} Settings */
/** @typedef {{choose: (game: Game) => number|null, restart: () => void, controls?: any, poll?: () => void,
 *   forget?: () => void}} Player */

/** A seed that fits in a link. */
export function newSeed() {
  return crypto.getRandomValues(new Uint32Array(1))[0];
}

export class Stage {
  /** @type {number} */ seed = 0;
  /** @type {Player} */ player;
  /** @type {() => void} after each step */ onstep = () => {};
  /** @type {() => void} when another action is chosen with a cursor */ onchoice = () => {};
  /** @type {(score: number) => void} at the end of an episode */ onend = () => {};
  /** @type {boolean} go on with the next episode at the end of one */ endless = false;
  /** @type {Recorder|null} null after a restored state and in a cartridge: a link could not replay it */ recorder = null;
  /** @type {number} the last episode's, while it is over */ score = 0;
  #context; #image; #dirty = true; #ended = false; #selected;

  /** @param {Game} game @param {Player} player @param {string} label for people who do not see the picture */
  constructor(game, player, label) {
    const [width, height] = game.about.screen;
    this.game = game;
    this.player = player;
    this.#selected = player.controls?.selected;
    this.canvas = el("canvas", { width, height, role: "img", "aria-label": label });
    this.#context = /** @type {CanvasRenderingContext2D} */ (this.canvas.getContext("2d"));
    this.#image = this.#context.createImageData(width, height);
    this.clock = new Clock(game.about.fps, () => this.tick(), () => this.frame());
  }

  /** Begin an episode. @param {number} seed */
  restart(seed) {
    this.seed = seed;
    this.game.reset(seed);
    this.player.restart();
    this.recorder = this.game.about.cartridge ? null : new Recorder(this.game, seed);
    this.begun();
  }

  /** Take note of a game that was reset by its owner. */
  begun() {
    this.#ended = false;
    this.#dirty = true;
    this.score = 0;
    this.onstep();
  }

  /** True if the episode is over and the stage waits for `restart`. */
  get over() { return this.#ended && !this.endless; }

  /** A step, if the player takes one. */
  tick() {
    if (this.over) return;
    const action = this.player.choose(this.game);
    if (action !== null) this.step(action);
  }

  /** @param {number} action */
  step(action) {
    this.recorder?.add(action);
    this.game.step([action]);
    this.#dirty = true;
    this.#ended = this.game.ended[0] === 1;
    this.score = this.#ended ? this.game.endedScore[0] : this.game.score();
    this.onstep();
    if (this.#ended) this.onend(this.score);
  }

  /** Restore a state. @param {Uint8Array} state */
  restore(state) {
    this.game.restore(state);
    this.recorder = null;
    this.#ended = this.game.over();
    this.score = this.game.score();
    this.player.restart();
    this.#dirty = true;
    this.onstep();
  }

  /** A frame of the display, also while the game pauses. */
  frame() {
    this.player.poll?.();
    const selected = this.player.controls?.selected;
    if (selected !== this.#selected) {
      this.#selected = selected;
      this.#dirty = true;
      this.onchoice();
    }
    this.draw();
  }

  draw() {
    if (!this.#dirty) return;
    this.#dirty = false;
    this.#image.data.set(this.game.picture());
    this.#context.putImageData(this.#image, 0, 0);
    this.player.controls?.mark?.(this.#context, this.game.about.screen);
  }

  /** Stop the clock. */
  close() { this.clock.stop(); }
}
