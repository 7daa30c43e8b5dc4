"""Films the arcade's page in headless Chromium: `python tools/arcade_film.py PAGE FILM.gif`, after `make arcade`.

PAGE: the folder of the page. Needs the packages playwright, imageio and pillow, and a Chromium of the system.
"""

import shutil
import sys
import threading
from io import BytesIO
from pathlib import Path

import imageio.v3 as imageio
import numpy as np
from PIL import Image

from envs_c.arcade.serve import server

SCENES = [("", 30), ("#watch/breakout", 30), ("#inspect/seaquest", 20), ("#wall/pong", 20)]  # a view, its pictures
VIEWPORT = {"width": 1120, "height": 700}
SIZE = 640, 400  # of the film
FPS = 8
COLOURS = 128


def pictures(page, address: str):
    """The pictures of all scenes."""
    for fragment, count in SCENES:
        page.goto(f"{address}/{fragment}")
        page.wait_for_selector("canvas")
        if fragment.startswith("#inspect"):
            page.get_by_role("button", name="Run").click()
        page.wait_for_timeout(3000)
        for _ in range(count):
            yield Image.open(BytesIO(page.screenshot())).convert("RGB").resize(SIZE, Image.Resampling.LANCZOS)
            page.wait_for_timeout(1000 // FPS)


def main(argv: list[str]) -> int:
    """Write the film."""
    if len(argv) != 2 or not Path(argv[0], "index.html").is_file():
        print(__doc__, file=sys.stderr)
        return 2
    from playwright.sync_api import sync_playwright
    with server(Path(argv[0]), 0) as running, sync_playwright() as play:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport=VIEWPORT)
        frames = list(pictures(page, f"http://127.0.0.1:{running.server_address[1]}"))
        browser.close()
        running.shutdown()
    palette = Image.fromarray(np.concatenate([np.asarray(frame) for frame in frames[::15]])).quantize(COLOURS)
    imageio.imwrite(argv[1], [np.asarray(frame.quantize(palette=palette, dither=Image.Dither.NONE).convert("RGB"))
                              for frame in frames], duration=1000 / FPS, loop=0)
    print(f"{argv[1]}: {Path(argv[1]).stat().st_size / 1e6:.2f} MB, {len(frames)} pictures")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
