"""Gymnasium's RecordVideo films a game.

    pip install moviepy                                 # RecordVideo needs it
    python -m examples.stepping.record_video videos     # videos/seaquest-episode-0.mp4

Without a folder the films are in a new one beside the system's temporary files; their names are printed.
`insertcoin record RUN` films a trained agent, without moviepy.
"""

import sys
import tempfile
from pathlib import Path

import gymnasium

import envs_c


def main(folder: str | None = None, steps: int = 300) -> list[Path]:
    """Film two episodes of at most `steps` steps. Returns the files.

    folder: for the films; None for a new temporary one.
    """
    folder = folder or tempfile.mkdtemp(prefix="videos_")
    assert "seaquest" in envs_c.games()  # `import envs_c` registers the games with Gymnasium
    env = gymnasium.make("Arcade/Seaquest-v0", render_mode="rgb_array", time_limit=steps)
    env = gymnasium.wrappers.RecordVideo(env, folder, episode_trigger=lambda episode: episode < 2, name_prefix="seaquest")
    env.action_space.seed(1)
    for episode in range(2):
        env.reset(seed=episode)
        over = False
        while not over:
            _, _, terminated, truncated, _ = env.step(env.action_space.sample())
            over = terminated or truncated
    env.close()
    files = sorted(Path(folder).glob("seaquest-*.mp4"))
    print(*files, sep="\n")
    return files


if __name__ == "__main__":
    main(sys.argv[1] if sys.argv[1:] else None)
