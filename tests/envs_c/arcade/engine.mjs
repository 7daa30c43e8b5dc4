// node engine.mjs FOLDER CHECK: runs one of the checks below, which throw if engine.js breaks a promise.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { Game } from "../../../envs_c/arcade/page/engine.js";

const [folder, check] = process.argv.slice(2);
/** @param {string} name @param {object} [settings] @returns {Promise<Game>} */
const create = (name, settings) => Game.create(readFileSync(`${folder}/${name}.wasm`),
  JSON.parse(readFileSync(`${folder}/${name}.json`, "utf8")), settings);
/** Steps with the same actions each time. @param {Game} game @param {number} steps @param {number} first */
function play(game, steps, first = 0) {
  for (let step = first; step < first + steps; step++)
    game.step(Array.from({ length: game.count }, (_, i) => (step * 7 + i * 3) % game.actions.length));
}
/** All outputs. @param {Game} game */
const outputs = (game) => [game.observation, game.reward, game.terminated, game.truncated, game.lives, game.endedScore]
  .map((array) => array && array.slice());

const CHECKS = {
  async save() { // a restored environment continues bit for bit, also in another instance
    const game = await create("pong", { count: 3 }), other = await Game.create(game.module, game.about);
    game.reset(5);
    play(game, 40);
    const state = game.save(1), after = [];
    for (let step = 0; step < 30; step++) {
      game.step([0, step % 6, 0]);
      after.push([game.features(1), game.reward[1], game.score(1), game.length(1)]);
    }
    other.reset(9);
    other.restore(state);
    game.restore(state, 1);
    assert.equal(game.reward[1], 0);
    for (let step = 0; step < 30; step++) {
      game.step([1, step % 6, 2]);
      other.step([step % 6]);
      assert.deepEqual([game.features(1), game.reward[1], game.score(1), game.length(1)], after[step]);
      assert.deepEqual([other.features(), other.reward[0], other.score(), other.length()], after[step]);
    }
  },

  async refuse() { // a state that cannot exist changes nothing
    const game = await create("pong");
    game.reset(1);
    play(game, 20);
    const state = game.save(), before = game.features();
    for (const broken of [state.slice(1), new Uint8Array(state.length), state.map((byte, k) => k < 48 ? byte : 255)])
      assert.throws(() => game.restore(broken), /^RangeError: the state must be bytes that save\(\) returned/);
    assert.deepEqual([game.save(), game.features()], [state, before]);
  },

  async views() { // features and pixels are those of either view, and looking changes nothing
    const settings = { count: 4, timeLimit: 25 };
    const features = await create("breakout", settings), pixels = await create("breakout", { ...settings, view: "pixels" });
    features.reset(3);
    pixels.reset(3);
    for (let step = 0; step < 60; step++) {
      play(features, 1, step);
      play(pixels, 1, step);
      for (let i = 0; i < 4; i++) {
        assert.deepEqual(features.features(i), features.observation.slice(118 * i, 118 * (i + 1)));
        assert.deepEqual(pixels.features(i), features.features(i));
        assert.deepEqual(features.pixels(i), pixels.observation.slice(7056 * i, 7056 * (i + 1)));
        assert.deepEqual(features.picture(i).slice(), pixels.picture(i).slice());
        assert.deepEqual([features.score(i), features.over(i)], [pixels.score(i), pixels.over(i)]);
      }
    }
    assert.ok(features.endedLength.includes(25));
  },

  async reset() { // new settings begin anew, others stay; one environment is reset alone
    const game = await create("breakout", { count: 2, options: { lives: 2 } }), fresh = await create("breakout", { count: 4 });
    game.reset(1);
    play(game, 10);
    game.reset(8, { count: 4, options: { lives: 5 } });
    fresh.reset(8);
    assert.deepEqual(game.settings, fresh.settings);
    for (const one of [game, fresh]) play(one, 50);
    assert.deepEqual(outputs(game), outputs(fresh));
    const others = game.save(1);
    game.resetOne(2, 77);
    fresh.reset(77, { count: 1 });
    assert.deepEqual([game.save(2), game.save(1), game.length(2)], [fresh.save(), others, 0]);
  },

  async wrong() { // mistakes are named, and change nothing
    const game = await create("pong"), about = game.about, pong = () => create("pong");
    const mistakes = [
      [() => game.step([0]), "pong must be reset first"],
      [() => { game.reset(-1); }, "seed must be an integer from 0 to 2^64 - 1, not -1"],
      [() => { game.reset(2n ** 64n); }, "seed must be an integer from 0 to 2^64 - 1, not 18446744073709551616"],
      [() => { game.reset(1); game.step([6]); }, "the action of environment 0 must be an integer from 0 to 5, not 6"],
      [() => game.step([NaN]), "the action of environment 0 must be an integer from 0 to 5, not NaN"],
      [() => game.step([0, 0]), "actions must be 1 numbers, not 2"],
      [() => game.features(1), "the environment's index must be an integer from 0 to 0, not 1"],
      [() => create("pong", { count: about.capacity + 1 }), "count must be an integer from 1 to 256, not 257"],
      [() => create("pong", { options: { points: 0 } }), "option points of pong must be an integer from 1 to 21, not 0"],
      [() => create("pong", { options: { lives: 1 } }),
        "option lives of pong does not exist: it has points, random_serve, lazy_enemy, fast_serve, hidden_enemy"],
      [() => create("cartpole", { options: { constructor: 1 } }), "option constructor of cartpole does not exist: it has none"],
      [() => create("pong", { view: "rgb" }), "view must be features or pixels, not rgb"],
      [() => create("pong", { frameSkip: 0 }), "frameSkip must be an integer from 1 to 1000, not 0"],
      [() => create("pong", { sticky: 2 }), "sticky must be a number from 0 to 1, not 2"],
      [() => create("cartpole", { noopMax: 3 }), "noopMax must be 0 in cartpole, which has no NOOP"],
    ];
    for (const [mistake, message] of mistakes)
      await assert.rejects(async () => mistake(), { name: "RangeError", message });
    assert.equal((await pong()).actions.length, 6);
  },

  async wall() { // 256 environments of one instance are those of 256 seeds' environments
    const wall = await create("snake", { count: 256 }), few = await create("snake", { count: 8 });
    wall.reset(4);
    few.reset(4);
    play(wall, 100);
    play(few, 100);
    assert.deepEqual(few.observation, wall.observation.subarray(0, few.observation.length));
    assert.notDeepEqual(wall.features(0), wall.features(255));
  },
};
await CHECKS[check]();
