/* The sampling of actions, as in trainer/kernels/rows.h, in the same float32 arithmetic: equal logits give equal actions. */

const round = Math.fround;

/** The high and the low word of a * b. @param {number} a @param {number} b 32 bits @returns {[number, number]} */
function product(a, b) {
  const al = a & 0xffff, ah = a >>> 16, bl = b & 0xffff, bh = b >>> 16;
  const middle = ah * bl + Math.floor(al * bl / 65536), lower = al * bh + middle % 65536;
  return [ah * bh + Math.floor(middle / 65536) + Math.floor(lower / 65536), Math.imul(a, b) >>> 0];
}

/**
 * 32 random bits that depend only on the seed, the environment and the step: the first word of Philox 4x32-10.
 * @param {bigint} seed 64 bits
 * @param {number} environment
 * @param {number} step
 * @returns {number}
 */
export function randomBits(seed, environment, step) {
  let k0 = Number(seed & 0xffffffffn), k1 = Number(seed >> 32n);
  let c0 = environment >>> 0, c1 = step >>> 0, c2 = Math.floor(step / 2 ** 32) >>> 0, c3 = 0;
  for (let turn = 0; turn < 10; turn++) {
    const [high0, low0] = product(0xd2511f53, c0), [high1, low1] = product(0xcd9e8d57, c2);
    c0 = (high1 ^ c1 ^ k0) >>> 0;
    c1 = low1;
    c2 = (high0 ^ c3 ^ k1) >>> 0;
    c3 = low0;
    k0 = (k0 + 0x9e3779b9) >>> 0;
    k1 = (k1 + 0xbb67ae85) >>> 0;
  }
  return c0;
}

const BITS = new Int32Array(1), FLOAT = new Float32Array(BITS.buffer);

/** `row_exp`: e^x in float32. @param {number} x @returns {number} */
function exponential(x) {
  x = Math.min(Math.max(x, -87), 88);
  const n = round(round(round(x * round(1.44269504088896341)) + 12582912) - 12582912);
  const r = round(round(x - round(n * 0.693359375)) + round(n * round(2.12194440e-4)));
  let p = round(1.9875691500e-4);
  for (const c of [1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1])
    p = round(round(p * r) + round(c));
  BITS[0] = n + 127 << 23;
  return round(round(round(round(round(p * r) * r) + r) + 1) * FLOAT[0]);
}

/**
 * The weights e^(logit - highest) of the legal actions, 0 of others.
 * @param {Float32Array} logits
 * @param {Uint8Array|null} actionMask
 * @returns {Float32Array}
 */
function weightsOf(logits, actionMask) {
  let highest = -3.0e38;
  for (let a = 0; a < logits.length; a++) if ((!actionMask || actionMask[a]) && logits[a] > highest) highest = logits[a];
  return Float32Array.from(logits, (logit, a) => actionMask && !actionMask[a] ? 0 : exponential(round(logit - highest)));
}

/**
 * The probabilities of the actions, and one drawn from them by 32 random bits.
 * @param {Float32Array} logits
 * @param {Uint8Array|null} actionMask
 * @param {number|null} random null takes the most probable action
 * @returns {{action: number, probabilities: Float32Array}} action 0 if none is legal
 */
export function choose(logits, actionMask, random) {
  const weights = weightsOf(logits, actionMask);
  let total = 0, action = 0, passed = 0;
  for (const weight of weights) total = round(total + weight);
  const probabilities = weights.map((weight) => total ? weight / total : 0);
  if (random === null) {
    for (let a = 1; a < weights.length; a++) if (weights[a] > weights[action]) action = a;
    return { action, probabilities };
  }
  const limit = round(round((random >>> 8) / 16777216) * total);
  for (let a = 0; a < weights.length; a++) {
    if (actionMask && !actionMask[a]) continue;
    action = a; // the last legal one if rounding keeps the sum below the limit
    passed = round(passed + weights[a]);
    if (passed > limit) break;
  }
  return { action, probabilities };
}
