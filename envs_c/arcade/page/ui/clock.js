/* A clock: calls `tick` at a fixed rate, and `draw` once for each frame of the display. */

const LONGEST = 0.1; // seconds: after a longer pause, as of a hidden tab, time is not made up for
const MOST = 240; // ticks a frame

export class Clock {
  /** @type {number} ticks a second at speed 1 */ rate;
  /** @type {number} */ speed = 1;
  /** @type {boolean} */ paused = false;
  #tick; #draw; #due = 0; #last = 0; #request = 0;

  /** @param {number} rate @param {() => void} tick @param {() => void} draw */
  constructor(rate, tick, draw) {
    this.rate = rate;
    this.#tick = tick;
    this.#draw = draw;
  }

  start() {
    this.stop();
    this.#last = performance.now();
    this.#request = requestAnimationFrame((now) => this.#frame(now));
  }

  stop() {
    cancelAnimationFrame(this.#request);
    this.#request = 0;
  }

  get running() { return this.#request !== 0; }

  /** @param {number} now */
  #frame(now) {
    const seconds = Math.min(Math.max(now - this.#last, 0) / 1000, LONGEST);
    this.#last = now;
    this.#request = requestAnimationFrame((next) => this.#frame(next));
    if (!this.paused) {
      this.#due = Math.min(this.#due + seconds * this.rate * this.speed, MOST);
      for (; this.#due >= 1; this.#due--) this.#tick();
    }
    this.#draw();
  }
}
