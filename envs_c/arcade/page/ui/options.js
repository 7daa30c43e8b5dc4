/* The form of a game's options and its seed. */
import { button, el } from "./dom.js";

/** @typedef {import("../engine.js").About} About */

/**
 * @param {About} about
 * @param {Object<string, number>} values of the options at first
 * @param {number|null} fixed the seed of each game; null if each has a new one
 * @param {(options: Object<string, number>, seed: number|null) => void} apply
 * @returns {HTMLElement}
 */
export function optionsForm(about, values, fixed, apply) {
  /** @type {Map<string, HTMLInputElement>} */
  const inputs = new Map();
  const rows = Object.entries(about.options).map(([name, option]) => {
    const input = el("input", {
      id: `option-${name}`, type: "number", min: option.low, max: option.high, step: option.integer ? 1 : "any",
      value: values[name] ?? option.default, required: true, "aria-describedby": `help-${name}`,
    });
    inputs.set(name, input);
    return el("div", { class: "field" }, el("label", { for: `option-${name}` }, name.replaceAll("_", " ")), input,
      el("small", { id: `help-${name}` }, `${option.help} (${option.low} to ${option.high})`));
  });
  const seed = el("input", { id: "option-seed", type: "number", min: 0, max: 4294967295, step: 1, value: fixed,
    placeholder: "a new one" });
  rows.push(el("div", { class: "field" }, el("label", { for: "option-seed" }, "seed"), seed,
    el("small", {}, "the same seed gives the same game")));
  const form = el("form", {
    class: "options",
    onsubmit: (/** @type {Event} */ event) => {
      event.preventDefault();
      const options = Object.fromEntries([...inputs].map(([name, input]) => [name, Number(input.value)]));
      apply(options, seed.value === "" ? null : Number(seed.value));
    },
  }, ...rows, el("div", { class: "buttons" }, el("button", { type: "submit" }, "Start with these"),
    button("Defaults", () => {
      inputs.forEach((input, name) => { input.value = String(about.options[name].default); });
      seed.value = "";
    })));
  return el("details", {}, el("summary", {}, "Options and seed"), form);
}
