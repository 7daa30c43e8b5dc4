"""A server of static files for this machine only: 127.0.0.1, reading only."""

import contextlib
import http.server
import sys
from collections.abc import Callable, Mapping
from functools import partial
from http import HTTPStatus
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from envs_c.errors import InvalidArgument
from envs_c.text import printable, say

ADDRESS = "127.0.0.1"
FIRST, LAST = 8000, 8099  # ports that are tried in turn if none was asked for
HTTP = 80  # the port of an address without one
_LONGEST = 300  # characters of an error's message
TYPES = {".js": "text/javascript", ".json": "application/json", ".wasm": "application/wasm", ".css": "text/css",
         ".html": "text/html; charset=utf-8", ".safetensors": "application/octet-stream"}

Route = Callable[[dict[str, str]], tuple[bytes, str]]
"""Gets the query of a request; returns the answer and its content type. LookupError, OSError, ValueError: there is none now.
Other errors are answers too, with the status 500."""


class Handler(http.server.SimpleHTTPRequestHandler):
    """Answers GET and HEAD, for files of a folder and for routes."""

    extensions_map = {**http.server.SimpleHTTPRequestHandler.extensions_map, **TYPES}
    server_version = "insertcoin"
    timeout = 30  # seconds for a request to arrive

    def __init__(self, *arguments, routes: Mapping[str, Route], **options):
        self.routes = routes
        super().__init__(*arguments, **options)

    def send_head(self):
        """Refuse requests for other hosts: a page of the web that resolves its name to this address cannot read from here."""
        port = self.server.server_address[1]
        ends = (f":{port}", "") if port == HTTP else (f":{port}",)  # browsers leave out the port of the protocol
        if self.headers.get("Host", "") not in [name + end for name in (ADDRESS, "localhost") for end in ends]:
            self.send_error(HTTPStatus.FORBIDDEN, "unknown Host")
            return None
        try:
            parts = urlsplit(self.path)
            if parts.path in self.routes:
                self.answer(self.routes[parts.path], {key: values[-1] for key, values in parse_qs(parts.query).items()})
                return None
            return super().send_head()
        except ValueError:  # a host in brackets that is no address, or NUL in the name of a file
            self.send_error(HTTPStatus.BAD_REQUEST, "no such address")
            return None

    def send_error(self, code, message=None, explain=None):
        """Send an error. Its message may name files, and is sent in printable ASCII."""
        text = None if message is None else printable(message).encode("ascii", "backslashreplace").decode()[:_LONGEST]
        super().send_error(code, text, explain)

    def answer(self, route: Route, query: dict[str, str]):
        """Send a route's answer to the query."""
        try:
            data, kind = route(query)
        except OSError as error:  # the folder was removed, or another thing than a file has its place
            self.send_error(HTTPStatus.NOT_FOUND, error.strerror or str(error))
            return
        except (LookupError, ValueError) as error:
            self.send_error(HTTPStatus.NOT_FOUND, str(error.args[0] if error.args else error))
            return
        except Exception as error:  # of the user's code, or of its compiler: the page shows it
            self.send_error(HTTPStatus.INTERNAL_SERVER_ERROR, str(error) or type(error).__name__)
            return
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(data)

    def list_directory(self, path):
        """Folders are not listed."""
        self.send_error(HTTPStatus.NOT_FOUND, "no such file")

    def end_headers(self):
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Cross-Origin-Resource-Policy", "same-origin")
        super().end_headers()

    def log_message(self, *_):
        """Requests are not logged."""


class Server(http.server.ThreadingHTTPServer):
    """A server whose faults are lines: a browser that goes away is none."""

    def handle_error(self, request, client_address):
        """Called in an `except` clause, with an error of one request."""
        error = sys.exc_info()[1]
        if not isinstance(error, (ConnectionError, TimeoutError)):
            say(f"error: a request failed ({type(error).__name__}: {error})", file=sys.stderr)


def server(folder: Path, port: int | None, routes: Mapping[str, Route] | None = None) -> Server:
    """A server of a folder on 127.0.0.1; `server_address` has its port.

    port: 0 for any that is free; None for FIRST or the next that is free.
    routes: further answers, by path.

    Raises InvalidArgument if the port cannot be had.
    """
    if port is None:
        for number in range(FIRST, LAST):
            with contextlib.suppress(InvalidArgument):
                return server(folder, number, routes)
        port = LAST
    if not 0 <= port <= 65535:
        raise InvalidArgument(f"--port must be from 0 to 65535, not {port}")
    try:
        return Server((ADDRESS, port), partial(Handler, directory=str(folder), routes=routes or {}))
    except OSError as error:
        reason = error.strerror or error
        raise InvalidArgument(f"--port must be a free port, not {port} ({reason}): choose another, or 0 for any") from error


def serve(running: Server, page: str) -> None:
    """Serve until Ctrl-C.

    running: the result of `server`.
    page: the fragment of the address that is printed.
    """
    print(f"http://{ADDRESS}:{running.server_address[1]}/{page}  (Ctrl-C ends)", flush=True)
    try:
        running.serve_forever()
    except KeyboardInterrupt:
        print("ended", file=sys.stderr)
