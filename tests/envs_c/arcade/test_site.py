"""The page as a folder, its server, and the commands that write and serve them; without a browser."""

import http.client
import json
import shlex
import threading
from pathlib import Path
from types import SimpleNamespace

import own_rom
import pytest
from arcade_support import needs_browser_tools, whole_page
from support import TOY

import envs_c
from envs_c import catalog, outside
from envs_c.__main__ import main
from envs_c.arcade import command, serve, site
from envs_c.arcade.serve import server
from envs_c.errors import InvalidArgument

LARGEST = 2_000_000  # bytes of the page with all games and agents


@pytest.fixture
def small(monkeypatch):
    """A page with one game only and no console: compiling all takes half a minute."""
    monkeypatch.setattr(envs_c, "games", lambda: ("cartpole",))
    monkeypatch.setattr(site, "build_console", lambda folder, agents: None)


@needs_browser_tools
def test_the_page_is_written_into_a_new_folder_and_again_into_itself(tmp_path, small, capsys):
    for _ in range(2):
        assert main(["arcade", "--out", str(tmp_path / "page")]) == 0
        assert json.loads((tmp_path / "page" / site.CATALOG).read_text())[0]["name"] == "cartpole"
        assert (tmp_path / "page" / "games" / "cartpole.wasm").stat().st_size > 1000
    assert "python -m http.server" in capsys.readouterr().out


def test_the_command_that_serves_the_page_takes_any_name_of_a_folder(tmp_path, small, capsys, monkeypatch):
    monkeypatch.setattr(command, "write", lambda *arguments: None)
    assert main(["arcade", "--out", str(tmp_path / "my page")]) == 0
    assert shlex.split(capsys.readouterr().out.partition("python -m ")[2]) == ["http.server", "-d", str(tmp_path / "my page")]


def test_a_folder_with_other_files_is_refused_and_keeps_them(tmp_path, small, capsys):
    (tmp_path / "letter.txt").write_text("dear")
    assert main(["arcade", "--out", str(tmp_path)]) == 2
    assert "--out must be a new folder" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["letter.txt"]


def test_a_page_that_was_stopped_goes_on_by_the_same_command(tmp_path, small, monkeypatch, capsys):
    def stopped(games, folder):
        folder.mkdir()
        (folder / "cartpole.wasm").write_bytes(b"")
        raise KeyboardInterrupt

    monkeypatch.setattr(site, "compiler", lambda: [])
    monkeypatch.setattr(site, "build_all", stopped)
    with pytest.raises(KeyboardInterrupt):
        site.make_site(tmp_path / "page", [envs_c.game("cartpole")], {})
    monkeypatch.setattr(site, "build_all", lambda games, folder: [])
    assert main(["arcade", "--out", str(tmp_path / "page")]) == 0
    assert json.loads((tmp_path / "page" / site.CATALOG).read_text())[0]["name"] == "cartpole"


@pytest.fixture
def written(small, monkeypatch, tmp_path):
    """A function: writes a page with these games of one's own, and returns the names of all its games. Nothing is compiled."""
    monkeypatch.setattr(site, "compiler", lambda: [])
    monkeypatch.setattr(site, "build_all", lambda games, folder: [])
    monkeypatch.setattr(catalog, "_registered", {})

    def write(*games):
        assert main(["arcade", "--out", str(tmp_path / "page"), *map(str, games)]) == 0
        return [entry["name"] for entry in json.loads((tmp_path / "page" / site.CATALOG).read_text())]
    return write


def test_a_game_that_is_named_by_two_paths_is_on_the_page_once(written, monkeypatch):
    monkeypatch.chdir(TOY.parent)
    assert written(TOY.name, TOY) == ["cartpole", "toy"]


def test_a_game_of_an_installed_package_is_left_out_in_a_line_unless_its_file_is_named(written, toy, monkeypatch, capsys):
    monkeypatch.setattr(catalog, "installed", lambda: {"toy": SimpleNamespace(load=lambda: toy)})
    monkeypatch.setattr(envs_c, "games", lambda: ("cartpole", "toy"))
    monkeypatch.delitem(outside.SOURCES, toy)
    assert written() == ["cartpole"]
    assert "left out: toy (of installed packages): name a .pyx" in capsys.readouterr().out
    assert written(TOY) == ["cartpole", "toy"]
    assert "left out" not in capsys.readouterr().out


@pytest.mark.skipif(site.fcntl is None, reason="Windows has no flock")
def test_a_folder_that_another_process_writes_is_refused_in_one_line(tmp_path, small, monkeypatch, capsys):
    monkeypatch.setattr(site, "compiler", lambda: [])
    monkeypatch.setattr(site, "build_all", lambda games, folder: [])
    site.begin(tmp_path / "page")
    with site.alone(tmp_path / "page"):
        assert main(["arcade", "--out", str(tmp_path / "page")]) == 2
    error = capsys.readouterr().err
    assert "--out must be a folder that no other process writes" in error and error.count("\n") == 1
    assert main(["arcade", "--out", str(tmp_path / "page")]) == 0


@pytest.mark.parametrize("out", ["letter.txt/page", "letter.txt"])
def test_an_impossible_folder_is_named_with_its_option(tmp_path, small, monkeypatch, capsys, out):
    monkeypatch.setattr(site, "compiler", lambda: [])
    (tmp_path / "letter.txt").write_text("dear")
    assert main(["arcade", "--out", str(tmp_path / out)]) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: --out must be a folder") and str(tmp_path / out) in error and error.count("\n") == 1


def test_a_page_without_games_needs_no_compiler(tmp_path, monkeypatch):
    def missing():
        raise AssertionError("looked for the compiler")

    monkeypatch.setattr(site, "compiler", missing)
    monkeypatch.setattr(site, "build_all", lambda games, folder: missing())
    page = site.make_site(tmp_path / "page", [], {})
    assert ((page / "index.html").exists(), json.loads((page / "console" / "cartridges.json").read_text())) == (True, None)


def test_two_games_of_one_name_are_refused(tmp_path):
    game = envs_c.game("pong")
    with pytest.raises(InvalidArgument, match="different names"):
        site.make_site(tmp_path / "page", [game, game], {})


def test_a_cartridge_is_refused_before_anything_is_written(tmp_path):
    (tmp_path / "own.bin").write_bytes(own_rom.DATA)
    with pytest.warns(UserWarning, match="not in the table of games"):
        cartridge = envs_c.game(f"atari:{tmp_path / 'own.bin'}")
    with pytest.raises(InvalidArgument, match=r"is a cartridge, which has no \.pyx: leave it out"):
        site.make_site(tmp_path / "page", [envs_c.game("pong"), cartridge], {})
    assert not (tmp_path / "page").exists()


def test_every_file_that_the_page_imports_or_links_to_is_there():
    page = site.PAGE
    modules = [page / "ui" / "main.js"]
    for module in modules:  # grows
        for line in module.read_text(encoding="utf-8").splitlines():
            if line.startswith("import ") or " from \"." in line:
                path = (module.parent / line.split('"')[1]).resolve()
                assert path.is_file(), f"{module.name}: {line}"
                if path not in modules:
                    modules.append(path)
    assert {path.resolve() for path in page.rglob("*.js")} == {path.resolve() for path in modules}


@pytest.fixture
def running(tmp_path):
    """A server of a folder with one file and one route: (port, the folder, the server)."""
    (tmp_path / "index.html").write_text("hello")
    (tmp_path / "inner").mkdir()
    (tmp_path.parent / "secret.txt").write_text("secret")

    def route(query):
        if "missing" in query:
            raise LookupError("none yet")
        if "bug" in query:
            raise RuntimeError("the compiler says:\nno")
        return json.dumps(query).encode(), "application/json"

    with server(tmp_path, 0, {"/run/status.json": route}) as made:
        thread = threading.Thread(target=made.serve_forever)
        thread.start()
        yield made.server_address[1], tmp_path, made
        made.shutdown()
        thread.join()


def ask(port: int, path: str, host: str | None = None, method: str = "GET") -> tuple[int, bytes, dict[str, str]]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    connection.request(method, path, headers={"Host": host or f"127.0.0.1:{port}"})
    answer = connection.getresponse()
    data = answer.read()
    connection.close()
    return answer.status, data, dict(answer.getheaders())


def test_an_error_of_a_route_is_an_answer_with_its_reason(running, capsys):
    status, data, _ = ask(running[0], "/run/status.json?bug=1")
    assert status == 500 and "the compiler says:" in data.decode()
    assert ask(running[0], "/")[1] == b"hello"
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(("path", "status", "data"), [
    ("/", 200, b"hello"), ("/index.html?a=1", 200, b"hello"), ("/none.html", 404, None), ("/inner/", 404, None),
    ("/../secret.txt", 404, None), ("/%2e%2e/secret.txt", 404, None), ("/run/status.json?from=7", 200, b'{"from": "7"}'),
    ("/run/status.json?missing=1", 404, None)])
def test_the_server_gives_its_files_and_routes_and_nothing_else(running, path, status, data):
    found, body, headers = ask(running[0], path)
    assert (found, body if data else None) == (status, data)
    assert headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize("host", ["example.com", "127.0.0.1", "127.0.0.1:1", "localhost.example.com:80", ""])
def test_the_server_refuses_other_hosts(running, host):
    assert ask(running[0], "/", host or " ")[0] == 403
    assert ask(running[0], "/run/status.json", host or " ")[0] == 403


@pytest.mark.parametrize(("host", "status"), [
    ("127.0.0.1", 200), ("localhost", 200), ("localhost:80", 200), ("localhost:81", 403), ("example.com", 403)])
def test_on_port_80_a_browser_leaves_the_port_out(running, monkeypatch, host, status):
    monkeypatch.setattr(running[2], "server_address", ("127.0.0.1", 80))
    assert ask(running[0], "/", host)[0] == status


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
def test_the_server_cannot_write(running, method):
    assert ask(running[0], "/index.html", method=method)[0] == 501
    assert (running[1] / "index.html").read_text() == "hello"


@pytest.mark.parametrize("port", [-1, 65536])
def test_a_port_that_does_not_exist_is_an_error(tmp_path, port):
    with pytest.raises(InvalidArgument, match="--port must be from 0 to 65535"):
        server(tmp_path, port)


def test_a_port_in_use_is_an_error(running):
    with pytest.raises(InvalidArgument, match="--port must be a free port"):
        server(Path(), running[0])


def test_the_next_free_port_is_taken_if_none_was_asked_for(tmp_path, monkeypatch):
    with server(tmp_path, 0) as first:
        port = first.server_address[1]
        monkeypatch.setattr(serve, "FIRST", port)
        monkeypatch.setattr(serve, "LAST", port + 20)
        with server(tmp_path, None) as second:
            assert port < second.server_address[1] <= port + 20
        monkeypatch.setattr(serve, "LAST", port)
        with pytest.raises(InvalidArgument, match=f"--port must be a free port, not {port}"):
            server(tmp_path, None)


@needs_browser_tools
@pytest.mark.slow
def test_the_whole_page_is_smaller_than_two_megabytes_and_has_an_agent_for_each_game():
    assert set(site.own_agents([envs_c.game(name) for name in envs_c.games()])) == set(envs_c.games())
    assert site.size(whole_page()) < LARGEST
