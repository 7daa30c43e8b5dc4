/* Buttons on the screen for the keys of a game, for touch and mouse; on a board, a touch of the picture chooses a point. */
import { el } from "./dom.js";
import { Cursor } from "./controls.js";

/** @type {Object<string, string>} */
const SIGNS = { up: "▲", down: "▼", left: "◀", right: "▶", fire: "●" };

/**
 * @param {import("./stage.js").Stage} stage
 * @param {import("./controls.js").Buttons|Cursor} controls
 * @param {import("./controls.js").Keys} keys
 * @returns {HTMLElement}
 */
export function touchPad(stage, controls, keys) {
  if (controls instanceof Cursor) {
    stage.canvas.addEventListener("pointerdown", (/** @type {PointerEvent} */ event) => {
      const box = stage.canvas.getBoundingClientRect(), [width, height] = stage.game.about.screen;
      const x = ((event.clientX - box.left) * width) / box.width, y = ((event.clientY - box.top) * height) / box.height;
      if (controls.point(x, y, [width, height])) tap(keys, "fire");
    });
  }
  const pad = el("div", { class: "pad" }, ...controls.keys().map((key) => {
    const hold = el("button", { type: "button", class: key, "aria-label": controls.meaning(key).toLowerCase() }, SIGNS[key]);
    /** @type {Set<number>} the fingers that hold it */
    const held = new Set();
    hold.addEventListener("pointerdown", (/** @type {PointerEvent} */ event) => {
      hold.setPointerCapture(event.pointerId);
      held.add(event.pointerId);
      keys.press(key);
    });
    for (const name of ["pointerup", "pointercancel", "lostpointercapture"]) {
      hold.addEventListener(name, (/** @type {PointerEvent} */ event) => {
        if (held.delete(event.pointerId)) keys.release(key);
      });
    }
    hold.addEventListener("click", (/** @type {MouseEvent} */ event) => { if (event.detail === 0) tap(keys, key); }); // by keyboard
    hold.addEventListener("contextmenu", (/** @type {Event} */ event) => event.preventDefault());
    return hold;
  }));
  return pad;
}

/** @param {import("./controls.js").Keys} keys @param {string} key */
function tap(keys, key) {
  keys.press(key);
  keys.release(key);
}
