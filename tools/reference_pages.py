"""Writes docs/settings.md and the tree of files in docs/architecture.md: `make docs`.

The settings' texts are the docstrings in trainer/config/sections.py; a file's line in the tree is the first sentence of its
docstring. tests/repository/pages/test_reference_pages.py writes both again and compares.
"""

import re
import sys
from dataclasses import fields
from pathlib import Path

from trainer.config import EnvConfig, PolicyConfig, PPOConfig, RunConfig, SelfPlayConfig
from trainer.config.fields import requirement
from trainer.config.short_help import docstrings

ROOT = Path(__file__).resolve().parent.parent
SETTINGS = ROOT / "docs" / "settings.md"
ARCHITECTURE = ROOT / "docs" / "architecture.md"
TREES = ("insertcoin", "trainer", "bridge", "envs_c", "benchmarks", "tools")
SOURCES = (".py", ".pyx", ".pxd", ".h", ".cu")
BEGIN, END = "<!-- the tree, written by make docs -->\n", "<!-- end of the tree -->"
WIDTH = 128
INTRODUCTION = """Each setting is an option of `insertcoin GAME` (`num_envs` is `--num-envs`) and a line of a preset, a TOML
file with a table for each section. A game's preset changes some of these defaults ([trainer/presets](../trainer/presets));
`insertcoin GAME --help all` shows the game's own defaults, `--help` those that people change first.

Two options of the command line are no settings. `--preset FILE.toml` takes a preset of yours in place of the game's own. It
needs only the lines that differ from the defaults below, such as

    [ppo]
    learning_rate = 0.001

`--trust-code` loads [code that a run or a preset names](trainer.md#runs-from-others). A game `my_game.pyx` takes the file
`my_game.toml` beside it as its preset; a game of an installed package, given by its name, has the defaults."""


def main() -> int:
    """Write both pages."""
    SETTINGS.write_text(settings(), encoding="utf-8")
    page = ARCHITECTURE.read_text(encoding="utf-8")
    ARCHITECTURE.write_text(with_tree(page), encoding="utf-8")
    print(f"wrote {SETTINGS} and the tree in {ARCHITECTURE}")
    return 0


def settings() -> str:
    """The page of all settings."""
    parts = ["# Settings", INTRODUCTION]
    for name, section in {"env": EnvConfig, "policy": PolicyConfig, "ppo": PPOConfig, "self_play": SelfPlayConfig,
                          "run": RunConfig}.items():
        rows = ["| setting | default | must be | meaning |", "| --- | --- | --- | --- |"]
        default, texts = section(), docstrings(section)
        for one in fields(section):
            cells = (f"`{one.name}`", f"`{shown(getattr(default, one.name))}`", requirement(one), texts[one.name])
            rows.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
        parts += [f"## [{name}] {section.__doc__.splitlines()[0]}", "\n".join(rows)]
    return "\n\n".join(parts) + "\n"


def shown(value) -> str:
    """A default as it is written on the command line."""
    if value is None or value == {}:
        return "none"
    return str(value).lower() if isinstance(value, bool) else str(value)


def with_tree(page: str) -> str:
    """The page of the architecture with today's tree between its two marks."""
    before, _, rest = page.partition(BEGIN)
    return before + BEGIN + "\n```\n" + "\n".join(tree()) + "\n```\n\n" + END + rest.partition(END)[2]


def tree() -> list[str]:
    """A line for each source file, folder by folder."""
    lines = []
    for top in TREES:
        for folder in sorted({file.parent for file in sources(top)}):
            depth = len(folder.relative_to(ROOT).parts) - 1
            indent = "    " * depth
            lines.append(clipped(f"{indent}{folder.name}/".ljust(34) + summary(folder / "__init__.py")))
            lines += [clipped(f"{indent}    {file.name}".ljust(34) + summary(file)) for file in sources(top)
                      if file.parent == folder and file.name != "__init__.py"]
    return lines


def sources(top: str) -> list[Path]:
    return sorted(file for file in (ROOT / top).rglob("*") if file.suffix in SOURCES and "__pycache__" not in file.parts)


def summary(file: Path) -> str:
    """The first sentence of a file's docstring, or of the comment that a C file begins with."""
    text = file.read_text(encoding="utf-8") if file.exists() else ""
    found = re.match(r'\s*(?:r?"""|/\*)(.*?)(?:"""|\*/)', text, re.DOTALL)
    paragraph = re.sub(r"\s*\n\s*\*?\s*", " ", re.split(r"\n\s*\*?\s*\n", found[1].strip())[0]) if found else ""
    return re.split(r"(?<=[a-z0-9)`\"'])\. ", paragraph + " ")[0].strip().rstrip(".:")


def clipped(line: str) -> str:
    """A line that fits the page."""
    line = line.rstrip()
    return line if len(line) <= WIDTH else line[: WIDTH - 3].rsplit(" ", 1)[0].rstrip(",;:") + " ..."


if __name__ == "__main__":
    sys.exit(main())
