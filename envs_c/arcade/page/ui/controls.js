/* Keys, touch and gamepads as actions. The keys follow from the actions' names, as in `insertcoin play`: UPRIGHTFIRE is up,
 * right and space together; other names are chosen with a cursor. */

/** The parts of names for each key; the first one in the game's names counts. @type {Object<string, string[]>} */
const KEYS = {
  up: ["UP", "ROTATE", "JUMP"], down: ["DOWN"], left: ["LEFT"], right: ["RIGHT"], fire: ["FIRE", "DROP", "JUMP", "ROTATE"],
};
/** Where an action moves on the screen, in games whose names say something else: a paddle's knob turns right to go up.
 * @type {Object<string, Object<string, string>>} */
const SEEN = { pong: { RIGHT: "UP", LEFT: "DOWN" }, atari_pong: { RIGHT: "UP", LEFT: "DOWN" } };
const WORDS = [...new Set(Object.values(KEYS).flat())];
const NAME = new RegExp(`^(?:${WORDS.join("|")})+$`);
/** Names of keys by KeyboardEvent.code. @type {Object<string, string>} */
const CODES = {
  ArrowUp: "up", KeyW: "up", ArrowDown: "down", KeyS: "down", ArrowLeft: "left", KeyA: "left", ArrowRight: "right",
  KeyD: "right", Space: "fire", Enter: "fire",
};
const FIRE_BUTTONS = [0, 1, 2, 3, 5, 7];
const PAD = { 12: "up", 13: "down", 14: "left", 15: "right" };
const MOST_PRESSES = 3; // that wait for the ticks of a slow game

/** The keys that are down, of a keyboard, of buttons on the screen and of the first gamepad. */
export class Keys {
  /** @type {Map<string, number>} name of a key: how many hold it */ #down = new Map();
  /** @type {string[]} pressed since the last `taken`, in their order */ #pressed = [];
  /** @type {Set<string>} of the gamepad */ #pad = new Set();
  #gone = new AbortController(); // ends the listeners
  /** @type {(name: string) => void} hears of each press at once */ onpress = () => {};

  /**
   * @param {HTMLElement} element that gets the events
   * @param {(letter: string) => boolean} command gets the keys that are not the game's; returns whether it used one
   * @param {boolean} [plays] false: no key is the game's
   */
  constructor(element, command, plays = true) {
    const { signal } = this.#gone;
    /** @type {Set<string>} codes that are down */
    const codes = new Set();
    element.addEventListener("keydown", (event) => {
      const name = plays ? CODES[event.code] : undefined, tag = event.target instanceof HTMLElement ? event.target.tagName : "";
      if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(tag)) return;
      if (name === "fire" && /^(BUTTON|A|SUMMARY)$/.test(tag)) return; // space and Enter press the focused button
      if (name || (!event.repeat && command(letter(event)))) event.preventDefault();
      if (!name || codes.has(event.code)) return;
      codes.add(event.code);
      this.press(name);
    }, { signal });
    element.addEventListener("keyup", (event) => { // wherever the focus is now
      if (codes.delete(event.code)) this.release(CODES[event.code]);
    }, { signal });
    window.addEventListener("blur", () => { codes.clear(); this.#down.clear(); this.forget(); }, { signal });
    returnFocus(element, signal);
  }

  close() { this.#gone.abort(); }

  /** @param {string} name */
  press(name) {
    this.#down.set(name, (this.#down.get(name) ?? 0) + 1);
    this.#note(name);
  }

  /** @param {string} name */
  #note(name) {
    if (this.#pressed.length < MOST_PRESSES) this.#pressed.push(name);
    this.onpress(name);
  }

  /** @param {string} name */
  release(name) {
    const count = (this.#down.get(name) ?? 0) - 1;
    if (count > 0) this.#down.set(name, count);
    else this.#down.delete(name);
  }

  /** Forget the keys that were pressed; those that are down stay down. */
  forget() { this.#pressed = []; }

  /** Note what was pressed on the gamepad since the last call: in each frame, also where a game has fewer ticks. */
  poll() {
    const pad = padKeys();
    for (const name of pad) if (!this.#pad.has(name)) this.#note(name);
    this.#pad = pad;
  }

  /** True if a key was pressed since the last `taken` or `forget`. */
  get pressed() { return this.#pressed.length > 0; }

  /**
   * The keys that are down, and those pressed since the last call.
   * @param {boolean} [single] the first of those pressed; the next calls give the others
   * @returns {{down: Set<string>, pressed: Set<string>}}
   */
  taken(single = false) {
    this.poll();
    const pressed = new Set(this.#pressed.splice(0, single ? 1 : MOST_PRESSES));
    return { down: new Set([...this.#down.keys(), ...this.#pad]), pressed };
  }
}

/** What a key writes, in lower case; of another alphabet's key what it writes in the Latin one. @param {KeyboardEvent} event */
function letter({ key = "", code = "" }) {
  return (/^[ -~]+$/.test(key) ? key : code.replace("Key", "")).toLowerCase();
}

/** What was used with a mouse gives up the focus: the next space and arrows are the game's again.
 * @param {HTMLElement} element @param {AbortSignal} signal */
function returnFocus(element, signal) {
  /** @type {EventTarget|null} */
  let pointed = null;
  element.addEventListener("pointerdown", (event) => { pointed = event.target; }, { signal });
  element.addEventListener("click", (event) => {
    const used = event.detail && event.target instanceof HTMLElement ? event.target.closest("button, summary") : null;
    if (used instanceof HTMLElement) used.blur();
  }, { signal });
  element.addEventListener("change", (event) => {
    if (event.target === pointed && event.target instanceof HTMLSelectElement) event.target.blur();
    pointed = null;
  }, { signal });
}

/** @returns {Set<string>} */
function padKeys() {
  const keys = new Set();
  const pad = navigator.getGamepads?.().find((each) => each?.connected);
  if (!pad) return keys;
  for (const [index, name] of Object.entries(PAD)) if (pad.buttons[Number(index)]?.pressed) keys.add(name);
  if (FIRE_BUTTONS.some((index) => pad.buttons[index]?.pressed)) keys.add("fire");
  const [x = 0, y = 0] = pad.axes;
  if (x < -0.5) keys.add("left");
  if (x > 0.5) keys.add("right");
  if (y < -0.5) keys.add("up");
  if (y > 0.5) keys.add("down");
  return keys;
}

/** Actions whose names are NOOP or made of directions and FIRE, JUMP, ROTATE, DROP. */
export class Buttons {
  /** @type {string|null} */ selected = null;
  #actions; #meaning;

  /** @param {string[]} actions */
  constructor(actions) {
    this.#actions = actions.map((name) => (name === "NOOP" ? [] : name.match(new RegExp(WORDS.join("|"), "g")) ?? []));
    const has = new Set(this.#actions.flat());
    /** @type {Object<string, string|undefined>} */
    this.#meaning = Object.fromEntries(Object.entries(KEYS).map(([key, words]) => [key, words.find((word) => has.has(word))]));
  }

  /** True if an action has several keys. */
  get chords() { return this.#actions.some((action) => action.length > 1); }

  /** The keys that mean something here. */
  keys() { return Object.keys(KEYS).filter((key) => this.#meaning[key]); }

  /** @param {string} key */
  meaning(key) { return this.#meaning[key] ?? ""; }

  /**
   * The action with the most of these keys; null if no action fits, not even NOOP.
   * @param {Set<string>} down @param {Set<string>} pressed also counts if it was released in between
   * @returns {number|null}
   */
  choose(down, pressed) {
    const words = new Set([...down, ...pressed].map((key) => this.#meaning[key]));
    /** @type {number|null} */
    let best = null;
    this.#actions.forEach((action, index) => {
      if (action.every((word) => words.has(word)) && (best === null || action.length > this.#actions[best].length)) best = index;
    });
    return best;
  }

  legend() {
    const plain = this.keys().filter((key) => this.meaning(key).toLowerCase() === key && key !== "fire");
    const others = this.keys().filter((key) => !plain.includes(key));
    return [plain.length ? `arrows or WASD: ${plain.join(", ")}` : "",
      ...others.map((key) => `${key === "fire" ? "space" : key}: ${this.meaning(key).toLowerCase()}`)].filter(Boolean).join("; ");
  }
}

/** Actions with other names: a cursor chooses one after the other. Points such as A9 to J1, row by row, are a board. */
export class Cursor {
  /** @type {number[]} actions that were taken with the fire key, and wait for the game's ticks */ #taken = [];
  #names; #rows; #board; #row; #column;

  /** @param {string[]} actions */
  constructor(actions) {
    this.#names = actions;
    /** @type {Map<string, number[]>} */
    const lines = new Map();
    actions.forEach((name, index) => {
      const row = /^[A-Z]+(\d+)$/.exec(name)?.[1];
      if (row) lines.set(row, [...(lines.get(row) ?? []), index]);
    });
    const board = [...lines.values()];
    const others = actions.map((_, index) => index).filter((index) => !board.some((row) => row.includes(index)));
    this.#board = board.length;
    this.#rows = this.#board ? [...board, ...others.map((index) => [index])] : [others];
    this.#row = Math.floor(this.#board / 2);
    this.#column = this.#board ? Math.floor(this.#rows[0].length / 2) : 0;
  }

  keys() { return ["up", "down", "left", "right", "fire"]; }

  /** @param {string} key */
  meaning(key) { return key === "fire" ? "take" : key.toUpperCase(); }

  #index() {
    const row = this.#rows[this.#row];
    return row[Math.min(this.#column, row.length - 1)];
  }

  get selected() { return this.#names[this.#index()]; }

  /** Move the cursor, or take the action below it. @param {string} name of a key */
  press(name) {
    const clamp = (/** @type {number} */ value, /** @type {number} */ most) => Math.min(Math.max(value, 0), most);
    if (name === "fire" && this.#taken.length < MOST_PRESSES) this.#taken.push(this.#index());
    this.#row = clamp(this.#row + Number(name === "down") - Number(name === "up"), this.#rows.length - 1);
    const right = Number(name === "right") - Number(name === "left");
    if (right) this.#column = clamp(this.#column + right, this.#rows[this.#row].length - 1);
  }

  /** Forget the actions that were taken. */
  forget() { this.#taken = []; }

  /** The next of the actions that were taken. @returns {number|null} */
  choose() { return this.#taken.shift() ?? null; }

  /**
   * Put the cursor on the point of the board at this place of the picture.
   * @param {number} x @param {number} y pixels @param {[number, number]} screen width and height
   * @returns {boolean} whether there is a point
   */
  point(x, y, screen) {
    const at = this.#frame(screen);
    if (!at) return false;
    const row = Math.floor((y - at.top) / at.cell), column = Math.floor((x - at.left) / at.cell);
    if (row < 0 || row >= this.#board || column < 0 || column >= this.#rows[0].length) return false;
    this.#row = row;
    this.#column = column;
    return true;
  }

  /** The cells of the board, which fills the picture. @param {[number, number]} screen */
  #frame([width, height]) {
    if (!this.#board) return null;
    const columns = Math.max(...this.#rows.slice(0, this.#board).map((row) => row.length));
    const cell = Math.max(1, Math.min(Math.floor((height - 4) / this.#board), Math.floor((width - 4) / columns)));
    return { cell, top: Math.floor((height - this.#board * cell) / 2), left: Math.floor((width - columns * cell) / 2) };
  }

  /** Draw the cursor. @param {CanvasRenderingContext2D} context @param {[number, number]} screen */
  mark(context, screen) {
    const at = this.#frame(screen);
    if (!at || this.#row >= this.#board) return;
    context.strokeStyle = "#f00";
    context.strokeRect(at.left + this.#column * at.cell + 0.5, at.top + this.#row * at.cell + 0.5, at.cell - 1, at.cell - 1);
  }

  legend() {
    return `arrows or WASD choose the action, space or Enter takes it${this.#board ? "; or touch a point of the board" : ""}`;
  }
}

/** The controls for actions of these names. @param {string[]} actions @param {string} game its name @returns {Buttons|Cursor} */
export function controlsFor(actions, game) {
  /** @type {Object<string, string>} */
  const seen = actions.includes("UP") ? {} : SEEN[game] ?? {};
  const names = actions.map((name) => name.replace(/RIGHT|LEFT/g, (word) => seen[word] ?? word));
  return actions.every((name) => name === "NOOP" || NAME.test(name)) ? new Buttons(names) : new Cursor(actions);
}
