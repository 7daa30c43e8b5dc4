/* The MD5 digest of RFC 1321, by which console.js knows the file of a cartridge; a browser has no function for it. */

const SHIFTS = [[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]]; // of each round
const SINES = Array.from({ length: 64 }, (_, k) => Math.floor(Math.abs(Math.sin(k + 1)) * 2 ** 32) | 0);
const START = [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476];

/** What each round makes of three of the four words. @type {((b: number, c: number, d: number) => number)[]} */
const MIXES = [(b, c, d) => (b & c) | (~b & d), (b, c, d) => (d & b) | (~d & c), (b, c, d) => b ^ c ^ d, (b, c, d) => c ^ (b | ~d)];
/** The word of the block that step k reads. @type {((k: number) => number)[]} */
const WORDS = [(k) => k, (k) => 5 * k + 1, (k) => 3 * k + 5, (k) => 7 * k];

/** @param {Uint8Array} bytes @returns {string} 32 hexadecimal digits */
export function md5(bytes) {
  const padded = new Uint8Array((bytes.length + 72) & ~63), view = new DataView(padded.buffer), sum = START.map((word) => word | 0);
  padded.set(bytes);
  padded[bytes.length] = 128;
  view.setBigUint64(padded.length - 8, BigInt(8 * bytes.length), true);
  for (let at = 0; at < padded.length; at += 64) {
    let [a, b, c, d] = sum;
    for (let k = 0; k < 64; k++) {
      const round = k >> 4, shift = SHIFTS[round][k & 3], word = view.getInt32(at + 4 * (WORDS[round](k) & 15), true);
      const turned = (a + MIXES[round](b, c, d) + SINES[k] + word) | 0;
      [a, d, c, b] = [d, c, b, (b + ((turned << shift) | (turned >>> (32 - shift)))) | 0];
    }
    [a, b, c, d].forEach((word, k) => { sum[k] = (sum[k] + word) | 0; });
  }
  const out = new DataView(new ArrayBuffer(16));
  sum.forEach((word, k) => out.setInt32(4 * k, word, true));
  return Array.from(new Uint8Array(out.buffer), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
