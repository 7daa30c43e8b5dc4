/* The files of the page: the list of games, their descriptions and modules, and the agents. Each is fetched once. */
import { Game } from "../engine.js";
import { Policy } from "../policy.js";

/** @typedef {import("../engine.js").About} About */
/** @typedef {import("../engine.js").Settings} Settings */
/** @typedef {{name: string, title: string, agent: boolean}} Entry */

/** @type {Map<string, Promise<any>>} */
const kept = new Map();

/** @template T @param {string} key @param {() => Promise<T>} make @returns {Promise<T>} */
function once(key, make) {
  if (!kept.has(key)) {
    kept.set(key, make().catch((error) => { kept.delete(key); throw error; }));
  }
  return /** @type {Promise<T>} */ (kept.get(key));
}

/** @param {string} path */
async function get(path) {
  const response = await fetch(path);
  if (!response.ok) throw new Error(`${path}: ${response.status} ${response.statusText}`);
  return response;
}

/** The games of this page, in their order. @returns {Promise<Entry[]>} */
export function catalog() {
  return once("catalog", async () => (await get("catalog.json")).json());
}

/** @param {string} name @returns {Promise<About>} */
export function about(name) {
  return once(`about ${name}`, async () => (await get(`games/${name}.json`)).json());
}

/** The console's table of cartridges; null on a page without the console. @returns {Promise<import("../console.js").Table|null>} */
export function cartridgeTable() {
  return once("cartridges", async () => (await get("console/cartridges.json")).json());
}

/** The console. @returns {Promise<WebAssembly.Module>} */
export function consoleModule() {
  return once("console", async () => WebAssembly.compile(await (await get("console/console.wasm")).arrayBuffer()));
}

/** @typedef {(settings: Settings) => Promise<Game>} Open */

/** How to open the games that are not files of the page. @type {Map<string, Open>} */
const offered = new Map();

/** Add a game that is no file of the page. @param {About} facts @param {Open} open */
export function offer(facts, open) {
  offered.set(facts.name, open);
  kept.set(`about ${facts.name}`, Promise.resolve(facts));
}

/** Environments of a game, in an instance of their own. @param {string} name @param {Settings} [settings] @returns {Promise<Game>} */
export async function open(name, settings = {}) {
  const own = offered.get(name);
  if (own) return own(settings);
  const [facts, module] = await Promise.all([about(name), once(`module ${name}`, async () =>
    WebAssembly.compile(await (await get(`games/${name}.wasm`)).arrayBuffer()))]);
  return Game.create(module, facts, settings);
}

/** The trained agent of a game. @param {string} name @returns {Promise<Policy>} */
export function policy(name) {
  return once(`agent ${name}`, async () => Policy.parse(await (await get(`agents/${name}.safetensors`)).arrayBuffer()));
}
