/* Elements of the page, and numbers as text. */

/**
 * An element with attributes and content. An attribute that is a function is an event listener: `onclick`; `true` sets an
 * attribute without a value, `false` leaves it out.
 * @param {string} tag
 * @param {Object<string, any>} [attributes]
 * @param {...(Node|string|number)} content
 * @returns {any}
 */
export function el(tag, attributes = {}, ...content) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, String(value));
  }
  element.append(...content.map((item) => (item instanceof Node ? item : String(item))));
  return element;
}

/** A button. @param {string} text @param {() => void} action @param {Object<string, any>} [more] attributes */
export function button(text, action, more = {}) {
  return el("button", { type: "button", onclick: action, ...more }, text);
}

/** A number as short text: 1234567 is 1.23M. @param {number} value */
export function short(value) {
  for (const [from, size, unit] of /** @type {[number, number, string][]} */ ([[999.5e6, 1e9, "G"], [999.5e3, 1e6, "M"],
    [1e4, 1e3, "K"]])) if (Math.abs(value) >= from) return `${(value / size).toPrecision(3)}${unit}`;
  return String(Math.round(value * 1000) / 1000);
}

/** True if the user asked for less motion. */
export function still() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}

/** An action's name for people: UPRIGHTFIRE is "up right fire". @param {string} name */
export function spoken(name) {
  return name.replace(/(UP|DOWN|LEFT|RIGHT|FIRE|JUMP|ROTATE|DROP)/g, " $1").trim().toLowerCase();
}
