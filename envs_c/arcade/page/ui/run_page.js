/* A training run that `insertcoin watch` serves: its curves, its stages, and its newest checkpoint playing. */
import { Policy } from "../policy.js";
import { course, probabilityBars } from "./charts.js";
import { button, el, short, still } from "./dom.js";
import { about, open } from "./files.js";
import { Machine, frameByFrame } from "./players.js";
import { Stage, newSeed } from "./stage.js";

/** @typedef {{run: string, game: string|null, title: string, total_steps: number, running: boolean, checkpoint: string|null,
 *   metrics: number|null, gone: boolean}} Status */
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
  const state = el("p", { class: "scores" }, "reading the run"), player = first.game ? runPlayer(first.game) : null;
  const curves = Object.entries(CURVES).map(([key, title]) => curve(key, title)), stages = stageBars();
  /** @type {Entry[]} */
  const entries = [];
  let read = 0, timer = 0, closed = false, file = first.metrics;
  place.append(el("h1", {}, `${first.title}: ${first.run}`), state, player?.element ?? "",
    el("div", { class: "curves" }, ...curves.map((each) => each.element)), stages.element);

  const update = async () => {
    const now = await status();
    if (now.gone) throw new Error("the run's folder is gone");
    if (now.metrics !== file) { // a resumed training has written the file anew
      file = now.metrics;
      read = entries.length = 0;
    }
    while (!closed) {
      const response = await ask(`run/metrics?from=${read}`), text = response.ok ? await response.text() : "";
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
      state.textContent = error.message;
    }
    if (!closed) timer = window.setTimeout(loop, POLL);
  };
  loop(); // the view is shown before the first agent is made
  return () => {
    closed = true;
    clearTimeout(timer);
    player?.close();
  };
}

/** The server's answer. @param {string} path @returns {Promise<Response>} */
async function ask(path) {
  try {
    return await fetch(path);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new Error("insertcoin watch has ended");
  }
}

/** @returns {Promise<Status>} */
async function status() {
  const response = await ask("run/status.json");
  if (response.status === 404) throw new RangeError("This page follows no run: `insertcoin watch RUN` serves one that does");
  if (!response.ok) throw new Error(response.statusText);
  return response.json();
}

/** The newest checkpoint, playing. @param {string} name of the game */
function runPlayer(name) {
  const canvas = el("div", { class: "table" }), thoughts = el("div", { class: "thoughts" }), note = el("p", { class: "legend" });
  /** @type {Stage|null} */
  let stage = null;
  let tried = "", last = "", reason = "", paused = still(), closed = false;
  const pause = button(paused ? "Go on" : "Pause", () => {
    paused = !paused;
    if (stage) stage.clock.paused = paused;
    pause.textContent = paused ? "Go on" : "Pause";
  });
  return {
    element: el("div", {}, el("div", { class: "sides" }, canvas, thoughts), note),
    /** Play this checkpoint, if it is another one; if it cannot be played, the page says why. @param {string} checkpoint */
    async follow(checkpoint) {
      if (checkpoint === tried) return;
      const response = await ask("run/agent.safetensors");
      const agent = response.ok ? await playable(name, await response.arrayBuffer()) : response.statusText;
      if (closed) return;
      tried = checkpoint;
      reason = typeof agent === "string" ? agent : "";
      if (typeof agent === "string") {
        if (!stage) note.textContent = agent;
        return;
      }
      stage?.close();
      const { game } = agent, machine = new Machine(agent.trained, agent.skip, newSeed());
      const bars = probabilityBars(game.actions), value = course("value");
      const mine = new Stage(game, machine, `${name}, played by the newest checkpoint`);
      stage = mine;
      mine.endless = true;
      mine.onstep = () => {
        bars.show(machine.agent.probabilities);
        if (machine.agent.values.length) value.add(machine.agent.values[0]);
        value.draw();
        note.textContent = `${checkpoint}: score ${short(mine.score)}${last}${reason && `. ${tried}: ${reason}`}`;
      };
      mine.onend = (score) => { last = `, last game ${short(score)}`; };
      canvas.replaceChildren(mine.canvas, el("div", { class: "buttons" }, pause));
      thoughts.replaceChildren(bars.element, value.element);
      mine.restart(newSeed());
      mine.clock.paused = paused;
      mine.clock.start();
    },
    close() {
      closed = true;
      stage?.close();
    },
  };
}

/** The policy in a file, and a game under its settings; or why the page cannot play it, as with an encoder of the user's own.
 * @param {string} name of the game @param {ArrayBuffer} bytes */
async function playable(name, bytes) {
  const { frameSkip } = await about(name);
  try {
    const trained = Policy.parse(bytes), { settings, skip } = frameByFrame(trained, frameSkip);
    return { trained, skip, game: await open(name, settings) };
  } catch (error) {
    if (!(error instanceof TypeError || error instanceof RangeError)) throw error;
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
