"""The README as the package's page on an index: its relative links become links to the repository. setup.py uses it."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PATH = r"([\w./-]+\.\w+)"  # of a file, no URL and no #heading
LINK = re.compile(rf"(!?\[[^\]]*\]\(){PATH}(\))")       # [text](path), ![text](path)
ATTRIBUTE = re.compile(rf"((?:src|href)=\"){PATH}(\")")  # of HTML


def repository() -> str:
    """The repository's URL, from pyproject.toml."""
    import tomllib  # not in Python 3.10, to which setup.py says that it is too old
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]["Repository"]


def page(readme: str, url: str) -> str:
    """The text of the README with absolute links.

    url: the repository's. Pictures point to the file itself, other links to its page, both of the default branch.
    """
    def absolute(match) -> str:
        kind = "raw" if match[1].startswith(("!", "src")) else "blob"
        return f"{match[1]}{url}/{kind}/HEAD/{match[2]}{match[3]}"
    return ATTRIBUTE.sub(absolute, LINK.sub(absolute, readme))


def text() -> str:
    """The page of this package."""
    return page((ROOT / "README.md").read_text(encoding="utf-8"), repository())
