"""The page's server: whatever a client sends and whatever becomes of the run's files, no traceback reaches the terminal."""

import http.client
import json
import os
import shutil
import socket
import struct
import threading

import pytest

from envs_c.arcade.serve import server
from trainer.export import follow
from trainer.export.follow import Follower, whole_lines

RESET = struct.pack("ii", 1, 0)  # SO_LINGER: closing sends a reset


@pytest.fixture
def served(there, tmp_path):
    """The address of a server of a copy of a run, and its folder."""
    folder = tmp_path / "run"
    shutil.copytree(there / "runs" / "one", folder)
    with server(tmp_path, 0, Follower(folder).routes(None)) as running:
        thread = threading.Thread(target=running.serve_forever, args=(0.01,))
        thread.start()
        yield running.server_address, folder
        running.shutdown()
        thread.join()


def get(address, path: str) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection(*address, timeout=20)
    connection.putrequest("GET", path, skip_host=True)
    connection.putheader("Host", f"127.0.0.1:{address[1]}")
    connection.endheaders()
    answer = connection.getresponse()
    found = answer.status, answer.read()
    connection.close()
    return found


def test_a_bad_address_is_an_answer(served, capfd):
    for path in ("/%00", "//[", "/run/%00", "/run/metrics?from=%00", "//[::1", "/%ff%fe", "/run/status.json?a=%zz", "http://[/",
                 "/..%2f..%2fetc/passwd", "/" + "x" * 5000):
        assert get(served[0], path)[0] in (200, 400, 404), path
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("path", [
    "/..%2fSECRET", "/..%2f..%2fNAME%2fSECRET", "/%2e%2e/SECRET", "/../SECRET", "/run/..%2f..%2fSECRET", "/run/../../SECRET",
    "//..%2fSECRET", "/..%252fSECRET", "/..%5cSECRET", "/ABSOLUTE"])
def test_no_address_leads_out_of_the_folder(served, tmp_path, path):
    secret = tmp_path.parent / f"secret_{tmp_path.name}"
    secret.write_text("password")
    path = path.replace("SECRET", secret.name).replace("NAME", tmp_path.parent.name).replace("ABSOLUTE", str(secret))
    status, body = get(served[0], path)
    assert (status, b"password" in body) == (404, False)


def test_a_client_that_resets_is_no_traceback(served, capfd):
    for sent in [b"", b"GET", b"GET /run/metrics HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n", b"\0" * 99] * 10:
        client = socket.create_connection(served[0])
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        client.sendall(sent.replace(b"%d", str(served[0][1]).encode()))
        client.close()
    assert get(served[0], "/run/status.json")[0] == 200
    assert capfd.readouterr() == ("", "")


def damage(folder, kind: str) -> None:
    """Another thing in the place of the metrics, or of the run."""
    metrics = folder / "metrics.jsonl"
    if kind == "no folder":
        shutil.rmtree(folder)
        return
    metrics.unlink()
    if kind == "FIFO":
        os.mkfifo(metrics)
    elif kind == "folder":
        metrics.mkdir()
    elif kind == "link":
        (folder.parent / "secret").write_text(json.dumps({"step": 1, "seconds": 1.0, "password": 7}) + "\n")
        metrics.symlink_to(folder.parent / "secret")


@pytest.mark.parametrize("kind", ["no folder", "FIFO", "folder", "link"])
def test_another_thing_in_the_place_of_the_metrics_is_not_served(served, capfd, kind):
    damage(served[1], kind)
    assert get(served[0], "/run/metrics")[0] == 404
    for path in ("/run/status.json", "/run/agent.safetensors"):
        assert get(served[0], path)[0] in (200, 404)
    assert capfd.readouterr() == ("", "")


def everything(address) -> list[dict]:
    """What the page reads."""
    read, entries = 0, []
    while data := get(address, f"/run/metrics?from={read}")[1]:
        read += len(data)
        entries += [json.loads(line) for line in data.decode().split("\n") if line.strip()]
    return entries


def test_a_line_of_more_than_a_megabyte_does_not_stop_the_page(served):
    path = served[1] / "metrics.jsonl"
    before = everything(served[0])
    path.write_bytes(path.read_bytes() + b'{"step": 9' + b" " * (5 << 19) + b'x}\n[1]\n' + b'{"step": 9, "seconds": 9.5}\n{"st')
    assert everything(served[0]) == [*before, {"step": 9, "seconds": 9.5}]


@pytest.mark.parametrize(("data", "inside", "shown"), [
    (b'{"step":1,"seconds":1}\n{"s', False, b'{"step":1,"seconds":1}\n'), (b"ab\n", False, b"  \n"), (b"ab", False, b""),
    (b"ab", True, b"  "), (b'b}\n{"step":1,"seconds":1}\n', True, b'  \n{"step":1,"seconds":1}\n'), (b"", True, b""),
    (b"x" * 8, False, b" " * 8),
])
def test_lines_that_are_no_entries_are_spaces(monkeypatch, data, inside, shown):
    monkeypatch.setattr(follow, "CHUNK", 8)
    assert whole_lines(data, inside=inside) == shown
