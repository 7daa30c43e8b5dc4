/* The layers of policies, for one environment at a time: encoders and memories, as in examples/play_exported.py. */

/** @typedef {import("./tensors.js").Tensor} Tensor */
/** @typedef {import("./policy.js").PolicyAbout} PolicyAbout */
/** @typedef {Object<string, Tensor>} Weights */
/** @typedef {Float32Array} Vector */
/** @typedef {{data: Vector, channels: number, height: number, width: number}} Plane */

/** @param {number} x */
const sigmoid = (x) => 1 / (1 + Math.exp(-x));

/** Replaces negative numbers by 0, in place. @param {Vector} x @returns {Vector} */
function relu(x) {
  for (let i = 0; i < x.length; i++) if (x[i] < 0) x[i] = 0;
  return x;
}

/** Adds weight * x to `out`. @param {Vector} out (n) @param {Tensor} weight (n, m) @param {Vector} x (m) @returns {Vector} */
export function multiplyInto(out, weight, x) {
  const data = weight.data, size = x.length;
  for (let row = 0, at = 0; row < out.length; row++, at += size) {
    let sum = 0;
    for (let k = 0; k < size; k++) sum += data[at + k] * x[k];
    out[row] += sum;
  }
  return out;
}

/** @param {Weights} w @param {string} name @param {Vector} x @returns {Vector} */
export function linear(w, name, x) {
  return multiplyInto(w[`${name}.bias`].data.slice(), w[`${name}.weight`], x);
}

/** Layer k of the encoder. @param {Weights} w @param {number} k @param {Plane} x @param {number} stride
 * @param {number} padding @returns {Plane} */
function convolution(w, k, x, stride, padding) {
  const { data: weight, shape: [outputs, inputs, side] } = w[`encoder.convolutions.${k}.weight`];
  const bias = w[`encoder.convolutions.${k}.bias`].data;
  const height = Math.floor((x.height + 2 * padding - side) / stride) + 1;
  const width = Math.floor((x.width + 2 * padding - side) / stride) + 1;
  const data = new Float32Array(outputs * height * width);
  for (let out = 0, at = 0; out < outputs; out++)
    for (let row = 0; row < height; row++)
      for (let column = 0; column < width; column++, at++) {
        let sum = bias[out];
        for (let input = 0; input < inputs; input++)
          for (let dy = 0; dy < side; dy++) {
            const y = row * stride + dy - padding;
            if (y < 0 || y >= x.height) continue;
            const from = (input * x.height + y) * x.width, kernel = ((out * inputs + input) * side + dy) * side;
            for (let dx = 0; dx < side; dx++) {
              const place = column * stride + dx - padding;
              if (place >= 0 && place < x.width) sum += weight[kernel + dx] * x.data[from + place];
            }
          }
        data[at] = sum;
      }
  return { data, channels: outputs, height, width };
}

/** The frames as planes of the last two dimensions. @param {Vector} data @param {PolicyAbout} about @returns {Plane} */
function planes(data, about) {
  const [height, width] = about.observation_shape.slice(-2);
  return { data, channels: data.length / (height * width), height, width };
}

/** The encoders: (K * size) numbers, K frames, to the encoder's outputs.
 * @type {Object<string, (w: Weights, x: Vector, about: PolicyAbout) => Vector>} */
export const ENCODERS = {
  mlp: (w, x) => relu(linear(w, "encoder", x)),

  conv(w, x, about) {
    let plane = planes(x, about);
    [4, 2, 1].forEach((stride, k) => { relu((plane = convolution(w, k, plane, stride, 0)).data); });
    return relu(linear(w, "encoder.layer", plane.data));
  },

  board(w, x, about) {
    let plane = convolution(w, 0, planes(x, about), 1, 1);
    relu(plane.data);
    for (const k of [1, 2]) {
      const next = convolution(w, k, plane, 1, 1);
      for (let i = 0; i < next.data.length; i++) next.data[i] += plane.data[i];
      relu(next.data);
      plane = next;
    }
    const places = plane.height * plane.width, flat = new Float32Array(plane.data.length);
    for (let c = 0; c < plane.channels; c++)
      for (let i = 0; i < places; i++) flat[i * plane.channels + c] = plane.data[c * places + i];
    return relu(linear(w, "encoder.layer", flat));
  },

  cells(w, x, about) {
    const kinds = Math.round(1 / about.scale) + 1, one = new Float32Array(x.length * kinds);
    x.forEach((value, i) => {
      const kind = Math.round(value / about.scale);
      if (kind >= 0 && kind < kinds) one[i * kinds + kind] = 1;
    });
    return relu(linear(w, "encoder.second", relu(linear(w, "encoder.first", one))));
  },

  bits(w, x, about) {
    const highest = Math.round(1 / about.scale), count = 32 - Math.clz32(highest);
    const out = new Float32Array(x.length * (count + 1));
    x.forEach((value, i) => {
      const number = Math.round(value / about.scale), at = i * (count + 1);
      for (let k = 0; k < count; k++) out[at + k] = (number >> k & 1) * 2 - 1;
      out[at + count] = Math.fround(number / highest) * 2 - 1;
    });
    return relu(linear(w, "encoder", out));
  },
};

/** The memories: the encoder's outputs to those of the memory; `state` becomes the next state.
 * @type {Object<string, (w: Weights, x: Vector, state: Object<string, Vector>, about: PolicyAbout) => Vector>} */
export const MEMORIES = {
  none: (w, x) => relu(linear(w, "layer", x)),

  lstm(w, x, { h, c }) {
    const n = h.length, gates = w.bias.data.slice();
    multiplyInto(multiplyInto(gates, w.input, x), w.recurrent, h);
    for (let i = 0; i < n; i++) {
      c[i] = sigmoid(gates[n + i]) * c[i] + sigmoid(gates[i]) * Math.tanh(gates[2 * n + i]);
      h[i] = sigmoid(gates[3 * n + i]) * Math.tanh(c[i]);
    }
    return h;
  },

  mingru(w, x, { h }, about) {
    const n = about.core_size;
    let hidden = about.encoder_size === n ? x.slice() : new Float32Array(n), input = x;
    for (let layer = 0; layer < about.layers; layer++) {
      const gates = linear(w, `core.${layer}`, input), before = h.subarray(layer * n, (layer + 1) * n);
      hidden = hidden.slice();
      for (let i = 0; i < n; i++) {
        const z = sigmoid(gates[i]), u = gates[n + i];
        before[i] = (1 - z) * before[i] + z * Math.max(u + 0.5, sigmoid(u));
        const p = about.highway ? sigmoid(gates[2 * n + i]) : 0;
        hidden[i] = about.highway ? p * before[i] + (1 - p) * hidden[i] : hidden[i] + before[i];
      }
      input = hidden;
    }
    return hidden;
  },
};
