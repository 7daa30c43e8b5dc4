/* The wall: 256 environments of one game in one WebAssembly instance, and their steps a second. */
import { button, el, short, still } from "./dom.js";
import { about, open, policy } from "./files.js";
import { Agent } from "../policy.js";
import { newSeed } from "./stage.js";

/** @typedef {import("./files.js").Entry} Entry */

const MOST = 256;
const STEP_MS = 8, DRAW_MS = 5; // of a frame's 16
const SIDE = 80; // pixels of a picture's longer side
const GAP = 2; // pixels between pictures

/** @param {HTMLElement} place @param {Entry} entry @returns {Promise<() => void>} */
export async function showWall(place, entry) {
  const facts = await about(entry.name), count = Math.min(MOST, facts.capacity), [width, height] = facts.screen;
  const columns = Math.ceil(Math.sqrt((count * height * innerWidth) / (width * innerHeight * 0.8))); // as wide as the window
  const trained = entry.agent ? await policy(entry.name) : null;
  const game = await open(entry.name, { ...trained?.settings(), count });
  const agent = trained && new Agent(trained, count, newSeed()), random = new Int32Array(count);
  const painter = wallPainter(game, columns), speed = el("output", { "aria-live": "off" });
  const episodes = el("output", { "aria-live": "off" }, "0");
  const who = el("select", { id: "who" }, el("option", { value: "random" }, "random actions"),
    agent && el("option", { value: "agent" }, "the agent"));
  let request = 0, steps = 0, since = performance.now(), ended = 0, next = 0;
  const stepAll = () => {
    for (let i = 0; i < count; i++) random[i] = Math.floor(Math.random() * game.actions.length);
    game.step(who.value === "agent" && agent ? agent.act(game) : legal(game, random));
    for (let i = 0; i < count; i++) ended += game.ended[i];
    steps += count;
  };
  const frame = () => {
    request = requestAnimationFrame(frame);
    let begin = performance.now();
    do stepAll(); while (performance.now() - begin < STEP_MS);
    begin = performance.now();
    do { painter(next); next = (next + 1) % count; } while (performance.now() - begin < DRAW_MS && next);
    const seconds = (performance.now() - since) / 1000;
    if (seconds < 0.5) return;
    speed.textContent = short(steps / seconds);
    episodes.textContent = short(ended);
    steps = 0;
    since = performance.now();
  };
  const run = button("Stop", () => {
    cancelAnimationFrame(request);
    request = request ? 0 : requestAnimationFrame(frame);
    run.textContent = request ? "Stop" : "Run";
  });
  who.addEventListener("change", () => { agent?.restart(); game.reset(newSeed()); });
  place.append(el("p", { class: "scores" }, `${count} environments, `, speed, " steps a second, ", episodes, " episodes ended"),
    painter.canvas, el("div", { class: "buttons" }, run, el("label", { for: "who" }, "played by"), who));
  game.reset(newSeed());
  for (let i = 0; i < count; i++) painter(i);
  if (still()) run.textContent = "Run";
  else request = requestAnimationFrame(frame);
  return () => cancelAnimationFrame(request);
}

/** The actions, with the first legal one in place of an illegal one. @param {import("../engine.js").Game} game @param {Int32Array} actions */
function legal(game, actions) {
  const { actionMask } = game, size = game.actions.length;
  if (!actionMask) return actions;
  return actions.map((action, i) => {
    const row = actionMask.subarray(i * size, (i + 1) * size);
    return row[action] ? action : Math.max(row.indexOf(1, action), row.indexOf(1));
  });
}

/** Draws the picture of one environment into the wall. @param {import("../engine.js").Game} game @param {number} columns */
function wallPainter(game, columns) {
  const [width, height] = game.about.screen, part = Math.max(1, Math.round(Math.max(width, height) / SIDE));
  const w = Math.floor(width / part), h = Math.floor(height / part), rows = Math.ceil(game.count / columns);
  const canvas = el("canvas", { class: "mosaic", width: columns * (w + GAP), height: rows * (h + GAP), role: "img",
    "aria-label": `${game.count} environments of ${game.about.title}` });
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d")), image = context.createImageData(w, h);
  const to = new Uint32Array(image.data.buffer);
  const paint = (/** @type {number} */ index) => {
    const picture = game.picture(index), from = new Uint32Array(picture.buffer, picture.byteOffset, width * height);
    for (let y = 0, at = 0; y < h; y++) for (let x = 0; x < w; x++) to[at++] = from[y * part * width + x * part];
    const row = Math.floor(index / columns), left = row === rows - 1 ? (rows * columns - game.count) / 2 : 0; // the last is centred
    context.putImageData(image, Math.round((index % columns + left) * (w + GAP)), row * (h + GAP));
  };
  return Object.assign(paint, { canvas });
}
