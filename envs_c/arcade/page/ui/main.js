/* The page: the part after # chooses what it shows.
 *
 *     #                     the hall
 *     #play/pong            a game: play, watch, compete, inspect or wall
 *     #cartridge            a file of the user's own, which plays as a game
 *     #replay=1&game=...    a replay
 *     #run                  a training run, on the pages of `insertcoin watch`
 */
import { cartridges, isCartridge, showCartridges } from "./cartridges.js";
import { el } from "./dom.js";
import { catalog } from "./files.js";
import { showGame } from "./game_page.js";
import { showHall } from "./hall.js";
import { showReplay } from "./replay_page.js";
import { showRun } from "./run_page.js";

/** @typedef {() => void} Close what ends a view: clocks, listeners */

/** @type {Close} */
let close = () => {};
let turn = 0; // of the newest view; an older one that is still loading is dropped

const main = /** @type {HTMLElement} */ (document.getElementById("main"));

/** @param {string} hash @param {HTMLElement} place @returns {Promise<Close>} */
async function show(hash, place) {
  if (hash.startsWith("#replay=")) return showReplay(place, hash);
  const [view, name] = hash.slice(1).split("/");
  if (view === "run") return showRun(place);
  if (view === "cartridge") return showCartridges(place, hash);
  const games = await catalog();
  if (view === "" || view === "main") return showHall(place, games);
  const entry = [...games, ...cartridges()].find((each) => each.name === name);
  if (!entry && isCartridge(name ?? "")) return showCartridges(place, hash);
  if (!entry) throw new RangeError(`There is no game "${name ?? ""}" here: ${games.map((each) => each.name).join(", ")}`);
  return showGame(place, entry, view);
}

async function route() {
  const mine = ++turn, place = el("div", {}), visited = history.state !== null; // back, forward or a reload
  history.replaceState("visited", "");
  close();
  close = () => {};
  try {
    const done = await show(location.hash, place);
    if (mine === turn) close = done;
    else done();
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    place.replaceChildren(el("p", { class: "error", role: "alert" }, error.message), el("p", {}, el("a", { href: "#" }, "All games")));
  }
  if (mine !== turn) return;
  main.replaceChildren(place);
  main.dataset.view = location.hash.slice(1).split("/")[0] || "hall";
  if (!visited) scrollTo(0, 0);
  if (document.activeElement === document.body) main.focus({ preventScroll: true });
}

main.replaceChildren(el("p", {}, "Loading")); // the text of index.html is for pages whose scripts do not run
document.querySelector(".skip")?.addEventListener("click", (event) => { // the address chooses the view, and stays
  event.preventDefault();
  main.focus();
});
window.addEventListener("hashchange", route);
route();
