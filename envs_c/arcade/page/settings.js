/* The settings of a `Game`, checked as envs_c.make checks them. */

/** @typedef {import("./engine.js").About} About */
/** @typedef {import("./engine.js").Settings} Settings */

const MOST_SEED = 2n ** 64n - 1n;

/** `value`, if it is in the range; throws a RangeError.
 * @param {string} name @param {number} value @param {number} low @param {number} high @param {boolean} [integer] */
export function check(name, value, low, high, integer = true) {
  if (typeof value === "number" && value >= low && value <= high && (!integer || Number.isInteger(value))) return value;
  throw new RangeError(`${name} must be ${integer ? "an integer" : "a number"} from ${low} to ${high}, not ${value}`);
}

/** A seed as 64 bits; throws a RangeError.
 * @param {number|bigint} seed */
export function checkSeed(seed) {
  const whole = typeof seed === "bigint" || Number.isInteger(seed) ? BigInt(seed) : -1n;
  if (whole >= 0n && whole <= MOST_SEED) return whole;
  throw new RangeError(`seed must be an integer from 0 to 2^64 - 1, not ${seed}`);
}

/** All settings, those left out by their defaults; throws a RangeError that names a wrong one.
 * @param {About} about @param {Settings} given @returns {Required<Settings>} */
export function complete(about, given) {
  /** @type {Object<string, number>} */
  const options = {};
  for (const [name, option] of Object.entries(about.options)) {
    const value = given.options?.[name] ?? option.default;
    options[name] = check(`option ${name} of ${about.name}`, value, option.low, option.high, option.integer);
    if (option.values && !option.values.includes(value))
      throw new RangeError(`option ${name} of ${about.name} must be ${option.values.join(" or ")}, not ${value}`);
  }
  for (const name of Object.keys(given.options ?? {}))
    if (!Object.hasOwn(options, name)) throw new RangeError(`option ${name} of ${about.name} does not exist: it has ` +
      (Object.keys(options).join(", ") || "none"));
  const views = Object.keys(about.views), view = given.view ?? views[0];
  if (!views.includes(view)) throw new RangeError(`view must be ${views.join(" or ")}, not ${view}`);
  const noopMax = check("noopMax", given.noopMax ?? 0, 0, 10000);
  if (noopMax && about.actions[0] !== "NOOP") throw new RangeError(`noopMax must be 0 in ${about.name}, which has no NOOP`);
  return {
    count: check("count", given.count ?? 1, 1, about.capacity), view, options, noopMax,
    frameSkip: check("frameSkip", given.frameSkip ?? about.frameSkip, 1, 1000),
    sticky: check("sticky", given.sticky ?? 0, 0, 1, false),
    timeLimit: check("timeLimit", (given.timeLimit === undefined ? about.timeLimit : given.timeLimit) ?? 0, 0, 2 ** 31 - 1),
  };
}

/** A seed of the system's random numbers. @returns {bigint} */
export function randomSeed() {
  return crypto.getRandomValues(new BigUint64Array(1))[0];
}
