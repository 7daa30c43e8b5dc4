"""Code that a run or a preset names runs only if the user says so.

A run may name a game by the path of its .pyx and an environment of Gymnasium by the path of its .py. By import path it may name
environments, their wrappers, parts of its policy, functions for its learning, and trackers.
A run may come from anyone. So its code is loaded only if

    the command line has --trust-code,
    the command line names the same code, or
    a training that the user started by naming the code ran exactly these files before.

For the last case the SHA-256 of each file is kept in `file_of_hashes`. The hash of a game covers its .pyx and the .pxd and .pxi
files beside it. Of a module or a .py, each file has a hash of its own: the module's, its packages' and those of the other
modules in the same folder that it imports. What is hashed is what runs (`hold` of trainer/config/games.py, `watched` of
trainer/imports.py).
Installed packages, data and libraries that the code reads are not covered. Games and environments of installed packages, given
by a name without a module, need no permission: installing the package gave it.
"""

import contextlib
import os
import re
import stat
import sys
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import platformdirs

from envs_c.files import Appended, user_folder
from envs_c.game_cache import fault_of
from envs_c.text import say
from trainer import imports
from trainer.config import Config
from trainer.config.before_parse import option_of
from trainer.config.games import hold, path_of, release
from trainer.errors import TrustError

LIBRARIES = {"envs_c", "ale_py", "tensorboard", "wandb", "trackio"}  # need no permission where they are installed
OWN_CODE = {"trainer.ppo.bonuses:seaquest", "trainer.ppo.bonuses:space_invaders"}  # functions of this package that presets name
OF_THE_POLICY = ("encoder", "observation_transform", "memory", "heads")  # settings in the section policy that may name code
OF_THE_LEARNING = ("reward_transform", "loss")                           # those in the section ppo; only trainings load it
ADVICE = "read it, then allow it with --trust-code"

_LINE = re.compile(r"([0-9a-f]{64}) .*")
_admitted: set[tuple[str, str]] = set()  # setting and name of the code admitted now, see `admitted`


class Code(NamedTuple):
    """Code that a config names."""

    setting: str             # game, wrap, track, or a name in OF_THE_POLICY or OF_THE_LEARNING
    name: str                # as in the config
    module: str | None       # to be imported; None for a game's .pyx and an environment's .py
    files: tuple[str, ...]
    hashes: tuple[str | None, ...]  # of the files; None for a module without a plain file

    @property
    def key(self) -> tuple[str, str]:
        return self.setting, self.name

    @property
    def is_python(self) -> bool:
        """False for a game's .pyx, which imports nothing of the user's."""
        return self.module is not None or self.files[0].endswith(".py")


@contextlib.contextmanager
def admitted(config: Config, origin: Any, *, trust_code: bool = False, named: Collection[str] = (), learns: bool = False,
             trains: bool = False, game_option: str = "--game ") -> Iterator[None]:
    """Let the code that a config names run in this context, if the user has allowed it.

    origin: of the config, for the error message.
    trust_code: True if the command line has --trust-code.
    named: the games and import paths on the command line; games as absolute paths.
    learns: True if the code that only a training needs is loaded too.
    trains: True for a training, which remembers the code in `named`.
    game_option: precedes a game's name on the command line.
    Raises TrustError before any of the code is compiled or imported, and SettingError if a module does not exist. In the
    context, an import of another file that is not allowed raises TrustError.
    """
    codes = [code for one in names_of(config, learns) if one[:2] not in _admitted and (code := _code(*one)) is not None]
    modules = [code for code in codes if code.is_python]
    known = hashes() if codes else set()
    unknown = [code for code in codes if code.name not in named and not known.issuperset(code.hashes)]
    _refuse(unknown, origin, trust_code, game_option)
    any_named, all_mine = any(code.name in named for code in modules), not any(code.is_python for code in unknown)
    if trains:
        for code in codes:
            if code.name in named:
                _remember(code.hashes, code.files, known)

    def check(file: str, digest: str | None) -> None:
        if trains and any_named and all_mine:
            _remember([digest], [file], known)
        elif digest not in known and not trust_code and not any_named:
            raise TrustError(f"{file}, which is imported by the code of {origin}, is not a file that your trainings have used; "
                             f"{ADVICE}")

    keys = {code.key for code in codes}
    _admitted.update(keys)
    try:
        names, files = [code.module for code in modules if code.module], [code.files[0] for code in modules if not code.module]
        with imports.watched(names, check, files) if modules else contextlib.nullcontext():
            yield
    finally:
        _admitted.difference_update(keys)
        for code in codes:
            if code.module is None:
                release(code.name)


def names_of(config: Config, learns: bool = False) -> list[tuple[str, str, str | None]]:
    """The setting, the name and the module (None for a .pyx and a .py) of each piece of code that a config names.

    learns: also of the code that only a training loads.
    """
    is_file = config.game.is_file or config.game.env_file is not None
    found: list[tuple[str, str, str | None]] = [("game", config.game, None)] if is_file else []
    if not is_file and (module := config.game.env_module or ("ale_py" if config.game.is_ale else None)):
        found.append(("game", config.game, module))
    names = [("wrap", path) for path in config.env.wrappers]
    names += [(setting, getattr(config.policy, setting)) for setting in OF_THE_POLICY]
    if learns:
        names += [(setting, getattr(config.ppo, setting)) for setting in OF_THE_LEARNING]
        names += [("track", name) for name in config.run.trackers]
    return found + [(setting, name, name.partition(":")[0]) for setting, name in names
                    if name is not None and name not in OWN_CODE and (setting == "track" or ":" in name)]


def file_of_hashes() -> Path:
    """The file of the hashes of the code that the user's trainings have run: a line each, the hash and the file.

    Raises FileNotFoundError if the user has no home.
    """
    return user_folder(platformdirs.user_data_dir, "insertcoin") / "trusted_code.txt"


def hashes() -> set[str]:
    """The hashes in `file_of_hashes`. Raises TrustError if others could write to it."""
    try:
        file = file_of_hashes()
    except FileNotFoundError:
        return set()
    if not os.path.lexists(file):
        return set()
    _require_private(file)
    lines = map(_LINE.fullmatch, file.read_text(encoding="utf-8", errors="replace").splitlines())
    return {line[1] for line in lines if line}


def _code(setting: str, name: str, module: str | None) -> Code | None:
    """The code of that name. The files of a game are read, and held for `find_game`.

    None if there is nothing to allow: a game whose file does not exist, a library that is installed or missing, and a name
    that `imports.find` does not accept. Raises SettingError if a module does not exist.
    """
    if module is None:
        return Code(setting, name, None, (str(path_of(name)),), (hold(name),)) if path_of(name).is_file() else None
    if setting != "game" and not all(part.isidentifier() for part in module.split(".")):
        return None
    library = module in LIBRARIES and (setting == "game" or name == module)
    try:
        specs = imports.located(module)
    except ModuleNotFoundError as error:
        if library:
            return None
        raise imports.not_found(setting, name, str(error.name)) from None
    if library and all(map(imports.is_installed, specs)):
        return None
    specs = [spec for spec in specs if imports.runs_code(spec)]
    return Code(setting, name, module, tuple(spec.origin or spec.name for spec in specs), tuple(map(imports.digest_of, specs)))


def _refuse(codes: list[Code], origin: Any, trust_code: bool, game_option: str) -> None:
    """Raises TrustError if there is code that is not allowed."""
    if not codes or trust_code:
        return
    texts = [f"the {code.setting.replace('_', ' ')} {code.name}" + (f" ({code.files[-1]})" if code.module is not None else "")
             for code in codes]
    options = [f"{game_option if code.setting == 'game' else option_of(code.setting) + ' '}{code.name}" for code in codes]
    raise TrustError(f"{origin} wants to run code that no training of yours has used: {' and '.join(texts)}; {ADVICE}, or by "
                     f"naming it: {' '.join(options)}")


def _remember(digests: Collection[str | None], files: Collection[str], known: set[str]) -> None:
    """Add hashes of files to `file_of_hashes` and to `known`. Raises TrustError if others could write to it."""
    lines = [f"{digest} {file!r}\n" for digest, file in zip(digests, files, strict=True) if digest and digest not in known]
    if not lines:
        return
    known.update(filter(None, digests))
    try:
        file = file_of_hashes()
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        opened = Appended(file, 0o600)
    except OSError as error:
        say(f"note: {error.filename} cannot be written ({error.strerror}): later commands will ask for --trust-code",
            file=sys.stderr)
        return
    with contextlib.closing(opened):
        _require_private(file)
        opened.append("".join(lines).encode())


def _require_private(file: Path) -> None:
    """Raises TrustError unless only this user can write to `file` and its folder."""
    for path, kind in ((file.parent.resolve(), stat.S_ISDIR), (file, stat.S_ISREG)):
        if fault := fault_of(path, kind):
            raise TrustError(f"the list of code that may run must be yours, and only you may write to it, but {path} {fault}: "
                             "remove it; your next trainings make a new one")
