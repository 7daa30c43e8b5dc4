"""The site of `make docs`: Sphinx with MyST and furo. tools/build_site.py builds it.

The source folder is the repository, so that links between docs/, CONTRIBUTING.md and benchmarks/results are the same on GitHub
and in the site. Pages are plain Markdown: the tree of pages is made from the links of the pages in `OUTLINES`.
"""

import os
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tools")]

import docstrings  # noqa: E402
from docutils.nodes import Text  # noqa: E402
from sphinx.addnodes import literal_strong  # noqa: E402

import envs_c  # noqa: E402

project = "insertcoin"
version = release = envs_c.__version__
copyright = "insertcoin contributors"
extensions = ["myst_parser", "sphinx.ext.autodoc"]
root_doc = "docs/index"
include_patterns = ["docs/**.md", "*.md", "benchmarks/results/*.md", "examples/**.md"]
FOLDERS = ("docs", "benchmarks", "examples")
exclude_patterns = ["README.md", *(path.name for path in ROOT.iterdir() if path.is_dir() and path.name not in FOLDERS)]
nitpicky = True
suppress_warnings = ["toc.not_included"]  # a test finds pages of docs/ that no list names; other pages may be found by links
nitpick_ignore_regex = [("py:(class|data|obj)", ".*")]  # a type in a signature needs no entry of its own
highlight_language = "none"
smartquotes_action = "D"  # dashes only: the quotes of values stay
myst_heading_anchors = 4

autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 96

html_theme = "furo"
html_title = f"insertcoin {release}"
html_copy_source = False
html_show_sphinx = False
templates_path = ["site"]
html_static_path = ["site/static"]
html_css_files = ["site.css"]
html_additional_pages = {"index": "redirect.html"}  # the first page is docs/index.html

OUTLINES = ("docs/index", "docs/games/README", "benchmarks/results/README")  # their links make the tree of pages
PAGE = re.compile(r"\]\(([^)#\s]+\.md)\)")
LINK = re.compile(r"\[([^\[\]]*)\]\(([^)#\s]+)\)")


def outline(text: str) -> str:
    """Hidden trees of the pages that a page links to: one for each section with links, else one for the introduction."""
    introduction, *sections = re.split(r"^## ", text, flags=re.MULTILINE)
    trees = [f":caption: {section.splitlines()[0]}\n\n{pages}" for section in sections if (pages := links(section))]
    return "".join(f"\n```{{toctree}}\n:hidden:\n{tree}\n```\n" for tree in trees or ["\n" + links(introduction)])


def links(text: str) -> str:
    """The pages that a text links to, one a line."""
    return "\n".join(PAGE.findall(text))


def inside(text: str, folder: Path) -> str:
    """The text without links that have no place in the site: README.md becomes the first page, others their names only."""
    def target(link: re.Match) -> str:
        path = folder / link[2]
        if path.is_file() and path.samefile(ROOT / "README.md"):
            return f"[{link[1]}]({os.path.relpath(ROOT / root_doc, folder)}.md)"
        return link[1] if path.is_dir() or beyond(path) else link[0]
    return LINK.sub(target, text)


def beyond(path: Path) -> bool:
    """Whether this is a page of the repository that the site does not have."""
    inner = Path(os.path.relpath(path, ROOT)).parts
    return path.suffix == ".md" and len(inner) > 1 and inner[0] not in (*FOLDERS, "..")


def read(app, name: str, source: list[str]):
    """The handler of Sphinx's event source-read."""
    source[0] = inside(source[0], (ROOT / name).parent)
    if name in OUTLINES:
        source[0] += outline(source[0])


def spaced(app, tree):
    """The handler of Sphinx's event doctree-read: names of arguments with one text have spaces after the commas."""
    for node in tree.findall(literal_strong):
        node.children = [Text(node.astext().replace(",", ", "))]


def setup(app):
    app.connect("doctree-read", spaced)
    app.connect("source-read", read)
    app.connect("autodoc-process-docstring", docstrings.process)
