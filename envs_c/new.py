"""`python -m envs_c new NAME`: a game that compiles, plays and keeps the contract, to be changed into another one."""

from pathlib import Path
from string import Template

from gymnasium.envs.registration import registry

from envs_c import catalog
from envs_c.errors import InvalidArgument

TEMPLATES = Path(__file__).parent / "template"
FILES = {"game.pyx.txt": "{name}.pyx", "game.toml.txt": "{name}.toml", "test_game.py.txt": "test_{name}.py",
         "setup.py.txt": "setup.py"}


def new(name: str, folder: str | Path = ".") -> Path:
    """Write a game called `name` to `folder`/`name`; returns that folder.

    Raises InvalidArgument where the name will not do or the folder is already there; nothing is written then.
    """
    if not (name.isidentifier() and name.islower() and name.isascii()):
        raise InvalidArgument(f"game name {name!r}: it must be lower-case letters, digits and _, as in my_game")
    if name in catalog.games() or name in ("envs_c", "bridge", "trainer"):
        raise InvalidArgument(f"game name {name!r} is taken; the games are {', '.join(catalog.games())}")
    title = "".join(part.capitalize() for part in name.split("_"))
    if f"Arcade/{title}-v0" in registry:
        raise InvalidArgument(f"game name {name!r} makes the title {title!r}, which is another game's; choose another name")
    target = Path(folder).expanduser() / name
    if target.exists():
        raise InvalidArgument(f"{target} is already there; choose another name or --dir, or remove it")
    words = {"name": name, "Title": title}
    texts = {file.format(name=name): Template((TEMPLATES / source).read_text(encoding="utf-8")).substitute(words)
             for source, file in FILES.items()}
    target.mkdir(parents=True)
    for file, text in texts.items():
        (target / file).write_text(text, encoding="utf-8")
    return target
