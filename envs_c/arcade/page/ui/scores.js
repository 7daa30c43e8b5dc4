/* The best scores of people, kept in this browser, for each game under the same rules and options. */

/** @typedef {{name: string, version: number}} Rules a game and the version of its rules, as in `About` */

/** @param {Rules} rules @param {Object<string, number>} options */
function key({ name: game, version }, options) {
  const chosen = Object.entries(options).map(([name, value]) => `${name}=${value}`).sort().join(",");
  return `insertcoin best ${game} version=${version} ${chosen}`;
}

/** @param {Rules} rules @param {Object<string, number>} options @returns {number|null} */
export function best(rules, options) {
  try {
    const text = localStorage.getItem(key(rules, options));
    return text === null || !Number.isFinite(Number(text)) ? null : Number(text);
  } catch (error) {
    if (error instanceof DOMException) return null; // a browser that keeps nothing
    throw error;
  }
}

/** Keep a score if it is the best. @param {Rules} rules @param {Object<string, number>} options @param {number} score */
export function keep(rules, options, score) {
  const before = best(rules, options);
  if (before !== null && before >= score) return;
  try {
    localStorage.setItem(key(rules, options), String(score));
  } catch (error) {
    if (!(error instanceof DOMException)) throw error;
  }
}
