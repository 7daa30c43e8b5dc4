"""Modules do not import each other in a circle, neither compiled ones nor compiled and Python ones together.

import-linter checks Python's imports, but does not read .pyx and .pxd files.
"""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
STATEMENT = re.compile(r"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+c?import[ \t]+(\([^)]*\)|.*)|c?import[ \t]+(.*))$", re.MULTILINE)
STRING = re.compile(r'""".*?"""', re.DOTALL)


def imports(text: str) -> set[tuple[str, str]]:
    """(module, name) for each import or cimport of a source, also in functions; name "" for `import`."""
    found = set()
    for module, names, modules in STATEMENT.findall(STRING.sub("", text)):
        listed = [part.split(" as ")[0].strip(" ()\n") for part in re.sub("#.*", "", names or modules).split(",")]
        found |= {(module, name) for name in listed} if module else {(name, "") for name in listed}
    return found


def graph(root: Path, package: str, suffixes: tuple[str, ...]) -> dict[str, set[str]]:
    """module -> the modules of the package among its imports. A .pyx and its .pxd are one module."""
    sources = {}
    for path in sorted((root / package).rglob("*")):
        if path.suffix in suffixes:
            name = ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
            sources.setdefault(name, []).append(path.read_text(encoding="utf-8"))
    edges = {}
    for module, texts in sources.items():
        pairs = {pair for text in texts for pair in imports(text)}
        found = {f"{other}.{name}" if f"{other}.{name}" in sources else other for other, name in pairs}
        edges[module] = found & sources.keys() - {module}
    return edges


def cycle(edges: dict[str, set[str]]) -> list[str] | None:
    """The modules of one circle, in the order of their imports, with the first one again at the end; None if there is none."""
    done, path = set(), []

    def visit(module: str) -> list[str] | None:
        if module in path:
            return [*path[path.index(module):], module]
        if module in done:
            return None
        path.append(module)
        found = next(filter(None, map(visit, sorted(edges[module]))), None)
        path.pop()
        done.add(module)
        return found

    return next(filter(None, map(visit, sorted(edges))), None)


@pytest.mark.parametrize(("package", "suffixes"), [
    ("envs_c", (".py", ".pyx", ".pxd")), ("trainer", (".pyx", ".pxd")),
])
def test_modules_form_no_circle(package, suffixes):
    edges = graph(ROOT, package, suffixes)
    assert edges
    assert (found := cycle(edges)) is None, "these modules import each other in a circle: " + " -> ".join(found)


def test_imports_of_every_form_are_read():
    text = ('"""from envs_c.a import not_this"""\nfrom envs_c.b cimport C, d as e  # comment\nimport envs_c.f as g, numpy\n'
            "cimport envs_c.h\ndef late():\n    from envs_c import (\n        i,\n        j)\n")
    assert imports(text) == {("envs_c.b", "C"), ("envs_c.b", "d"), ("envs_c.f", ""), ("numpy", ""), ("envs_c.h", ""),
                             ("envs_c", "i"), ("envs_c", "j")}


def test_a_circle_is_found_and_its_path_named(tmp_path):
    files = {"one.pyx": "from pack.two cimport Two\n", "two.pxd": "", "two.pyx": "def late():\n    from pack import three\n",
             "three.py": "import pack.one\n", "four.pyx": "from pack.one import One\n"}
    (tmp_path / "pack").mkdir()
    for name, text in files.items():
        (tmp_path / "pack" / name).write_text(text)
    edges = graph(tmp_path, "pack", (".py", ".pyx", ".pxd"))
    assert cycle(edges) == ["pack.one", "pack.two", "pack.three", "pack.one"]
    edges["pack.three"].clear()
    assert cycle(edges) is None
