/* What an agent thinks: bars of its action probabilities, and the course of its value. */
import { el, short, spoken } from "./dom.js";

const MOST_BARS = 18; // of ALE's actions; the most probable, in a game with more

/** Bars of probabilities. @param {string[]} names */
export function probabilityBars(names) {
  const rows = names.slice(0, MOST_BARS).map(() => {
    const label = el("span", { class: "name" }), bar = el("span", { class: "bar" }), value = el("span", { class: "value" });
    return { label, bar, value, row: el("div", { class: "row" }, label, el("span", { class: "track" }, bar), value) };
  });
  const element = el("div", { class: "bars", role: "group", "aria-label": "action probabilities" }, ...rows.map((each) => each.row));
  return {
    element,
    /** @param {ArrayLike<number>} probabilities */
    show(probabilities) {
      let order = names.map((_, index) => index);
      if (names.length > MOST_BARS) order = order.sort((a, b) => probabilities[b] - probabilities[a]).slice(0, MOST_BARS);
      const known = Array.from(probabilities).some((share) => share > 0); // not before the first step
      order.forEach((action, index) => {
        const { label, bar, value } = rows[index];
        const percent = (100 * (known ? probabilities[action] : 0)).toFixed(0);
        label.textContent = spoken(names[action]);
        bar.style.width = `${percent}%`;
        value.textContent = known ? `${percent}%` : "";
      });
    },
  };
}

/** The last values of something as a line. @param {string} name @param {number} [size] values */
export function course(name, size = 240) {
  const canvas = el("canvas", { width: size, height: 48, role: "img", "aria-label": name });
  const now = el("output", { "aria-live": "off" });
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  /** @type {number[]} */
  let values = [];
  return {
    element: el("div", { class: "course" }, el("span", {}, name, " ", now), canvas),
    clear() { values = []; },
    /** @param {number} value */
    add(value) {
      values.push(value);
      if (values.length > size) values.shift();
      now.textContent = short(Math.round(value * 100) / 100);
    },
    draw() {
      const low = Math.min(...values), range = Math.max(...values) - low || 1;
      context.clearRect(0, 0, size, 48);
      context.strokeStyle = getComputedStyle(canvas).color;
      context.beginPath();
      values.forEach((value, x) => context.lineTo(x, 46 - (44 * (value - low)) / range));
      context.stroke();
    },
  };
}
