/* A replay: the game of a link, played by its actions, with a checksum that `insertcoin replay` prints too. */
import { button, el, short } from "./dom.js";
import { catalog, open } from "./files.js";
import { checkReplay, checksum, parseLink } from "../replay.js";
import { Stage } from "./stage.js";

/** @param {HTMLElement} place @param {string} hash @returns {Promise<() => void>} */
export async function showReplay(place, hash) {
  const replay = parseLink(hash), names = (await catalog()).map((each) => each.name);
  if (!names.includes(replay.game))
    throw new RangeError(`game of the link must be one of ${names.join(", ")}, not ${replay.game}: this page has no other`);
  const game = await open(replay.game, { ...replay.settings, count: 1 });
  checkReplay(game, replay);
  document.title = `${game.about.title}: a replay - insertcoin arcade`;
  let at = 0;
  const player = { choose: () => (at < replay.actions.length ? replay.actions[at++] : null), restart: () => { at = 0; } };
  const stage = new Stage(game, player, `${game.about.title}, a replay`);
  const score = el("output", { "aria-live": "off" }), progress = el("span", {});
  stage.clock.rate = game.about.fps / game.settings.frameSkip;
  stage.endless = true;
  stage.onstep = () => {
    score.textContent = short(stage.score);
    progress.textContent = `step ${at} of ${replay.actions.length}`;
  };
  const sum = el("output", {}), check = button("Checksum", async () => {
    sum.textContent = checksum(await open(replay.game, { ...replay.settings, count: 1 }), replay);
  });
  const pause = button("Pause", () => {
    stage.clock.paused = !stage.clock.paused;
    pause.textContent = stage.clock.paused ? "Go on" : "Pause";
  });
  const restart = () => { game.reset(replay.seed); player.restart(); stage.begun(); };
  place.append(el("h1", {}, `${game.about.title}: a replay`), el("div", { class: "table" }, stage.canvas),
    el("p", { class: "scores" }, "score ", score, " ", progress), el("div", { class: "buttons" }, pause, button("From the start", restart),
      check, sum), el("p", {}, "The same bits natively: ", el("code", {}, "insertcoin replay 'THIS LINK'")),
    el("p", {}, el("a", { href: `#play/${replay.game}` }, "Play this game")));
  restart();
  stage.clock.start();
  return () => stage.close();
}
