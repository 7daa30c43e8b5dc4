// node sample.mjs SEED STEP ACTIONS MASKED: reads rows of ACTIONS float32 logits, then a byte for each if MASKED is 1; writes
// the action drawn for each row as int32.
import { readFileSync, writeSync } from "node:fs";
import { choose, randomBits } from "../../../envs_c/arcade/page/sampling.js";

const [seed, step, actions, masked] = process.argv.slice(2).map(Number), input = readFileSync(0);
const size = input.length / (masked ? 5 : 4);
const logits = new Float32Array(input.buffer.slice(input.byteOffset, input.byteOffset + 4 * size));
const actionMask = masked ? new Uint8Array(input.buffer.slice(input.byteOffset + 4 * size)) : null;
const drawn = new Int32Array(size / actions);
for (let i = 0; i < drawn.length; i++) {
  const at = i * actions, random = randomBits(BigInt(seed), i, step);
  drawn[i] = choose(logits.subarray(at, at + actions), actionMask && actionMask.subarray(at, at + actions), random).action;
}
writeSync(1, new Uint8Array(drawn.buffer));
