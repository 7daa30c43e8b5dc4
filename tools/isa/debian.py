"""Pythons of other Debian suites or processors, unpacked into a folder: nothing of them is installed on this machine.

The packages come from the mirror in this machine's own configuration of apt. The programs run by the dynamic loader that comes
with them, since their C library can be newer than this machine's, or under qemu-user if they are for another processor.
"""

import functools
import os
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build" / "debian"
LOADERS = {"amd64": "ld-linux-x86-64.so.2", "arm64": "ld-linux-aarch64.so.1"}
# Packages that a Python depends on only for installing it.
NOT_NEEDED = ("debconf", "perl", "dpkg", "tar", "media-types", "netbase", "tzdata", "sed", "install-info", "mailcap")


class Unavailable(Exception):
    """The package cannot be had on this machine; the message says why."""


class Python:
    """An unpacked Python.

    root: the folder that its packages were unpacked into.
    version: such as "3.13".
    """

    def __init__(self, root: Path, version: str, architecture: str):
        self.root, self.version, self.architecture = root, version, architecture

    def command(self) -> list[str]:
        """The command that starts it, to which arguments are added."""
        program = str(self.root / "usr" / "bin" / f"python{self.version}")
        if self.architecture != "amd64":
            return ["qemu-aarch64", "-L", str(self.root), program]
        loader = next(self.root.glob(f"usr/lib*/**/{LOADERS[self.architecture]}"))
        return [str(loader), "--library-path", str(self.root / "usr" / "lib" / "x86_64-linux-gnu"), program]

    def environment(self, packages: Path | str) -> dict[str, str]:
        """The variables for a process of it that imports from `packages`, a folder or several with a colon between them."""
        return {**os.environ, "PYTHONHOME": str(self.root / "usr"), "PYTHONPATH": str(packages), "PYTHONNOUSERSITE": "1"}


def fetch(suite: str, architecture: str, version: str) -> Python:
    """Unpack pythonVERSION of a suite, with the packages that it and NumPy need, once.

    suite: such as "trixie".
    architecture: "amd64" or "arm64".
    Raises Unavailable if there is no apt, no such package or no network.
    """
    root = FOLDER / f"{suite}-{architecture}" / f"python{version}"
    if not (root / "done").exists():
        shutil.rmtree(root, ignore_errors=True)
        apt = configured(suite, architecture)
        name = f"python{version}"
        listed = run(["apt-cache", *apt, "depends", "--recurse", *(f"--no-{kind}" for kind in (
            "recommends", "suggests", "conflicts", "breaks", "replaces", "enhances")), name])
        names = sorted({line for line in listed.splitlines() if line[:1].isalnum() and not line.startswith(NOT_NEEDED)})
        if name not in names:
            raise Unavailable(f"Debian {suite} has no {name} for {architecture}")
        packages = root / "packages"
        packages.mkdir(parents=True)
        run(["apt-get", *apt, "download", *names, "libstdc++6"], cwd=packages)
        for package in packages.glob("*.deb"):
            run(["dpkg", "-x", str(package), str(root)])
        shutil.rmtree(packages)
        (root / "done").touch()
    return Python(root, version, architecture)


@functools.cache
def configured(suite: str, architecture: str) -> tuple[str, ...]:
    """apt's options for another suite and processor, in a folder of their own; its lists of packages are fetched."""
    if not shutil.which("apt-get"):
        raise Unavailable("Pythons of Debian need apt")
    targets = run(["apt-get", "indextargets", "--format", "$(REPO_URI) $(COMPONENT) $(SIGNED_BY)"]).splitlines()
    mirrors = [line.split() for line in targets if "security" not in line and line.split()[1:2] == ["main"]]
    mirrors = [words for words in mirrors if "debian" in words[0]]
    if not mirrors:
        raise Unavailable("apt has no Debian mirror, or `apt-get update` was not run")
    folder = FOLDER / f"{suite}-{architecture}" / "apt"
    for name in ("lists/partial", "cache/archives/partial"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    keys = "/usr/share/keyrings/debian-archive-keyring.gpg"
    (folder / "sources.list").write_text(f"deb [signed-by={keys}] {mirrors[0][0]} {suite} main\n", encoding="utf-8")
    settings = {"Dir::Etc::SourceList": folder / "sources.list", "Dir::Etc::SourceParts": "/dev/null",
                "Dir::State::Lists": folder / "lists", "Dir::State::Status": "/dev/null", "Dir::Cache": folder / "cache",
                "APT::Architecture": architecture, "APT::Architectures": architecture, "Acquire::Languages": "none",
                "Debug::NoLocking": "true", "APT::Sandbox::User": "root"}
    options = tuple(word for name, value in settings.items() for word in ("-o", f"{name}={value}"))
    run(["apt-get", *options, "update", "-qq"])
    return options


def run(command: list[str], cwd: Path = ROOT) -> str:
    """The output of a command. Raises Unavailable if it fails."""
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:] or ["no reason given"]
        raise Unavailable(f"{command[0]} failed: {last[0]}")
    return done.stdout
