// node kinds.mjs TABLE: reads a cartridge's file, and writes what the page takes it for.
import { readFileSync } from "node:fs";
import { readCartridge } from "../../../envs_c/arcade/page/console.js";

console.log(JSON.stringify(readCartridge(readFileSync(0), JSON.parse(readFileSync(process.argv[2], "utf8"))).kind));
