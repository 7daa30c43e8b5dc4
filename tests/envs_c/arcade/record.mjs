// node record.mjs < AGENT.safetensors: prints what the page says of the agent's score.
import { readFileSync } from "node:fs";
import { Policy } from "../../../envs_c/arcade/page/policy.js";

const bytes = readFileSync(0);
process.stdout.write(Policy.parse(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length)).record());
