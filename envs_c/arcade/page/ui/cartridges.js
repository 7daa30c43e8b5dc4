/* Cartridges of the user's own: a page to pick a file, and the games of those that were picked. A file's bytes stay in this
 * page's memory until it is closed or loaded again; they are neither sent nor kept. */
import { checkSize, openCartridge, readCartridge } from "../console.js";
import { el } from "./dom.js";
import { cartridgeTable, consoleModule, offer } from "./files.js";

const ENDINGS = ".bin,.a26,.rom";

/** The games of the files that were picked, by name. @type {Map<string, import("./files.js").Entry>} */
const picked = new Map();

/** @returns {import("./files.js").Entry[]} */
export const cartridges = () => [...picked.values()];

/** True if a game of this name would be a cartridge's. @param {string} name */
export const isCartridge = (name) => /^atari_\w+$/.test(name);

/** Take the file of a cartridge. @param {File} file @returns {Promise<string>} the game's name */
async function insert(file) {
  const table = await cartridgeTable();
  if (!table) throw new RangeError("This page has no console: `insertcoin arcade` writes one that has");
  checkSize(file.size); // before it is read: any file can be dropped here
  const cartridge = readCartridge(new Uint8Array(await file.arrayBuffer()), table);
  const { about } = cartridge, { name, title } = about;
  offer(about, async (settings) => openCartridge(await consoleModule(), cartridge, settings));
  picked.set(name, { name, title, agent: table.agents.includes(name) });
  return name;
}

/**
 * The page that asks for a file.
 * @param {HTMLElement} place
 * @param {string} hash the page's address: #cartridge, or a view of a game whose file is not here
 * @returns {() => void}
 */
export function showCartridges(place, hash) {
  const [, wanted] = hash.slice(1).split("/");
  const error = el("p", { class: "error", role: "alert" });
  const take = async (/** @type {File|undefined} */ file) => {
    if (!file) return;
    error.textContent = "";
    try {
      const name = await insert(file), next = wanted === name ? hash : `#play/${name}`;
      if (location.hash === next) window.dispatchEvent(new Event("hashchange")); // the address asked for this file
      else location.hash = next;
    } catch (problem) {
      if (!(problem instanceof Error)) throw problem;
      error.textContent = problem.message;
    }
  };
  const input = el("input", { type: "file", id: "cartridge", accept: ENDINGS, onchange: () => take(input.files[0]) });
  document.title = "A cartridge of your own - insertcoin arcade";
  place.append(el("h1", {}, "A cartridge of your own"),
    el("p", {}, "Play the file of an Atari 2600 cartridge that you have, such as those that the Python package ale-py brings. The "
      + "file stays in this page: it is not sent anywhere, and gone when the page is closed. There is no sound."),
    wanted ? el("p", { role: "status" }, `Pick the file of ${wanted.replace("atari_", "")} again.`) : "",
    el("div", { class: "buttons" }, el("label", { for: "cartridge" }, "The cartridge's file"), input), error,
    el("ul", {}, ...cartridges().map((each) => el("li", {}, el("a", { href: `#play/${each.name}` }, each.title)))),
    el("p", {}, el("a", { href: "#" }, "All games")));
  const over = (/** @type {DragEvent} */ event) => event.preventDefault();
  const drop = (/** @type {DragEvent} */ event) => {
    event.preventDefault();
    take(event.dataTransfer?.files[0]);
  };
  place.addEventListener("dragover", over);
  place.addEventListener("drop", drop);
  return () => {};
}
