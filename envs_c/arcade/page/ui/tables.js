/* The views in which a game runs at its own speed: play, watch, compete. */
import { button, el, short } from "./dom.js";
import { course, probabilityBars } from "./charts.js";
import { Keys } from "./controls.js";
import { about, open, policy } from "./files.js";
import { optionsForm } from "./options.js";
import { Machine, Person, frameByFrame } from "./players.js";
import { best, keep } from "./scores.js";
import { Stage, newSeed } from "./stage.js";
import { touchPad } from "./touch.js";

/** @typedef {import("./files.js").Entry} Entry */
/** @typedef {import("../engine.js").Settings} Settings */

const SPEEDS = [0.25, 0.5, 1, 2, 4];

/** The commands that every view has: pause, restart, speed. @param {() => Stage[]} stages @param {() => void} restart */
function commandBar(stages, restart) {
  const pause = button("Pause", () => setPaused(!stages()[0].clock.paused), { "aria-pressed": "false" });
  const setPaused = (/** @type {boolean} */ value) => {
    for (const stage of stages()) {
      stage.clock.paused = value;
      if (!value) stage.player.forget?.();
    }
    pause.setAttribute("aria-pressed", String(value));
    pause.textContent = value ? "Go on" : "Pause";
  };
  const speed = el("select", { id: "speed", onchange: () => apply() }, ...SPEEDS.map((value) =>
    el("option", { value, selected: value === 1 }, `${value}x`)));
  const apply = () => { for (const stage of stages()) stage.clock.speed = Number(speed.value); };
  const again = () => { setPaused(false); restart(); };
  return {
    element: el("div", { class: "buttons" }, pause, button("Restart", again), el("label", { for: "speed" }, "speed"), speed),
    apply,
    /** @param {string} letter of a key @returns {boolean} whether it is a command */
    command(letter) {
      if (letter === "p") setPaused(!stages()[0].clock.paused);
      else if (letter === "r") again();
      else if (letter === "escape") location.hash = "#";
      else return false;
      return true;
    },
  };
}

/** A line with the score, the lives and the state of a stage. @param {Stage} stage @param {string} who */
function scoreLine(stage, who) {
  const score = el("output", { class: "score", "aria-live": "off" }, "0"), more = el("span", {});
  const end = el("span", { role: "status" }); // said aloud, but not each step
  return {
    element: el("p", { class: "scores" }, who && `${who}: `, "score ", score, " ", more, " ", end),
    /** @param {string} note */
    show(note) {
      const { game } = stage, lives = game.lives ? `lives ${game.lives[0]}` : "";
      score.textContent = String(Math.round(stage.score * 100) / 100);
      more.textContent = [lives, stage.player.controls?.selected].filter(Boolean).join("  ");
      if (end.textContent !== note) end.textContent = note;
    },
  };
}

/** @param {HTMLElement} place @param {Entry} entry @returns {Promise<() => void>} */
export async function showPlay(place, entry) {
  const facts = await about(entry.name), initial = Object.fromEntries(Object.entries(facts.options).map(([name, each]) =>
    [name, each.default]));
  let end = () => {}, left = false;
  const start = async (/** @type {Object<string, number>} */ options, /** @type {number|null} */ seed) => {
    const next = await playTable(place, entry, options, seed, start); // the game before goes on if the options are wrong
    end();
    end = next;
    if (left) end();
  };
  await start(initial, null);
  return () => { left = true; end(); };
}

/**
 * @param {HTMLElement} place @param {Entry} entry @param {Object<string, number>} options @param {number|null} seed
 * @param {(options: Object<string, number>, seed: number|null) => Promise<void>} begin with other options
 */
async function playTable(place, entry, options, seed, begin) {
  const game = await open(entry.name, { count: 1, frameSkip: 1, timeLimit: 0, options });
  const keys = new Keys(document.body, (letter) => bar.command(letter)), person = new Person(game, keys);
  const stage = new Stage(game, person, `${entry.title}, played by you`), line = scoreLine(stage, "");
  const error = el("p", { class: "error", role: "alert" }), record = el("output", { "aria-live": "off" });
  const restart = () => stage.restart(seed ?? newSeed()), bar = commandBar(() => [stage], restart);
  const showBest = () => {
    const score = best(game.about, options);
    record.textContent = score === null ? "-" : short(score);
  };
  stage.onstep = stage.onchoice = () => line.show(stage.over ? "over: R or Restart plays again" : "");
  stage.onend = (score) => { keep(game.about, options, score); showBest(); };
  const link = button("Copy a link to this game", () => copyLink(stage, link));
  place.replaceChildren(el("div", { class: "sides" }, el("div", { class: "table" }, stage.canvas, touchPad(stage, person.controls, keys)),
    el("div", { class: "panel" }, line.element, el("p", {}, "best ", record), bar.element,
      el("p", { class: "legend" }, `${person.controls.legend()}; P pauses, R restarts, Escape leaves; a gamepad works too`),
      el("div", { class: "buttons" }, link), error,
      optionsForm(game.about, options, seed, (next, nextSeed) => begin(next, nextSeed).catch((problem) => {
        error.textContent = problem.message;
      })))));
  showBest();
  restart();
  bar.apply();
  stage.clock.start();
  return () => { stage.close(); keys.close(); };
}

/** @param {Stage} stage @param {HTMLElement} source the button */
export async function copyLink(stage, source) {
  const text = (source.dataset.name ??= source.textContent ?? "");
  const { recorder } = stage;
  if (!recorder) source.textContent = `A ${stage.game.about.cartridge ? "cartridge" : "restored state"} has no link`;
  else {
    const link = new URL(recorder.link(), location.href).href;
    try {
      await navigator.clipboard.writeText(link);
      source.textContent = recorder.full ? `Copied: the first ${recorder.actions.length} steps, the most of a link` : "Copied";
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      prompt("The link", link); // the browser allows no copy
    }
  }
  setTimeout(() => { source.textContent = text; }, 1500);
}

/** A stage with the agent, and what it thinks. @param {Entry} entry @param {Settings} [more] */
export async function agentStage(entry, more = {}) {
  const [trained, { frameSkip }] = await Promise.all([policy(entry.name), about(entry.name)]);
  const { settings, skip } = frameByFrame(trained, frameSkip), game = await open(entry.name, { ...settings, ...more });
  const machine = new Machine(trained, skip, newSeed()), stage = new Stage(game, machine, `${entry.title}, played by the agent`);
  const bars = probabilityBars(game.actions), value = course("value");
  const show = () => {
    bars.show(machine.agent.probabilities);
    if (machine.agent.values.length && machine.agent.probabilities.some((share) => share > 0)) value.add(machine.agent.values[0]);
  };
  return { stage, machine, trained, show, value, thoughts: el("div", { class: "thoughts" }, el("h2", {}, "What the agent thinks"),
    bars.element, value.element) };
}

/** A line with the agent's own score; nothing if its file has none. @param {import("../policy.js").Policy} trained */
function recordLine(trained) {
  const record = trained.record();
  return record && el("p", { class: "legend record" }, record);
}

/** @param {HTMLElement} place @param {Entry} entry @returns {Promise<() => void>} */
export async function showWatch(place, entry) {
  const { stage, thoughts, show, value, trained } = await agentStage(entry), line = scoreLine(stage, "");
  const restart = () => { value.clear(); stage.restart(newSeed()); }, bar = commandBar(() => [stage], restart);
  const keys = new Keys(document.body, bar.command, false);
  let last = "";
  stage.endless = true;
  stage.onstep = () => { line.show(last); show(); };
  stage.onend = (score) => { last = `last game ${short(score)}`; };
  const draw = setInterval(() => value.draw(), 100), link = button("Copy a link to this game", () => copyLink(stage, link));
  place.append(el("div", { class: "sides" }, el("div", { class: "table" }, stage.canvas),
    el("div", { class: "panel" }, line.element, bar.element, thoughts, el("div", { class: "buttons" }, link),
      el("p", { class: "legend" }, `trained for ${short(trained.about.step)} steps; actions are drawn from these probabilities; `
        + "P pauses, R restarts, Escape leaves"), recordLine(trained))));
  restart();
  stage.clock.start();
  return () => { stage.close(); keys.close(); clearInterval(draw); };
}

/** @param {HTMLElement} place @param {Entry} entry @returns {Promise<() => void>} */
export async function showCompete(place, entry) {
  const theirs = await agentStage(entry);
  const game = await open(entry.name, { ...theirs.stage.game.settings, sticky: 0 });
  const keys = new Keys(document.body, (letter) => bar.command(letter)), person = new Person(game, keys);
  const mine = new Stage(game, person, `${entry.title}, played by you`), stages = [mine, theirs.stage];
  const lines = [scoreLine(mine, "you"), scoreLine(theirs.stage, "agent")], result = el("p", { class: "result", role: "status" });
  const bar = commandBar(() => stages, () => restart());
  let waiting = true;
  const restart = () => {
    const seed = newSeed();
    for (const stage of stages) stage.restart(seed);
    for (const stage of stages) stage.clock.paused = true;
    waiting = true;
    result.textContent = "Press a key: you and the agent begin together";
  };
  const begin = setInterval(() => { // the key that begins also counts as the first action
    if (!waiting || !(keys.pressed || stages.some((stage) => !stage.clock.paused))) return;
    waiting = false;
    for (const stage of stages) stage.clock.paused = false;
    result.textContent = "";
  }, 20);
  stages.forEach((stage, index) => {
    stage.onstep = stage.onchoice = () => lines[index].show(stage.over ? "over" : "");
    stage.onend = () => {
      if (!stages.every((each) => each.over)) return;
      const lead = mine.score - theirs.stage.score;
      result.textContent = lead > 0 ? "You won" : lead < 0 ? "The agent won" : "A draw";
    };
  });
  place.append(el("p", {}, "The same game from the same seed, for you and for the agent."), el("div", { class: "sides" },
    el("div", { class: "table" }, mine.canvas, touchPad(mine, person.controls, keys), lines[0].element),
    el("div", { class: "table" }, theirs.stage.canvas, lines[1].element)), result, bar.element,
    el("p", { class: "legend" }, `${person.controls.legend()}; P pauses, R restarts, Escape leaves`),
    recordLine(theirs.trained));
  restart();
  for (const stage of stages) stage.clock.start();
  return () => { for (const stage of stages) stage.close(); keys.close(); clearInterval(begin); };
}
