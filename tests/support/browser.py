"""Headless Chromium for the tests of pages: needs the package playwright and a Chromium of the system."""

import contextlib
import importlib.util
import shutil
import threading
import time

import pytest

from envs_c.arcade.serve import server

READY = 60_000  # ms in which a page has loaded, on a busy machine
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
TOOLS = {"the package playwright": importlib.util.find_spec("playwright"), "chromium": CHROMIUM}
MISSING = [name for name, found in TOOLS.items() if not found]
needs_browser = pytest.mark.skipif(bool(MISSING), reason=f"{' and '.join(MISSING)} is not installed")
# `pass(60)` is a second of the page's time, which stands still otherwise. With these seeds the agent of CartPole keeps
# its pole to the end of its first games: with others it loses about three games in a hundred.
TIME = """let drawn = 10;
crypto.getRandomValues = (numbers) => { new Uint8Array(numbers.buffer).fill(++drawn); return numbers; };
let now = 0, last = 0; const calls = new Map();
performance.now = () => now;
window.requestAnimationFrame = (call) => { calls.set(++last, call); return last; };
window.cancelAnimationFrame = (id) => { calls.delete(id); };
window.pass = (frames) => {
    for (let k = 0; k < frames; k++) {
        const due = [...calls.values()];
        calls.clear();
        now += 1000 / 60;
        for (const call of due) call(now);
    }
};
Object.defineProperty(navigator, 'clipboard', {value: {writeText: async (text) => { window.copied = text; }}});"""


@contextlib.contextmanager
def serving(folder, routes=None):
    """The address of a folder, served as `insertcoin watch` does."""
    with server(folder, 0, routes) as made:
        thread = threading.Thread(target=made.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{made.server_address[1]}"
        finally:
            made.shutdown()
            thread.join()


@contextlib.contextmanager
def browser():
    """A browser of playwright."""
    from playwright.sync_api import sync_playwright
    with sync_playwright() as play:
        made = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        try:
            yield made
        finally:
            made.close()


def until(page, expression: str, argument=None, seconds: float = 60):
    """Wait until an expression of JavaScript is true. The page's policy allows no `wait_for_function`, which evaluates text."""
    end = time.monotonic() + seconds
    while not page.evaluate(expression, argument):
        assert time.monotonic() < end, f"after {seconds} s not true: {expression}"
        page.wait_for_timeout(100)


class Watched:
    """A page whose errors and requests are kept. options: of playwright's new_page."""

    def __init__(self, made, address: str, **options):
        self.errors, self.requests, self.address = [], [], address
        self.page = made.new_page(**options)
        self.page.on("console", lambda message: self.errors.append(message.text) if message.type == "error" else None)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))

    def require_clean(self):
        """Fail if there was an error or a request to another host."""
        assert not self.errors
        assert not [url for url in self.requests if not url.startswith((self.address, "data:"))]
