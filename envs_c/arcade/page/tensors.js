/* Tensors of a safetensors file: https://github.com/huggingface/safetensors.
 *
 * A matrix in I8 has a factor for each row in the tensor NAME.scale (envs_c/arcade/agents.py writes them).
 */

/** @typedef {{data: Float32Array, shape: number[]}} Tensor */

/** @type {Map<string, number>} bytes of a number */
const WIDTHS = new Map([["F32", 4], ["F16", 2], ["BF16", 2], ["I8", 1]]);

/**
 * The tensors of a file by name, all as float32, and its metadata.
 * @param {ArrayBuffer} file
 * @returns {{tensors: Object<string, Tensor>, metadata: Object<string, string>}}
 * Throws a TypeError if it is no such file, or if a tensor is not F32, F16, BF16 or I8.
 */
export function readTensors(file) {
  if (file.byteLength < 8) throw new TypeError("the file must be a safetensors file, but it is shorter than 8 bytes");
  const begin = 8 + Number(new DataView(file).getBigUint64(0, true));
  if (begin > file.byteLength) throw new TypeError("the file must be a safetensors file, but its header is cut off");
  const header = parse(new TextDecoder().decode(new Uint8Array(file, 8, begin - 8)));
  /** @type {Object<string, Tensor>} */
  const tensors = {};
  for (const [name, { dtype, shape, data_offsets: offsets }] of Object.entries(header)) {
    if (name === "__metadata__") continue;
    const width = WIDTHS.get(dtype), bytes = file.slice(begin + offsets[0], begin + offsets[1]);
    if (!width) throw new TypeError(`tensor ${name} must be ${[...WIDTHS.keys()].join(", ")}, not ${dtype}`);
    if (bytes.byteLength !== shape.reduce((/** @type {number} */ a, /** @type {number} */ b) => a * b, width))
      throw new TypeError(`tensor ${name} must have ${shape.join(" x ")} numbers, not ${bytes.byteLength / width}: the file is `
        + "damaged");
    tensors[name] = { data: toFloats(dtype, bytes), shape };
  }
  for (const [name, { data, shape }] of Object.entries(tensors)) {
    const scale = tensors[`${name}.scale`]?.data, width = data.length / shape[0];
    if (scale) data.forEach((value, i) => { data[i] = value * scale[Math.floor(i / width)]; });
  }
  return { tensors, metadata: header.__metadata__ ?? {} };
}

/** @param {string} text @returns {any} */
function parse(text) {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new TypeError(`the file must be a safetensors file, but its header is not JSON: ${error}`);
  }
}

/** @param {string} dtype one of WIDTHS @param {ArrayBuffer} bytes @returns {Float32Array} */
function toFloats(dtype, bytes) {
  if (dtype === "F32") return new Float32Array(bytes);
  if (dtype === "BF16") return new Float32Array(Uint32Array.from(new Uint16Array(bytes), (bits) => bits << 16).buffer);
  if (dtype === "F16") return Float32Array.from(new Uint16Array(bytes), halfToFloat);
  return Float32Array.from(new Int8Array(bytes));
}

/** The value of a float16. @param {number} bits @returns {number} */
function halfToFloat(bits) {
  const sign = bits & 0x8000 ? -1 : 1, exponent = bits >> 10 & 31, fraction = bits & 1023;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (1024 + fraction) * 2 ** (exponent - 25);
}
