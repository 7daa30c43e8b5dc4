/* Look inside: what the agent sees, the raw state, single steps, save and restore, and a link that replays the game. */
import { button, el, short, spoken } from "./dom.js";
import { open } from "./files.js";
import { agentStage, copyLink } from "./tables.js";
import { Stage, newSeed } from "./stage.js";

/** @typedef {import("./files.js").Entry} Entry */
/** @typedef {import("../engine.js").Game} Game */

const BYTES = 512; // of a state that are shown
const TABLE_ROWS = 400; // of features
const PICTURE = 84; // pixels a side

/** @param {HTMLElement} place @param {Entry} entry @returns {Promise<() => void>} */
export async function showInspect(place, entry) {
  const made = entry.agent ? await agentStage(entry) : null;
  const stage = made?.stage ?? new Stage(await open(entry.name, { count: 1, frameSkip: 1 }), { choose: () => 0, restart() {} },
    entry.title);
  const { game } = stage, features = featureTable(game), state = stateView(game), grey = greyPicture(game);
  const action = el("select", { id: "action" }, made && el("option", { value: "agent" }, "the agent's"),
    ...game.actions.map((name, index) => el("option", { value: index }, spoken(name))));
  const note = el("p", { role: "status" });
  /** @type {Uint8Array|null} */
  let saved = null;
  const show = () => {
    made?.show();
    made?.value.draw();
    features.show();
    state.show();
    grey.show();
    note.textContent = `step ${game.length()}, score ${short(stage.score)}, reward ${short(game.reward[0])}, `
      + `seed ${stage.seed}${game.terminated[0] ? ", terminated" : ""}${game.truncated[0] ? ", truncated" : ""}`;
    stage.draw();
  };
  const agent = stage.player;
  stage.player = {
    choose: () => (action.value === "agent" ? agent.choose(game) : Number(action.value)), restart: () => agent.restart(),
  };
  const stepOnce = () => stage.step(stage.player.choose(game) ?? 0);
  const run = button("Run", () => {
    const going = stage.clock.running;
    if (going) stage.clock.stop();
    else stage.clock.start();
    run.textContent = going ? "Run" : "Stop";
    note.setAttribute("aria-live", going ? "polite" : "off");
  });
  stage.endless = true;
  stage.onstep = show;
  const link = button("Copy a link to this game", () => copyLink(stage, link));
  place.append(el("div", { class: "sides" }, el("div", { class: "table" }, stage.canvas), grey.element, made?.thoughts ?? ""), note,
    el("div", { class: "buttons" }, button("Step", stepOnce), el("label", { for: "action" }, "action"), action, run,
      button("Restart", () => stage.restart(newSeed())), button("Save", () => { saved = game.save(); restore.disabled = false; })),
    el("div", { class: "buttons" }, link));
  const restore = button("Restore", () => { if (saved) stage.restore(saved); }, { disabled: true });
  place.querySelector(".buttons")?.append(restore);
  place.append(el("h2", {}, `${game.featureSize} features`), features.element, el("h2", {}, "The state"), state.element);
  stage.restart(newSeed());
  return () => stage.close();
}

/** The features, each with its name and a bar. @param {Game} game */
function featureTable(game) {
  const names = game.about.features.flatMap((each) => Array.from({ length: each.count }, (_, index) =>
    ({ ...each, name: each.count > 1 ? `${each.name} ${index}` : each.name })));
  const rows = Array.from({ length: Math.min(game.featureSize, TABLE_ROWS) }, (_, index) => {
    const { name = `feature ${index}`, help = "", low = null, high = null } = names[index] ?? {};
    const bar = el("span", { class: "bar" }), value = el("span", { class: "value" });
    return { low, high, bar, value, row: el("div", { class: "row", title: help }, el("span", { class: "name" }, name),
      el("span", { class: "track" }, bar), value) };
  });
  return {
    element: el("div", { class: "features bars" }, ...rows.map((each) => each.row)),
    show() {
      const values = game.features();
      rows.forEach(({ low, high, bar, value }, index) => {
        const from = low ?? -1, to = high ?? 1, part = (values[index] - from) / (to - from || 1);
        bar.style.width = `${100 * Math.min(Math.max(part, 0), 1)}%`;
        value.textContent = short(values[index]);
      });
    },
  };
}

/** The bytes of the state; those changed by the last step are marked. @param {Game} game */
function stateView(game) {
  const element = el("pre", { class: "state", tabindex: 0, "aria-label": "bytes of the state" });
  /** @type {Uint8Array|null} */
  let before = null;
  return {
    element,
    show() {
      const bytes = game.save(), parts = [];
      for (let at = 0; at < Math.min(bytes.length, BYTES); at++) {
        const text = bytes[at].toString(16).padStart(2, "0") + (at % 16 === 15 ? "\n" : " ");
        parts.push(before && before[at] !== bytes[at] ? el("mark", {}, text) : text);
      }
      if (bytes.length > BYTES) parts.push(`... ${bytes.length} bytes`);
      element.replaceChildren(...parts);
      before = bytes;
    },
  };
}

/** The grey picture that agents of pixels see. @param {Game} game */
function greyPicture(game) {
  const canvas = el("canvas", { width: PICTURE, height: PICTURE, class: "grey", role: "img", "aria-label": "the picture of 84 x 84" });
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  const image = context.createImageData(PICTURE, PICTURE);
  return {
    element: el("figure", { class: "table" }, canvas, el("figcaption", {}, "84 x 84 pixels")),
    show() {
      game.pixels().forEach((grey, at) => image.data.set([grey, grey, grey, 255], 4 * at));
      context.putImageData(image, 0, 0);
    },
  };
}
