"""`python -m envs_c`: the games with their views, actions, options and speed on this machine."""

import argparse
import time

import numpy as np

import envs_c

SECONDS = 0.1  # a game and view


def speed(game, view: str, num_envs: int = 256) -> float:
    """Steps a second of random play on one thread."""
    env = envs_c.VecEnv(game, num_envs, view=view, num_threads=1, seed=1)
    actions, outputs = np.zeros(num_envs, np.int32), np.zeros((3, num_envs), np.float32)
    observation = np.zeros((num_envs, *env.observation_shape), env.observation_dtype)
    batch = env.bind(0, num_envs, actions=actions, observation=observation, reward=outputs[0], terminated=outputs[1],
                     truncated=outputs[2])
    rolls = np.random.default_rng(0).integers(0, len(env.actions), (64, num_envs)).astype(np.int32)
    batch.reset()
    steps, begin = 0, time.perf_counter()
    while (elapsed := time.perf_counter() - begin) < SECONDS:
        actions[:] = rolls[steps % 64]
        batch.step()
        steps += 1
    return steps * num_envs / elapsed


def describe(game) -> str:
    """A few lines about a game."""
    shape = " x ".join(map(str, game.feature_shape))
    count = len(game.actions)
    actions = " ".join(game.actions) if count <= 18 else f"{count}, {game.actions[0]} to {game.actions[-1]}"
    limit = f", {game.time_limit} steps at most" if game.time_limit else ""
    lines = [f"{game.name}  Arcade/{game.title}-v0", f"    {game.summary}", f"    actions   {actions}",
             f"    features  {shape} {game.feature_dtype}, {speed(game, 'features') / 1e6:.1f}M steps/s a core "
             f"(frame skip {game.frame_skip}{limit})",
             f"    pixels    84 x 84 uint8, {speed(game, 'pixels') / 1e6:.1f}M steps/s a core"]
    lines += [f"    option    {name}={option.default:g}: {option.help}, {option.low:g} to {option.high:g}"
              for name, option in game.options.items()]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(prog="python -m envs_c", description=__doc__)
    parser.add_argument("games", nargs="*", metavar="GAME", help="only these (default: all)")
    names = parser.parse_args().games or envs_c.games()
    try:
        games = [envs_c.game(name) for name in names]
    except envs_c.UnknownGame as error:
        parser.error(str(error))
    for game in games:
        print(describe(game), end="\n\n")


if __name__ == "__main__":
    main()
