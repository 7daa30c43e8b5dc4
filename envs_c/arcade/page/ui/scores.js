/* The best scores of people, kept in this browser, for each game with its options. */

/** @param {string} game @param {Object<string, number>} options */
function key(game, options) {
  return `insertcoin best ${game} ${Object.entries(options).map(([name, value]) => `${name}=${value}`).sort().join(",")}`;
}

/** @param {string} game @param {Object<string, number>} options @returns {number|null} */
export function best(game, options) {
  try {
    const text = localStorage.getItem(key(game, options));
    return text === null || !Number.isFinite(Number(text)) ? null : Number(text);
  } catch (error) {
    if (error instanceof DOMException) return null; // a browser that keeps nothing
    throw error;
  }
}

/** Keep a score if it is the best. @param {string} game @param {Object<string, number>} options @param {number} score */
export function keep(game, options, score) {
  const before = best(game, options);
  if (before !== null && before >= score) return;
  try {
    localStorage.setItem(key(game, options), String(score));
  } catch (error) {
    if (!(error instanceof DOMException)) throw error;
  }
}
