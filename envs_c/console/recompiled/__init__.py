"""Compiled cartridges: the ROM's code as C, which plays several times as fast as the interpreter and does the same bit for bit.

`python -m envs_c.console.compile GAME...` compiles now. Otherwise a cartridge that is not in the cache is compiled in the
background, by another process of low priority, once it has been in use for DELAY seconds; the interpreter plays until then.
A forked process waits for the library of another one, and compiles for itself if none has come after PATIENCE seconds.
The cache is that of games from other folders (envs_c/game_cache.py). Nothing compiled from a ROM is anywhere else.
ENVS_C_RECOMPILE=0 leaves the cartridges to the interpreter. Without a C compiler they stay there too, and a warning says so.
"""

import atexit
import ctypes
import hashlib
import json
import os
import random
import signal
import stat
import subprocess
import sys
import threading
import time
import warnings
from array import array
from pathlib import Path

from envs_c import compiler, flags, game_cache, machine, outside
from envs_c.console import console
from envs_c.console.recompiled.follow import FE, Place, follow
from envs_c.console.recompiled.write import source
from envs_c.errors import CompileFailed, EnvsError, InvalidArgument
from envs_c.files import replace
from envs_c.lock import Lock

DELAY = 5.0         # seconds from the first use of a cartridge to the compiler's start
PATIENCE = 60.0     # seconds for which a forked process leaves the compiling to others
FRAMES = 3000       # that are played to find code
MOST = 16_000       # instructions, for which the C compiler takes about a minute
HELD = 12           # frames for which an action is held at most
FLAGS = ["-O2", "-fno-strict-aliasing", "-fno-gcse"]  # GCC's manual advises -fno-gcse for computed gotos
NAME = "cartridge"
SOURCES = (".h", ".pxd", ".py", ".pyx", ".toml")  # endings of the files that decide what a library does
EXECUTED, ENTRY = 1, 2  # as in compiled.pxd
# A compiler in the background: it finds this package, and no modules in the folder where the user is.
STARTER = "import sys; sys.path.insert(0, sys.argv.pop(1)); from envs_c.console.compile import main; main()"
VECTORS = (0xFFFC, 0xFFFE)

_libraries: dict[int, ctypes.CDLL] = {}  # by the cartridge's key; they stay loaded
_waiting: dict[int, tuple[bytes, int, dict]] = {}  # by key: those whose library a thread in the background waits for
_one_at_a_time = Lock()
_ending = threading.Event()
_compilers: list[subprocess.Popen] = []


def wanted() -> bool:
    """False if ENVS_C_RECOMPILE=0. Raises InvalidArgument for another value than 0 or 1."""
    value = os.environ.get("ENVS_C_RECOMPILE", "1")
    if value not in ("0", "1"):
        raise InvalidArgument(f"ENVS_C_RECOMPILE must be 0 or 1, not {value!r}")
    return value == "1"


def can_be_compiled(facts: dict) -> bool:
    """True for the kinds of cartridge whose banks `follow` knows."""
    return facts["kind"] <= FE


def c_flags() -> list[str]:
    """The C compiler's flags; ENVS_C_FLAGS adds some, as for games from other folders."""
    return [*FLAGS, *outside.NO_WARNINGS, *flags.cpu_flags(), *os.environ.get("ENVS_C_FLAGS", "").split()]


def folder_of(data: bytes, facts: dict) -> Path:
    """The folder of the cache for an inserted cartridge's library."""
    console_folder = Path(__file__).parents[1]
    texts = [file.read_bytes() for file in sorted(console_folder.rglob("*")) if file.suffix in SOURCES]
    known = [data, facts["kind"], facts["last_line"], texts, console.layout(), machine.cpu_facts(), c_flags()]
    return game_cache.folder() / hashlib.sha256(repr(known).encode()).hexdigest()[:game_cache.HASH]


def c_of(data: bytes, key: int, facts: dict) -> str:
    """An inserted cartridge's code in C. Raises CompileFailed if it is too large."""
    draw, actions = random.Random(0), bytearray()
    while len(actions) < FRAMES:
        actions += bytes([draw.choice(facts["actions"])] * draw.randint(1, HELD))
    found, addresses = console.trace(key, bytes(actions))
    places = [Place(k % len(data), pc) for k, pc in enumerate(array("H", addresses))]
    starts = [place for place, mark in zip(places, found, strict=True) if mark]
    entries = [place for place, mark in zip(places, found, strict=True) if mark & ENTRY]
    if facts["kind"] == 0:
        words = [int.from_bytes(data[vector % len(data): vector % len(data) + 2], "little") for vector in VECTORS]
        entries += [Place(word % len(data), word) for word in words if word & 0x1000]
    code = follow(data, facts["kind"], starts, entries)
    if len(code.places) > MOST:
        raise CompileFailed(f"the cartridge has {len(code.places):,} instructions, more than the {MOST:,} that are compiled")
    return source(code, console.layout(),
                  [address != 0 for address in console.callbacks()[3:]], facts["hot"], facts["last_line"])


def compiled(data: bytes, key: int, facts: dict) -> Path:
    """The library of an inserted cartridge; compiles it if the cache does not hold it. Raises CompileFailed."""
    folder = folder_of(data, facts)
    library = folder / f"{NAME}.so"
    game_cache.make_private(folder.parent)
    if not os.path.lexists(library):
        with game_cache.scratch_in(folder.parent) as scratch:
            text = scratch / f"{NAME}.c"
            text.write_text(c_of(data, key, facts), encoding="utf-8")
            made = compiler.compile_c(text, c_flags())
            made.chmod(0o700)
            game_cache.make_private(folder)
            replace(made, library)
    game_cache.check_private(folder, stat.S_ISDIR)
    game_cache.check_private(library, stat.S_ISREG)
    return library


def attach(library: Path, key: int) -> None:
    """Let an inserted cartridge run by its library from now on."""
    loaded = ctypes.CDLL(str(library))
    functions = console.callbacks()
    loaded.connect((ctypes.c_void_p * len(functions))(*functions))
    _libraries[key] = loaded
    console.attach(key, ctypes.cast(loaded.run, ctypes.c_void_p).value)


def detach(key: int) -> None:
    """Let an inserted cartridge run by the interpreter again."""
    console.attach(key, 0)


def begin(data: bytes, key: int, facts: dict) -> None:
    """Called when a cartridge was inserted: use its library if it is there, else have it compiled in the background."""
    if not wanted() or not can_be_compiled(facts) or key in _libraries or key in _waiting:
        return
    try:
        library = folder_of(data, facts) / f"{NAME}.so"
    except InvalidArgument as error:
        warnings.warn(f"a cartridge plays by the interpreter, more slowly: {error}", stacklevel=1)
        return
    if os.path.lexists(library):
        _use(data, key, facts)
    else:
        _waiting[key] = data, key, facts
        _wait_for(key, 0.0)


def _wait_for(key: int, patience: float) -> None:
    threading.Thread(target=in_background, args=(*_waiting[key], patience), name="recompile", daemon=True).start()


def in_background(data: bytes, key: int, facts: dict, patience: float = 0.0) -> None:
    """Compile in another process, and attach the library. patience: seconds for which others may compile it first."""
    library, end = folder_of(data, facts) / f"{NAME}.so", time.monotonic() + patience
    while True:
        if _ending.wait(DELAY):
            return
        if os.path.lexists(library) or time.monotonic() >= end:
            break
    try:
        if os.path.lexists(library) or _compile_apart(data, key, facts):
            _use(data, key, facts)
    finally:
        _waiting.pop(key, None)


def _use(data: bytes, key: int, facts: dict) -> None:
    """Attach the library of the cache; a warning if it cannot be loaded, as from a disk whose programs may not run."""
    try:
        attach(compiled(data, key, facts), key)
    except (EnvsError, OSError) as error:
        warnings.warn(f"a cartridge plays by the interpreter, more slowly: {error}", stacklevel=1)


def _compile_apart(data: bytes, key: int, facts: dict) -> bool:
    """Compile in another process. Returns False, with a warning, if that failed; without, if this process ends."""
    task = json.dumps({"data": data.hex(), "key": key, "facts": facts})
    with _one_at_a_time.held():
        if _ending.is_set():
            return False
        process = subprocess.Popen([sys.executable, "-P", "-c", STARTER, str(outside.PACKAGE.parent), "--task"], text=True,
                                   stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                   start_new_session=True)  # Ctrl-C is for this process, which ends it
        _compilers.append(process)
        said = process.communicate(task)[1].strip().splitlines() or [f"its compiler ended with status {process.returncode}"]
        _compilers.remove(process)
    if process.returncode != 0 and not _ending.is_set():
        reason = said[-1] if said[0].startswith("Traceback") else " ".join(said[:2])  # of a compiler's text, its first error
        warnings.warn(f"a cartridge was not compiled and plays by the interpreter, more slowly: {reason}", stacklevel=1)
    return process.returncode == 0 and not _ending.is_set()


def _after_fork():
    """Called in a child process, which has neither the threads nor the compilers of its parent."""
    global _ending
    _ending = threading.Event()
    _compilers.clear()
    for key in list(_waiting):
        _wait_for(key, PATIENCE)


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_after_fork)


@atexit.register
def _end():
    """Compilers in the background end with the process, and remove what they have written."""
    _ending.set()
    for process in list(_compilers):
        if process.poll() is None:
            if hasattr(os, "killpg"):  # not on Windows
                os.killpg(process.pid, signal.SIGTERM)  # the C compiler too, which its starter has started
            else:
                process.terminate()
