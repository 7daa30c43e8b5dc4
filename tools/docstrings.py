"""Our docstrings as reStructuredText, for the API reference of docs/conf.py.

A docstring is prose with Markdown's backticks, "name: text" lines for arguments, and indented examples and tables:

    name: text           becomes :param name: text
    `code`               becomes ``code``
    an indented block    becomes literal text, unless it is a doctest
"""

import re
import textwrap

ARGUMENT = re.compile(r"((?:\*{0,2}[a-z_]\w*(?:, )?)+): (\S.*)")
ITEM = re.compile(r"- |\d+\. ")


def process(app, what: str, name: str, item, options, lines: list[str]):
    """The handler of Sphinx's event autodoc-process-docstring: it replaces the lines in place.

    A package's table of its files is left out: docs/architecture.md has it.
    """
    lines[:] = restructured(lines, tables=what != "module")


def restructured(lines: list[str], tables: bool = True) -> list[str]:
    """The lines of a docstring as lines of reStructuredText; without indented blocks, but doctests, if not `tables`."""
    out = []
    for block in re.split(r"\n[ \t]*\n", "\n".join(lines).strip("\n")):
        if block.startswith("    ") and not tables and ">>>" not in block:
            continue
        out += [*(literal(block) if block.startswith("    ") else prose(block.split("\n"))), ""]
    return out


def literal(block: str) -> list[str]:
    """An indented block: an example of Python, a command, a table in columns."""
    text = textwrap.dedent(block)
    language = "pycon" if text.startswith(">>>") else "none"
    return [f".. code-block:: {language}", "", *textwrap.indent(text, "    ").split("\n")]


def prose(block: list[str]) -> list[str]:
    """A block of paragraphs, lists and arguments."""
    out, kind = [], ""
    for line in block:
        argument = ARGUMENT.fullmatch(line)
        if line.startswith(" "):
            new, line = kind, "    " + inline(line.strip()) if kind == "argument" else inline(line)
        elif argument and (kind in ("", "argument") or block[block.index(line) - 1].endswith(":")):
            names = argument[1].replace(", ", ",").replace("*", r"\*")
            new, line = "argument", f":param {names}: {inline(argument[2])}"
        elif ITEM.match(line):
            new, line = "item", inline(line)
        else:
            new, line = "prose", inline(line)
        if kind and new != kind:
            out.append("")
        out.append(line)
        kind = new
    return out


def inline(text: str) -> str:
    """Code between single backticks as literals; characters that reStructuredText would read as markup are escaped."""
    parts = re.split(r"`([^`]+)`", text)
    parts[::2] = [re.sub(r"([*|\\]|_\b)", r"\\\1", part) for part in parts[::2]]
    parts[1::2] = [f"``{part}``" for part in parts[1::2]]
    return "".join(parts)
