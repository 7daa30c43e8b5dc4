/* The page of one game: tabs to play, to watch the agent, to compete with it, to look inside, and the wall. */
import { el } from "./dom.js";
import { about } from "./files.js";
import { showCompete, showPlay, showWatch } from "./tables.js";
import { showInspect } from "./inspect.js";
import { showWall } from "./wall.js";

/** @typedef {import("./files.js").Entry} Entry */
/** @typedef {(place: HTMLElement, entry: Entry) => Promise<() => void>} View */

/** @type {Object<string, {title: string, show: View, agent: boolean}>} */
const VIEWS = {
  play: { title: "Play", show: showPlay, agent: false },
  watch: { title: "Watch the agent", show: showWatch, agent: true },
  compete: { title: "Compete", show: showCompete, agent: true },
  inspect: { title: "Look inside", show: showInspect, agent: false },
  wall: { title: "Many at once", show: showWall, agent: false },
};

/** @param {HTMLElement} place @param {Entry} entry @param {string} view @returns {Promise<() => void>} */
export async function showGame(place, entry, view) {
  if (!Object.hasOwn(VIEWS, view)) throw new RangeError(`There is no view "${view}": ${Object.keys(VIEWS).join(", ")}`);
  const chosen = VIEWS[view];
  if (chosen.agent && !entry.agent) throw new RangeError(`${entry.title} has no trained agent on this page`);
  const facts = await about(entry.name), body = el("div", { class: `view ${view}` });
  document.title = `${entry.title}: ${chosen.title.toLowerCase()} - insertcoin arcade`;
  const links = Object.entries(VIEWS).filter(([, each]) => entry.agent || !each.agent).map(([name, each]) =>
    el("a", { href: `#${name}/${entry.name}`, "aria-current": name === view ? "page" : null }, each.title));
  place.append(el("h1", {}, entry.title), el("nav", { "aria-label": "views of the game" }, ...links), body,
    el("p", { class: "summary" }, facts.summary));
  return chosen.show(body, entry);
}
