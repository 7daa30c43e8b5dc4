"""tools/install.py: the progress of a set-up, its failures, its interruption, and when pip runs again."""

import io
import os
import signal
import sys
import time
from types import SimpleNamespace

import pytest
from setup_support import TOOLS, load, run

INSTALL = TOOLS / "install.py"
LISTED = "Collecting numpy\nCollecting torch==2.13.0 (from -r requirements.txt (line 9))\n"
FAILED = """Error compiling Cython file:
------------------------------------------------------------
cdef int (:
          ^
envs_c/lone.pyx:1:10: Expected an identifier
insertcoin: Cannot compile envs_c/lone.pyx
"""


@pytest.fixture
def install(monkeypatch, tmp_path):
    """The module tools/install.py, with an environment in a folder of the test's."""
    monkeypatch.syspath_prepend(TOOLS)
    module = load(INSTALL)
    monkeypatch.setattr(module, "environment_folder", lambda: tmp_path)
    monkeypatch.setattr(module.environment, "ENVIRONMENT", tmp_path / ".venv")
    monkeypatch.setattr(module.environment, "LOCK", tmp_path / "build" / "install.lock")
    return module


def job(install, tmp_path, code: str, name: str = "job"):
    """A job that runs this Python code; its progress is its log."""
    return install.Job((sys.executable, "-c", code), tmp_path / f"{name}.log", str, lambda text: f"no luck: {text.strip()}")


class Terminal(io.StringIO):
    """A stream that is a terminal."""

    def isatty(self):
        return True


# One line for the state.


@pytest.mark.parametrize(("output", "line"), [
    ("", ""),
    ("Looking in links: /x\n", ""),
    (LISTED, "package list, 2 so far: torch"),
    (LISTED + "  Downloading https://x/y/torch-2.13.0-cp311.whl (180.0 MB)\n",
     "package list, 2 so far: torch-2.13.0-cp311.whl (180.0 MB)"),
    (LISTED + "Installing collected packages: Mark_Down, numpy, torch\n", "package 2 of 3: numpy"),
    (LISTED + "Installing collected packages: Mark_Down, numpy, torch\nSuccessfully installed numpy-2\n", ""),
])
def test_the_package_that_pip_is_at(install, output, line):
    assert install.pip_progress(output, lambda: {"mark-down"}) == line


@pytest.mark.parametrize(("output", "line"), [
    ("running build_ext\n", ""),
    ("running build_ext\n[1/3] Cythonizing envs_c/a.pyx\n[ 2/3] Cythonizing envs_c/b.pyx\n",
     "translating module 2 of 3: envs_c/b.pyx"),
    ("[1/2] Cythonizing envs_c/a.pyx\n[2/2] Cythonizing envs_c/b.pyx\nbuilding 'envs_c.b' extension\ngcc -c b.c\n",
     "compiling module 1 of 2: envs_c.b"),
    ("building 'envs_c.b' extension\n", "compiling module 1 of 1: envs_c.b"),
])
def test_the_module_that_the_build_is_at(install, output, line):
    assert install.build_progress(output) == line


def test_a_terminal_shows_one_line_that_is_written_again_and_removed(install, tmp_path):
    stream = Terminal()
    display = install.Display(stream)
    one = job(install, tmp_path, "print('x' * 500, flush=True); input()")
    one.process.kill()
    one.process.wait()
    one.process.poll = lambda: None
    one.log.write_text("x" * 500)
    display.update([one])
    display.update([one])
    display.clear()
    written = stream.getvalue()
    assert "\n" not in written and written.count("\r\x1b[Kset-up: 0 s, xxx") == 2 and written.endswith("\r\x1b[K")
    assert max(map(len, written.split("\r\x1b[K"))) < 500


def test_a_log_has_a_line_each_half_minute_only(install, tmp_path, monkeypatch):
    seconds, stream = iter(range(100, 1000, 7)), io.StringIO()
    monkeypatch.setattr(install, "time", SimpleNamespace(monotonic=lambda: next(seconds)))
    display = install.Display(stream)
    one = job(install, tmp_path, "")
    one.process.wait()
    one.process.poll = lambda: None
    one.log.write_text("module 3 of 9")
    for _ in range(12):
        display.update([one])
    lines = stream.getvalue().splitlines()
    assert lines == [f"set-up: {seconds} s, module 3 of 9" for seconds in (35, 70)]  # the first that are 30 s apart


# Failures and interruptions.


@pytest.mark.parametrize(("output", "cause", "shown"), [
    (FAILED, "Cannot compile envs_c/lone.pyx", FAILED.splitlines()[:-1]),
    ("insertcoin: note: no OpenMP\ngcc -c a.c\na.c:3:1: error: no semicolon\na.c:4:1: warning: x\nerror: command failed\n",
     "the build failed: a.c:3:1: error: no semicolon", ["a.c:3:1: error: no semicolon"]),
    ("insertcoin: no C compiler\n", "no C compiler", []),
    ("Traceback\nMemoryError\n", "the build failed: MemoryError", []),
    ("", "the build failed: no reason given", []),
])
def test_a_failed_build_is_explained(install, output, cause, shown):
    assert install.doctor.explain_build(output) == cause
    assert install.doctor.error_lines(output) == shown


def test_a_translated_compiler_is_asked_for_english_in_a_folder_with_any_letters(install, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    monkeypatch.setenv("LANGUAGE", "de:fr")
    (tmp_path / "größe").mkdir()
    translated = 'case "$LC_ALL:$LANGUAGE" in C.UTF-8:) echo "a.c:1:1: error: x";; *) echo "a.c:1:1: Fehler: x";; esac; exit 1'
    code = (f"import os, subprocess; os.chdir({str(tmp_path / 'größe')!r}); print(os.getcwd(), flush=True)\n"
            f"raise SystemExit(subprocess.run(['sh', '-c', {translated!r}]).returncode)")
    failing = job(install, tmp_path, code)
    with pytest.raises(SystemExit) as ended:
        install.finish([failing], install.Display(io.StringIO()))
    assert capsys.readouterr().err == "a.c:1:1: error: x\n" and "größe" in ended.value.code


def test_a_failed_job_ends_the_others_and_names_its_log(install, tmp_path, capsys):
    code = "import time\ntry: time.sleep(600)\nexcept KeyboardInterrupt: raise SystemExit(1)"  # as pip does
    sleeper = job(install, tmp_path, code, "sleeper")
    failing = job(install, tmp_path, "print('a.c:1:1: error: x'); raise SystemExit(3)", "failing")
    with pytest.raises(SystemExit) as ended:
        install.finish([sleeper, failing], install.Display(io.StringIO()))
    log = tmp_path / "failing.log"
    assert ended.value.code == f"insertcoin: no luck: a.c:1:1: error: x (the whole log: {log})"
    assert capsys.readouterr().err == "a.c:1:1: error: x\n"
    assert sleeper.process.returncode


def test_ctrl_c_ends_the_jobs_and_says_how_to_go_on(install, tmp_path, capsys, monkeypatch):
    started = job(install, tmp_path, "import time; time.sleep(600)")

    def interrupted(seconds):
        raise KeyboardInterrupt

    monkeypatch.setattr(install, "time", SimpleNamespace(sleep=interrupted, monotonic=time.monotonic))
    monkeypatch.setattr(install, "install_training", lambda display: install.finish([started], display))
    with pytest.raises(SystemExit) as ended:
        install.main([])
    assert ended.value.code == 130 and "run the same command again" in capsys.readouterr().err
    assert started.process.returncode


def test_ctrl_c_while_the_environment_is_made_says_how_to_go_on(install, capsys, monkeypatch):
    def interrupted(folder, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(install.environment, "venv", SimpleNamespace(create=interrupted))
    with pytest.raises(SystemExit) as ended:
        install.main(["venv"])
    assert ended.value.code == 130
    assert capsys.readouterr() == ("set-up: making .venv\n",
                                   "insertcoin: the set-up was interrupted: run the same command again to go on\n")


def test_a_job_that_goes_on_after_ctrl_c_is_ended_with_its_children(install, tmp_path, monkeypatch):
    monkeypatch.setattr(install, "PATIENCE", 0.2)
    ignore = "import signal, time; signal.signal(signal.SIGINT, signal.SIG_IGN)"
    code = (f"import subprocess, sys; {ignore}; subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
            "print('ready', flush=True); time.sleep(600)")
    stubborn = job(install, tmp_path, code)
    while "ready" not in stubborn.text():
        time.sleep(0.05)
    install.end([stubborn])
    assert stubborn.process.returncode == -signal.SIGTERM
    with pytest.raises(ProcessLookupError):  # no process of the group is left, but for one that is ending
        for _ in range(200):
            os.killpg(stubborn.process.pid, 0)
            time.sleep(0.05)


@pytest.mark.parametrize("safe_path", [None, "1"], ids=["", "PYTHONSAFEPATH"])
def test_an_unknown_argument_is_refused_in_one_line(safe_path):
    result = run(sys.executable, INSTALL, "tests", PYTHONSAFEPATH=safe_path)
    assert result.returncode == 1
    assert result.stderr == "insertcoin: the argument must be venv, dev or none, not tests\n"


# Which files decide that pip runs.


@pytest.fixture
def runs(install, tmp_path, monkeypatch):
    """The requirements files of each pip that was started, and "build" for a build."""
    started = []
    monkeypatch.setattr(install, "pip", lambda log, *arguments: started.append(arguments[1]) or job(install, tmp_path, "", log))
    monkeypatch.setattr(install, "build", lambda: started.append("build") or job(install, tmp_path, "", "build"))
    return started


def test_pip_runs_once_for_each_set_of_pins(install, runs, tmp_path):
    install.main([])
    assert runs == ["requirements-build.txt", "requirements.txt", "build"]
    runs.clear()
    install.main([])
    assert runs == ["build"]
    runs.clear()
    install.main(["dev"])
    assert runs == ["build", "requirements-dev.txt"]
    runs.clear()
    install.main(["dev"])
    assert runs == ["build"]
    (tmp_path / "pins").write_bytes(b"others")  # as after another version of requirements.txt
    runs.clear()
    install.main(["dev"])
    assert runs == ["requirements-build.txt", "requirements.txt", "build"]


def test_a_failed_pip_runs_again(install, runs, tmp_path, monkeypatch):
    monkeypatch.setattr(install, "pip", lambda log, *arguments: job(install, tmp_path, "raise SystemExit(1)", log))
    with pytest.raises(SystemExit):
        install.main([])
    assert not (tmp_path / "pins").exists()
