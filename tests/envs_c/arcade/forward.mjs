// node forward.mjs POLICY STEPS COUNT: reads STEPS times COUNT observations, then as many float32 `start`; writes the policy's
// logits and values of each step as float32.
import { readFileSync, writeSync } from "node:fs";
import { Policy } from "../../../envs_c/arcade/page/policy.js";

const [path, steps, count] = process.argv.slice(2);
const bytes = readFileSync(path);
const policy = Policy.parse(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
const input = readFileSync(0), rows = Number(steps) * Number(count);
const begins = input.length - 4 * rows;
const kind = begins === rows * policy.size ? Uint8Array : Float32Array;
const observations = new kind(input.buffer.slice(input.byteOffset, input.byteOffset + begins));
const starts = new Float32Array(input.buffer.slice(input.byteOffset + begins, input.byteOffset + input.length));
const memory = policy.memory(Number(count));
for (let step = 0; step < Number(steps); step++) {
  const at = step * Number(count), end = at + Number(count);
  const { logits, values } = policy.forward(observations.subarray(at * policy.size, end * policy.size),
    starts.subarray(at, end), memory);
  writeSync(1, new Uint8Array(logits.buffer));
  writeSync(1, new Uint8Array(values.buffer));
}
