// node md5.mjs: reads bytes, and writes a line for each length from 0 on: the digest of that many of them.
import { readFileSync } from "node:fs";
import { md5 } from "../../../envs_c/arcade/page/md5.js";

const bytes = readFileSync(0);
console.log(Array.from({ length: bytes.length + 1 }, (_, length) => md5(bytes.subarray(0, length))).join("\n"));
