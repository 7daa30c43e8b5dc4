"""The command that installs an extra of this package. Error messages about missing packages take it from here.

The package need not be on an index: the command names the place that this installation came from. Standard library only, no
imports from this package; trainer/__main__.py loads this file by its path if the package cannot be imported.
"""

import json
import shlex
from pathlib import Path

NAME = "insertcoin"
ROOT = Path(__file__).resolve().parents[1]  # of the repository, or the folder of installed packages


def hint(extra: str) -> str:
    """The command that installs `extra`, such as "pip install -e '/home/me/insertcoin[sb3]'".

    extra: a name in [project.optional-dependencies] of pyproject.toml.
    """
    if (ROOT / "pyproject.toml").is_file():
        return f"pip install -e {quoted(f'{ROOT}[{extra}]')}"
    source = origin()
    return f"pip install {quoted(f'{NAME}[{extra}]' + (f' @ {source}' if source else ''))}"


def origin() -> str:
    """The URL that pip installed this package from, as pip takes it; "" if it came from an index.

    pip notes the URL in direct_url.json (PEP 610).
    """
    from importlib import metadata  # not in Python 3.7, which only runs trainer/__main__.py, in a checkout
    try:
        record = metadata.distribution(NAME).read_text("direct_url.json")
    except metadata.PackageNotFoundError:
        return ""
    if not record:
        return ""
    facts = json.loads(record)
    version = facts.get("vcs_info")
    return f"{version['vcs']}+{facts['url']}@{version['commit_id']}" if version else facts["url"]


def quoted(text: str) -> str:
    """One argument of a shell's command, in quotes, since brackets are patterns in some shells."""
    return f"'{text}'" if "'" not in text else shlex.quote(text)
