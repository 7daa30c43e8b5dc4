// node players.mjs CHECK: runs one of the checks below, which throw if people's keys, agents, the clock or the best scores of
// the page break a promise. No browser: what they need of one is made here. `choices` is no check: it reads games and keys as
// JSON, [[game, actions, [[key, ...], ...]], ...], and writes the number of the action that each set of keys gives.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { Policy } from "../../../envs_c/arcade/page/policy.js";
import { Recorder, parseLink } from "../../../envs_c/arcade/page/replay.js";
import { Clock } from "../../../envs_c/arcade/page/ui/clock.js";
import { Keys, controlsFor } from "../../../envs_c/arcade/page/ui/controls.js";
import { short } from "../../../envs_c/arcade/page/ui/dom.js";
import { Machine, Person, frameByFrame } from "../../../envs_c/arcade/page/ui/players.js";
import { best, keep } from "../../../envs_c/arcade/page/ui/scores.js";

const POLICY = { about: { num_actions: 9 }, memory: () => ({}) };
/** Replace a global of the browser. @param {string} name @param {unknown} value */
const browser = (name, value) => Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
/** @param {string} name @param {number} fps @param {string[]} actions */
const game = (name, fps, actions) => ({ about: { name, fps }, actions, actionMask: null });

/** Keys of a page without elements, and a function that sends an event of the keyboard. */
function keyboard() {
  /** @type {Object<string, (event: object) => void>} */
  const listeners = {};
  browser("window", { addEventListener: (type, call) => { listeners[type] = call; } });
  browser("HTMLElement", class {});
  browser("navigator", {});
  /** @type {string[]} */
  const commands = [];
  /** @param {boolean} [plays] */
  const made = (plays) => new Keys({ addEventListener: (type, call) => { listeners[type] = call; } },
    (letter) => ["p", "r", "escape"].includes(letter) && commands.push(letter) > 0, plays);
  const send = (type, code, more = {}) => listeners[type]({ type, code, preventDefault() {}, ...more });
  return { keys: made(), made, commands, send, press: (code) => { send("keydown", code); send("keyup", code); } };
}

/** The actions that a person takes: in each step the keys that are held, and those pressed just now.
 * @param {object} played @param {[string[], string[]][]} steps */
function taken(played, steps) {
  let now = steps[0];
  const person = new Person(played, { taken: () => ({ down: new Set(now[0]), pressed: new Set(now[1]) }) });
  return steps.map((step) => {
    now = step;
    const action = person.choose(played);
    return action === null ? null : played.actions[action];
  });
}

const CHECKS = {
  async machine() { // an agent holds each action for the frames of its training, and begins anew with each episode
    const machine = new Machine(POLICY, 3);
    let acts = 0, restarts = 0, length = 0;
    machine.agent = { act: () => [++acts], restart: () => restarts++ };
    const played = { about: {}, over: () => length < 0, length: () => length };
    const frames = (/** @type {number} */ count) => Array.from({ length: count }, () => {
      const action = machine.choose(played);
      length++;
      return action;
    });
    assert.deepEqual(frames(6), [1, 1, 1, 2, 2, 2]);
    length = -1; // over: the step that begins an episode
    assert.deepEqual(frames(6), [2, 3, 3, 3, 4, 4]);
    length = 0; // restored
    assert.deepEqual(frames(2), [5, 5]);
    assert.equal(restarts, 3);
  },
  async own() { // a policy with parts that the page does not have is refused by name, and does not play without them
    const about = { encoder: "mlp", memory: "lstm", observation_shape: [4] };
    assert.equal(new Policy({}, about).size, 4);
    for (const [part, name] of [["encoder", "mine:Wide"], ["memory", "mine:Long"], ["heads", "mine:Deep"],
      ["observation_transform", "mine:scaled"]])
      assert.throws(() => new Policy({}, { ...about, [part]: name }), { name: "TypeError", message: new RegExp(`${part} ${name}`) });
  },
  async settings() { // frame by frame an episode is as long as in the training, whose limit counts steps of `skip` frames
    const of = (settings) => frameByFrame({ settings: (given) => ({ ...given, ...settings }) }, 4);
    assert.deepEqual(of({ frameSkip: 2, timeLimit: 100 }), { settings: { count: 1, frameSkip: 1, timeLimit: 200 }, skip: 2 });
    assert.deepEqual(of({ sticky: 0.25 }), { settings: { count: 1, frameSkip: 1, sticky: 0.25 }, skip: 4 });
  },
  async pace() { // a key that is held counts in each frame, in games of tiles once, and a slow game waits for each
    const held = [[["left"], ["left"]], [["left"], []], [["left"], []], [[], []]], walk = ["NOOP", "LEFT", "RIGHT"];
    assert.deepEqual(taken(game("breakout", 60, walk), held), ["LEFT", "LEFT", "LEFT", "NOOP"]);
    assert.deepEqual(taken(game("sokoban", 20, walk), held), ["LEFT", "NOOP", "NOOP", "NOOP"]);
    assert.deepEqual(taken(game("snake", 12, ["LEFT", "RIGHT"]), [[[], []], ...held]), [null, "LEFT", "LEFT", "LEFT", "LEFT"]);
    assert.deepEqual(taken(game("tmaze", 4, ["LEFT", "RIGHT"]), [[[], []], ...held]), [null, "LEFT", null, null, null]);
  },
  async keys() { // a tap between two frames counts once; a direction is held until the last of its keys is released
    const { keys, send } = keyboard(), controls = controlsFor(["NOOP", "FIRE", "LEFT", "LEFTFIRE"], "any");
    const action = () => {
      const { down, pressed } = keys.taken();
      return controls.choose(down, pressed);
    };
    send("keydown", "ArrowLeft");
    send("keyup", "ArrowLeft");
    assert.deepEqual([action(), action()], [2, 0]);
    for (const [type, code, wanted] of [["keydown", "ArrowLeft", 2], ["keydown", "KeyA", 2], ["keydown", "Space", 3],
      ["keyup", "KeyA", 3], ["keyup", "Space", 2], ["keyup", "ArrowLeft", 0]]) {
      send(type, code);
      assert.equal(action(), wanted, `${type} ${code}`);
    }
    send("keydown", "Space");
    assert.equal(action(), 1);
    send("blur"); // the page does not see the release in another window
    assert.equal(action(), 0);
    for (const more of [{ ctrlKey: true }, { target: Object.assign(new HTMLElement(), { tagName: "INPUT" }) }]) {
      send("keydown", "ArrowLeft");
      send("keyup", "ArrowLeft", more); // another key is down too, or the focus has moved
      assert.deepEqual([action(), action()], [2, 0]);
    }
  },
  async commands() { // a command counts once, however long its key is held; its letter counts, not its place
    const { commands, send, made } = keyboard();
    for (const repeat of [false, true, true]) send("keydown", "KeyP", { key: "p", repeat });
    send("keyup", "KeyP");
    send("keydown", "KeyP", { key: "p", ctrlKey: true }); // the browser's own
    assert.deepEqual(commands.splice(0), ["p"]);
    for (const [code, key] of [["KeyO", "R"], ["KeyP", "з"], ["Escape", "Escape"], ["Semicolon", "p"]])
      send("keydown", code, { key });
    assert.deepEqual(commands.splice(0), ["r", "p", "escape", "p"]);
    const prevented = [];
    for (const plays of [true, false]) { // without a person's game, arrows and Space are the browser's
      made(plays);
      for (const key of ["ArrowDown", " "])
        send("keydown", key.trim() || "Space", { key, preventDefault: () => prevented.push([plays, key]) });
    }
    assert.deepEqual(prevented, [[true, "ArrowDown"], [true, " "]]);
  },
  async queue() { // quick presses in a game of tiles are taken in their order, one a tick; three wait at most
    const turns = game("g2048", 4, ["UP", "RIGHT", "DOWN", "LEFT"]), { keys, press, send } = keyboard();
    const person = new Person(turns, keys), next = () => turns.actions[person.choose(turns) ?? -1] ?? null;
    for (const code of ["ArrowUp", "ArrowLeft", "ArrowUp", "ArrowDown"]) press(code);
    assert.deepEqual([next(), next(), next(), next()], ["UP", "LEFT", "UP", null]);
    for (const forget of [() => person.restart(), () => person.forget(), () => send("blur")]) { // a new game, unpaused, blurred
      press("ArrowUp");
      assert.equal(keys.pressed, true);
      forget();
      assert.equal(keys.pressed, false);
      assert.equal(next(), null);
    }
    const diagonal = game("own", 4, ["UP", "LEFT", "UPLEFT"]), both = new Person(diagonal, keys);
    for (const code of ["ArrowUp", "ArrowLeft"]) press(code);
    assert.equal(both.choose(diagonal), 2); // the keys of one action
  },
  async mask() { // an action that the game forbids now is not taken
    const played = { ...game("go", 60, ["NOOP", "LEFT", "RIGHT"]), actionMask: Uint8Array.of(1, 0, 1) };
    assert.deepEqual(taken(played, [[["left"], []], [["right"], []]]), [null, "RIGHT"]);
  },
  async gamepad() { // a button of a gamepad that stays down is pressed once
    const { keys } = keyboard(), buttons = [{ pressed: true }];
    browser("navigator", { getGamepads: () => [null, { connected: true, buttons, axes: [0, 0.9] }] });
    assert.deepEqual(keys.taken(), { down: new Set(["fire", "down"]), pressed: new Set(["fire", "down"]) });
    assert.deepEqual(keys.taken(), { down: new Set(["fire", "down"]), pressed: new Set() });
  },
  async cursor() { // arrows move it at once, and the fire key takes the point below it, in the game's next ticks
    const board = [3, 2, 1].flatMap((row) => ["A", "B", "C"].map((column) => column + row));
    const controls = controlsFor([...board, "PASS"], "go"), seen = [controls.selected];
    for (const key of ["up", "right", "down", "down", "down", "up"]) {
      controls.press(key);
      assert.equal(controls.choose(), null);
      seen.push(controls.selected);
    }
    assert.deepEqual(seen, ["B2", "B3", "C3", "C2", "C1", "PASS", "C1"]);
    for (const key of ["fire", "up", "fire"]) controls.press(key);
    assert.deepEqual([0, 0, 0].map(() => controls.choose()), [board.indexOf("C1"), board.indexOf("C2"), null]);
    const { keys, press } = keyboard(), go = game("go", 3, ["A1", "B1", "PASS"]), person = new Person(go, keys);
    for (const code of ["ArrowLeft", "ArrowLeft", "Space"]) press(code); // all of them before a tick
    assert.equal(person.choose(go), 0);
    press("Space");
    person.restart();
    assert.equal(person.choose(go), null);
    for (const [names, board] of [[["A1", "B1"], true], [["DIG", "WAIT"], false]])
      assert.equal(/board/.test(controlsFor(names, "own").legend()), board);
  },
  async clock() { // ticks at the rate times the speed; a pause of the page is not made up for
    let now = 0, frame = () => {}, ticks = 0;
    browser("performance", { now: () => now });
    browser("requestAnimationFrame", (call) => { frame = () => call(now); return 1; });
    browser("cancelAnimationFrame", () => {});
    const clock = new Clock(50, () => ticks++, () => {});
    const after = (/** @type {number} */ milliseconds) => {
      ticks = 0;
      now += milliseconds;
      frame();
      return ticks;
    };
    clock.start();
    assert.deepEqual([30, 30, 30, 30].map(after), [1, 2, 1, 2]);
    clock.speed = 2;
    assert.equal(after(40), 4);
    clock.paused = true;
    assert.equal(after(40), 0);
    clock.paused = false;
    assert.equal(after(60_000), 10); // of a hidden tab: a tenth of a second
  },
  async numbers() { // a number has at most three digits before its unit
    for (const [number, text] of [[0.1234, "0.123"], [-9999, "-9999"], [12_345, "12.3K"], [999_499, "999K"],
      [999_936, "1.00M"], [-999_999_999, "-1.00G"], [-1_234_567, "-1.23M"], [2e9, "2.00G"]]) assert.equal(short(number), text);
  },
  async damaged() { // an agent's file that was cut off anywhere is no policy, and says so
    const file = readFileSync(new URL("../../../envs_c/arcade/agents/cartpole.safetensors", import.meta.url));
    const { buffer } = new Uint8Array(file);
    assert.ok(Policy.parse(buffer).size > 0);
    for (let end = 0; end < buffer.byteLength; end += 1 + Math.floor(buffer.byteLength / 97))
      assert.throws(() => Policy.parse(buffer.slice(0, end)), TypeError, `cut off after ${end} bytes`);
  },
  async recorder() { // a game that goes on for days is recorded as far as a link goes
    const about = { name: "pong", version: 1 };
    const recorder = new Recorder({ about, actions: ["NOOP", "FIRE"], settings: { options: {} } }, 7);
    for (let step = 0; step < 1_000_000; step++) recorder.add(step & 1);
    assert.equal(recorder.full, true);
    recorder.add(0);
    assert.equal(parseLink(recorder.link()).actions.length, 1_000_000);
  },
  async scores() { // the best score of each game with its rules and options stays, in whatever order the options are
    const kept = new Map();
    browser("localStorage", { getItem: (key) => kept.get(key) ?? null, setItem: (key, text) => kept.set(key, text) });
    const pong = { name: "pong", version: 1 };
    assert.equal(best(pong, { lives: 3, speed: 1 }), null);
    for (const score of [-5, 7, 2]) keep(pong, { lives: 3, speed: 1 }, score);
    keep(pong, { lives: 4, speed: 1 }, 90);
    keep({ ...pong, version: 2 }, { lives: 3, speed: 1 }, 70);
    keep({ name: "snake", version: 1 }, { lives: 3, speed: 1 }, 80);
    assert.equal(best(pong, { speed: 1, lives: 3 }), 7);
  },
};

function choices() {
  const games = JSON.parse(readFileSync(0, "utf8"));
  return games.map(([name, actions, held]) => held.map((keys) => controlsFor(actions, name).choose(new Set(keys), new Set())));
}

if (process.argv[2] === "choices") process.stdout.write(JSON.stringify(choices()));
else await CHECKS[process.argv[2]]();
