"""Installs the pinned packages and insertcoin itself into this Python's environment, and builds the extensions meanwhile.

    python tools/install.py venv   makes .venv, unless it is there and works
    python tools/install.py        installs what training needs: requirements.txt
    python tools/install.py dev    also what tests, linters and pages need: requirements-dev.txt

`make setup` and `make dev` run the last two with .venv's Python. The build needs only setuptools and Cython, so these come
first and then both cores have work: pip unpacks torch while modules compile. A terminal shows one line that is written again,
a log one line each 30 seconds. The files pins and pins-dev in the environment hold the pins that were installed last; if they
are the same, pip does not run. A build compiles what has changed. After Ctrl-C the same command goes on. Only one
set-up of a checkout runs at a time.

Standard library only.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))  # PYTHONSAFEPATH leaves it out
import doctor
import environment

ROOT = Path(__file__).resolve().parent.parent
BUILD_PACKAGES, TRAINING, DEVELOPMENT = "requirements-build.txt", "requirements.txt", "requirements-dev.txt"
PINS = (BUILD_PACKAGES, TRAINING, "constraints.txt", "pyproject.toml")
PATIENCE = 3  # seconds between SIGINT and SIGTERM
LOG_EVERY = 30  # seconds between two lines in a log
# Compiling all of torch to bytecode takes longer than compiling at the first import the part that a training loads.
PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--no-input", "--no-compile", "--progress-bar",
       "off")
SETUP = (sys.executable, "setup.py", "build_ext", "--inplace")


class Job:
    """A child process with a log.

    progress: gives one line from the log's text; "" if there is nothing to show.
    explain: gives one line from the log of a job that failed.
    """

    def __init__(self, command: tuple[str, ...], log: Path, progress: Callable[[str], str], explain: Callable[[str], str],
                 **environment: str):
        self.log, self.explain, self._progress = log, explain, progress
        with log.open("w", encoding="utf-8") as output:
            self.process = subprocess.Popen(
                command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                start_new_session=True, env=os.environ | {"PYTHONUNBUFFERED": "1"} | doctor.ENGLISH | environment)

    def text(self) -> str:
        """The log so far."""
        return self.log.read_text(encoding="utf-8", errors="replace")

    def progress(self) -> str:
        """One line about this job's state."""
        return self._progress(self.text())


def pip_progress(output: str, installed: Callable[[], set[str]]) -> str:
    """The package that pip is at, from its output.

    installed: gives the normalized names of the packages in the environment.
    """
    listed = re.findall(r"^Installing collected packages: (.*)", output, re.MULTILINE)
    if listed and "Successfully installed" not in output:
        names = listed[-1].split(", ")
        there = installed()
        left = [name for name in names if normalized(name) not in there]
        return f"package {min(len(names) - len(left) + 1, len(names))} of {len(names)}: {(left or names[-1:])[0]}"
    if listed:
        return ""
    found = re.findall(r"^(?:Collecting ([\w.-]+)|  Downloading (?:\S*/)?([^/\s]+\.whl.*))", output, re.MULTILINE)
    if not found:
        return ""
    name, download = found[-1]
    count = sum(1 for one, _ in found if one)
    return f"package list, {count} so far: {name or download}"


def installed_names() -> set[str]:
    """The normalized names of the installed packages."""
    return {normalized(folder.name.partition("-")[0]) for folder in Path(sysconfig.get_path("purelib")).glob("*.dist-info")}


def normalized(name: str) -> str:
    """A package's name, as all spellings of it are compared."""
    return re.sub(r"[-_.]+", "-", name).lower()


def build_progress(output: str) -> str:
    """The module that the build is at, from the output of setup.py; "" if nothing has to be built."""
    translated = re.findall(r"^\[ *(\d+)/(\d+)\] Cythonizing (\S+)", output, re.MULTILINE)
    compiled = re.findall(r"^building '(\S+)' extension", output, re.MULTILINE)
    if compiled:
        return f"compiling module {len(compiled)} of {max(len(compiled), len(translated))}: {compiled[-1]}"
    if translated:
        return f"translating module {len(translated)} of {translated[-1][1]}: {translated[-1][2]}"
    return ""


def pip(log: str, *arguments: str) -> Job:
    """Start pip with these arguments after `pip install`."""
    return Job((*PIP, *arguments), environment_folder() / log, lambda text: pip_progress(text, installed_names),
               doctor.explain_pip, NO_BUILD="1")


def build() -> Job:
    """Start the build."""
    return Job(SETUP, environment_folder() / "build.log", build_progress, doctor.explain_build)


def environment_folder() -> Path:
    """The folder of this Python's environment, relative to the repository if it is inside."""
    folder = Path(sys.prefix)
    return folder.relative_to(ROOT) if folder.is_relative_to(ROOT) else folder


class Display:
    """The progress of jobs: one line in a terminal, few lines in a log."""

    def __init__(self, stream=sys.stdout):
        self.stream, self.terminal = stream, stream.isatty()
        self.began = self.printed = time.monotonic()
        self.shown = False

    def seconds(self) -> str:
        """The time since the start."""
        return f"{time.monotonic() - self.began:.0f} s"

    def note(self, text: str) -> None:
        """Print a line that stays."""
        self.clear()
        print(text, file=self.stream, flush=True)

    def update(self, jobs: list[Job]) -> None:
        """Show the jobs' state."""
        states = [state for job in jobs if job.process.poll() is None and (state := job.progress())]
        if not states:
            return
        now = time.monotonic()
        if not self.terminal and now - self.printed < LOG_EVERY:
            return
        self.printed, line = now, f"set-up: {now - self.began:.0f} s, {'; '.join(states)}"
        if self.terminal:
            width = shutil.get_terminal_size().columns
            print(f"\r\x1b[K{line[: width - 1]}", end="", file=self.stream, flush=True)
            self.shown = True
        else:
            print(line, file=self.stream, flush=True)

    def clear(self) -> None:
        """Remove the line that is written again."""
        if self.shown:
            print("\r\x1b[K", end="", file=self.stream, flush=True)
            self.shown = False


def finish(jobs: list[Job], display: Display) -> None:
    """Wait for all jobs. Ends this program with one line if one fails; the others are ended then."""
    try:
        while any(job.process.poll() is None for job in jobs) and not any(job.process.returncode for job in jobs):
            display.update(jobs)
            time.sleep(0.1)
        failed = [job for job in jobs if job.process.returncode]  # before the others are ended, which return an error too
    finally:
        end(jobs)
        display.clear()
    if failed:
        output = failed[0].text()
        print(*doctor.error_lines(output), sep="\n", end="\n" * bool(doctor.error_lines(output)), file=sys.stderr)
        sys.exit(f"insertcoin: {failed[0].explain(output)} (the whole log: {failed[0].log})")


def end(jobs: list[Job]) -> None:
    """End the jobs that run, and their children: pip and the compiler remove what is half written."""
    running = [job for job in jobs if job.process.poll() is None]
    for job in running:
        os.killpg(job.process.pid, signal.SIGINT)
    for job in running:
        try:
            job.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:  # the build would compile what is left
            os.killpg(job.process.pid, signal.SIGTERM)
            job.process.wait()


def pins(*names: str) -> bytes:
    """The contents of these files."""
    return b"".join((ROOT / name).read_bytes() for name in names)


def is_stamped(stamp: Path, content: bytes) -> bool:
    """True if a stamp has this content."""
    return stamp.is_file() and stamp.read_bytes() == content


def install_training(display: Display) -> None:
    """Install what training needs unless it is there, and build what has changed."""
    stamp, wanted = ROOT / environment_folder() / "pins", pins(*PINS)
    if is_stamped(stamp, wanted):
        jobs = [build()]
        finish(jobs, display)
    else:
        folder = environment_folder()
        display.note("set-up: installing the packages for training, compiling the games; "
                     f"logs: {folder}/pip.log, {folder}/build.log")
        finish([pip("pip.log", "-r", BUILD_PACKAGES)], display)
        jobs = [pip("pip.log", "-r", TRAINING, "--no-build-isolation", "-e", "."), build()]
        finish(jobs, display)
        stamp.write_bytes(wanted)
    built = build_progress(jobs[-1].text())
    for line in re.findall(r"^insertcoin: note: .*|^.*: warning: .*", jobs[-1].text(), re.MULTILINE):
        display.note(line)
    if len(jobs) > 1 or built:
        display.note(f"set-up: ready for training after {display.seconds()}")


def install_development(display: Display) -> None:
    """Install what tests, linters and pages need, unless it is there."""
    stamp, wanted = ROOT / environment_folder() / "pins-dev", pins(*PINS, DEVELOPMENT)
    if is_stamped(stamp, wanted):
        return
    log = environment_folder() / "pip-dev.log"
    display.note(f"set-up: installing the packages for tests, linters and pages; log: {log}")
    finish([pip(log.name, "-r", DEVELOPMENT)], display)
    stamp.write_bytes(wanted)
    display.note(f"set-up: ready for tests after {display.seconds()}")


def main(argv: list[str]) -> None:
    """Run the command line."""
    if argv not in ([], ["dev"], ["venv"]):
        sys.exit(f"insertcoin: the argument must be venv, dev or none, not {' '.join(argv)}")
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl-C: no child is left behind
    try:
        with environment.alone():
            if argv == ["venv"]:
                environment.make()
                return
            display = Display()
            install_training(display)
            if argv:
                install_development(display)
    except KeyboardInterrupt:
        print("insertcoin: the set-up was interrupted: run the same command again to go on", file=sys.stderr)
        sys.exit(130)


if __name__ == "__main__":
    main(sys.argv[1:])
