/* The hall: a cabinet for each game, in which its agent plays. */
import { Clock } from "./clock.js";
import { el, still } from "./dom.js";
import { about, cartridgeTable, open, policy } from "./files.js";
import { Agent } from "../policy.js";

/** @typedef {import("./files.js").Entry} Entry */

const SLOWEST = 4, FASTEST = 20; // steps a second of a thumbnail

/** @param {HTMLElement} place @param {Entry[]} games @returns {Promise<() => void>} */
export async function showHall(place, games) {
  document.title = "insertcoin arcade";
  const cabinets = games.map((entry) => cabinet(entry));
  const observer = new IntersectionObserver((changes) => {
    for (const change of changes) cabinets.find((each) => each.element === change.target)?.seen(change.isIntersecting);
  });
  for (const each of cabinets) observer.observe(each.element);
  const table = await cartridgeTable().catch(() => null); // without the console's files the games play on
  place.append(el("h1", {}, "Choose a game"),
    el("p", {}, "Each cabinet shows a trained agent that plays now. Play yourself, watch the agent and what it thinks, compete "
      + "with it on the same seed, look inside, or step 256 environments at once."),
    el("ul", { class: "hall" }, ...cabinets.map((each) => el("li", {}, each.element))),
    table ? el("p", {}, el("a", { href: "#cartridge" }, "Play the file of a cartridge of your own")) : "");
  return () => {
    observer.disconnect();
    for (const each of cabinets) each.close();
  };
}

/** @param {Entry} entry */
function cabinet(entry) {
  const canvas = el("canvas", { width: 160, height: 160, "aria-hidden": "true" }), score = el("span", { class: "score" });
  const element = el("a", { class: "cabinet", href: `#${entry.agent ? "watch" : "play"}/${entry.name}` }, canvas,
    el("span", { class: "title" }, entry.title), score);
  /** @type {Clock|null} */
  let clock = null;
  let visible = false, closed = false, hovered = false, loading = false;
  const run = () => {
    if (clock) clock.paused = !visible || (still() && !hovered);
    if (clock && !clock.running && visible) clock.start();
    if (clock && clock.running && !visible) clock.stop();
  };
  const begin = async () => {
    loading = true;
    const made = await thumbnail(entry, canvas, score);
    if (closed) return;
    clock = made;
    run();
  };
  for (const [name, value] of /** @type {[string, boolean][]} */ ([["pointerenter", true], ["focus", true], ["pointerleave", false],
    ["blur", false]])) element.addEventListener(name, () => { hovered = value; run(); });
  return {
    element,
    /** @param {boolean} value */
    seen(value) {
      visible = value;
      if (visible && !loading) begin().catch((error) => { score.textContent = error.message; });
      run();
    },
    close() { closed = true; clock?.stop(); },
  };
}

/** @param {Entry} entry @param {HTMLCanvasElement} canvas @param {HTMLElement} score @returns {Promise<Clock>} */
async function thumbnail(entry, canvas, score) {
  const facts = await about(entry.name), [width, height] = facts.screen;
  const trained = entry.agent ? await policy(entry.name) : null;
  const game = await open(entry.name, trained ? trained.settings({ count: 1 }) : { count: 1 });
  const agent = trained && new Agent(trained, 1, 1), skip = game.settings.frameSkip;
  canvas.width = width;
  canvas.height = height;
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d")), image = context.createImageData(width, height);
  game.reset(1);
  let dirty = true;
  const draw = () => {
    if (!dirty) return;
    dirty = false;
    image.data.set(game.picture());
    context.putImageData(image, 0, 0);
    score.textContent = String(Math.round(game.score() * 100) / 100);
  };
  draw();
  return new Clock(Math.min(Math.max(facts.fps / skip, SLOWEST), FASTEST), () => {
    game.step(agent ? agent.act(game) : [0]);
    dirty = true;
  }, draw);
}
