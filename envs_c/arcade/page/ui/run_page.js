/* A training run that `insertcoin watch` serves: its curves, its stages, and its newest checkpoint playing. */
import { Policy } from "../policy.js";
import { course, probabilityBars } from "./charts.js";
import { el, short } from "./dom.js";
import { about, open } from "./files.js";
import { Machine, frameByFrame } from "./players.js";
import { Stage, newSeed } from "./stage.js";

/** @typedef {{run: string, game: string|null, title: string, total_steps: number, running: boolean, checkpoint: string|null,
 *   metrics: number|null}} Status */
/** @typedef {Object<string, number|null>} Entry one line of metrics.jsonl */

const POLL = 2000; // ms
const CURVES = { score_mean: "score", entropy: "entropy", loss_value: "value loss", sps: "steps a second" };
const STAGES = { time_env: "games", time_copy: "copies", time_forward: "policy", time_sample: "sampling", time_learn: "learning",
  time_other: "other" };
const POINTS = 600; // of a curve

/** @param {HTMLElement} place @returns {Promise<() => void>} */
export async function showRun(place) {
  const first = await status();
  document.title = `${first.run} - insertcoin watch`;
  const state = el("p", { class: "scores", role: "status" }), player = first.game ? runPlayer(first.game) : null;
  const curves = Object.entries(CURVES).map(([key, title]) => curve(key, title)), stages = stageBars();
  /** @type {Entry[]} */
  const entries = [];
  let read = 0, timer = 0, closed = false, file = first.metrics;
  place.append(el("h1", {}, `${first.title}: ${first.run}`), state, player?.element ?? "",
    el("div", { class: "curves" }, ...curves.map((each) => each.element)), stages.element);

  const update = async () => {
    const now = await status();
    if (now.metrics !== file) { // a resumed training has written the file anew
      file = now.metrics;
      read = entries.length = 0;
    }
    for (;;) {
      const response = await fetch(`run/metrics?from=${read}`), text = response.ok ? await response.text() : "";
      if (!text) break;
      read += new TextEncoder().encode(text).length;
      entries.push(...text.split("\n").filter((line) => line.trim()).map((line) => JSON.parse(line)));
    }
    const last = entries.at(-1);
    state.textContent = `${now.running ? "running" : "not running"}, ${last ? `step ${short(last.step ?? 0)} of ${short(now.total_steps)}, `
      + `${short(last.sps ?? 0)} steps a second, score ${last.score_mean === null ? "-" : short(last.score_mean ?? 0)}` : "no steps yet"}`;
    for (const each of curves) each.show(entries);
    if (last) stages.show(last);
    if (now.checkpoint) await player?.follow(now.checkpoint);
  };
  const loop = async () => {
    try {
      await update();
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      state.textContent = error instanceof TypeError ? "insertcoin watch has ended" : error.message;
    }
    if (!closed) timer = window.setTimeout(loop, POLL);
  };
  await loop();
  return () => {
    closed = true;
    clearTimeout(timer);
    player?.close();
  };
}

/** @returns {Promise<Status>} */
async function status() {
  const response = await fetch("run/status.json");
  if (!response.ok) throw new RangeError("This page follows no run: `insertcoin watch RUN` serves one that does");
  return response.json();
}

/** The newest checkpoint, playing. @param {string} name of the game */
function runPlayer(name) {
  const canvas = el("div", { class: "table" }), thoughts = el("div", { class: "thoughts" }), note = el("p", { class: "legend" });
  /** @type {Stage|null} */
  let stage = null;
  let shown = "", last = "";
  const player = {
    element: el("div", {}, el("div", { class: "sides" }, canvas, thoughts), note),
    failed: false,
    /** Play this checkpoint, if it is another one. @param {string} checkpoint */
    async follow(checkpoint) {
      if (checkpoint === shown || player.failed) return;
      const response = await fetch("run/agent.safetensors");
      if (!response.ok) return;
      const bytes = await response.arrayBuffer(), { frameSkip } = await about(name), agent = readable(bytes, frameSkip);
      if (typeof agent === "string") {
        player.failed = true;
        note.textContent = agent;
        return;
      }
      stage?.close();
      const game = await open(name, agent.settings), machine = new Machine(agent.trained, agent.skip, newSeed());
      const bars = probabilityBars(game.actions), value = course("value");
      const mine = new Stage(game, machine, `${name}, played by the newest checkpoint`);
      stage = mine;
      mine.endless = true;
      mine.onstep = () => {
        bars.show(machine.agent.probabilities);
        if (machine.agent.values.length) value.add(machine.agent.values[0]);
        value.draw();
        note.textContent = `${checkpoint}: score ${short(mine.score)}${last}`;
      };
      mine.onend = (score) => { last = `, last game ${short(score)}`; };
      canvas.replaceChildren(mine.canvas);
      thoughts.replaceChildren(bars.element, value.element);
      shown = checkpoint;
      mine.restart(newSeed());
      mine.clock.start();
    },
    close() { stage?.close(); },
  };
  return player;
}

/** The policy in a file, with its settings; or why the page cannot play it, as with an encoder of the user's own.
 * @param {ArrayBuffer} bytes @param {number} frameSkip the game's own */
function readable(bytes, frameSkip) {
  try {
    const trained = Policy.parse(bytes);
    return { trained, ...frameByFrame(trained, frameSkip) };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return error.message;
  }
}

/** A curve over the steps. @param {string} key @param {string} title */
function curve(key, title) {
  const canvas = el("canvas", { width: 480, height: 160, role: "img", "aria-label": title }), range = el("span", {});
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  return {
    element: el("figure", { class: "curve" }, el("figcaption", {}, title, " ", range), canvas),
    /** @param {Entry[]} entries */
    show(entries) {
      const known = entries.filter((entry) => typeof entry[key] === "number"), stride = Math.max(1, Math.floor(known.length / POINTS));
      const points = known.filter((_, index) => index % stride === 0 || index === known.length - 1)
        .map((entry) => [Number(entry.step), Number(entry[key])]);
      context.clearRect(0, 0, canvas.width, canvas.height);
      if (!points.length) return;
      const low = Math.min(...points.map((point) => point[1])), high = Math.max(...points.map((point) => point[1]));
      const end = points[points.length - 1][0] || 1;
      range.textContent = `${short(points[points.length - 1][1])} (${short(low)} to ${short(high)})`;
      context.strokeStyle = getComputedStyle(canvas).color;
      context.lineWidth = 2;
      context.beginPath();
      for (const [step, value] of points) context.lineTo((480 * step) / end, 155 - (150 * (value - low)) / (high - low || 1));
      context.stroke();
    },
  };
}

/** The share of each stage in an iteration. */
function stageBars() {
  const rows = Object.entries(STAGES).map(([key, title]) => {
    const bar = el("span", { class: "bar" }), value = el("span", { class: "value" });
    return { key, bar, value, row: el("div", { class: "row" }, el("span", { class: "name" }, title), el("span", { class: "track" }, bar), value) };
  });
  return {
    element: el("div", {}, el("h2", {}, "Stages"), el("div", { class: "bars" }, ...rows.map((each) => each.row))),
    /** @param {Entry} entry */
    show(entry) {
      const total = rows.reduce((sum, { key }) => sum + (entry[key] ?? 0), 0) || 1;
      for (const { key, bar, value } of rows) {
        const percent = ((100 * (entry[key] ?? 0)) / total).toFixed(0);
        bar.style.width = `${percent}%`;
        value.textContent = `${percent}%`;
      }
    },
  };
}
