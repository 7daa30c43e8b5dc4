"""The site of `make docs`: it is complete, asks no other host for anything, and is not built if a link or a name is wrong."""

import re
import shutil
import sys

import pytest
from setup_support import ROOT, TOOLS, run

import bridge
import envs_c
from trainer import config, kernels

pytestmark = pytest.mark.slow
LOADED = re.compile(r'<(?:script|img|iframe|source|video)\b[^>]*\bsrc="([^"]+)"|<link\b[^>]*\bhref="([^"]+)"'
                    r'|url\(["\']?([^"\')]+)')


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder of a complete site."""
    folder = tmp_path_factory.mktemp("build") / "site"
    result = run(sys.executable, TOOLS / "build_site.py", folder)
    assert result.returncode == 0, result.stderr
    return folder


def test_files_that_are_no_site_are_not_removed(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    result = run(sys.executable, TOOLS / "build_site.py", tmp_path)
    assert result.returncode and f"must be new or empty, or hold an earlier build of the site, not {tmp_path}" in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_every_game_has_a_page_with_its_film(site):
    for name in envs_c.built_in():
        page = (site / "docs" / "games" / f"{name}.html").read_text(encoding="utf-8")
        assert f"_images/{name}.gif" in page and (site / "_images" / f"{name}.gif").is_file()


@pytest.mark.parametrize("package", [envs_c, bridge, config, kernels], ids=lambda package: package.__name__)
def test_every_public_name_is_documented(site, package):
    page = (site / "docs" / "api" / f"{package.__name__.partition('.')[0]}.html").read_text(encoding="utf-8")
    documented = {name.rpartition(".")[2] for name in re.findall(r'id="([\w.]+)"', page)}
    assert {name for name in package.__all__ if name != "__version__"} <= documented


def test_the_first_page_leads_to_every_page_of_docs(site):
    index = (site / "docs" / "index.html").read_text(encoding="utf-8")
    assert 'url=docs/index.html' in (site / "index.html").read_text(encoding="utf-8")
    pages = {str(file.relative_to(ROOT / "docs").with_suffix(".html")) for file in (ROOT / "docs").rglob("*.md")}
    assert {page for page in pages - {"index.html"} if f'href="{page}"' not in index} == set()


def test_no_page_asks_another_host_for_anything(site):
    files = [file for kind in ("html", "css") for file in site.rglob(f"*.{kind}")]
    loaded = {(file.name, target) for file in files for found in LOADED.findall(file.read_text(encoding="utf-8"))
              for target in found if target}
    assert {name for name, _ in loaded} >= {"breakout.html", "furo.css"}
    assert [(name, target) for name, target in loaded if re.match(r"\w+:(?!image/)|//", target)] == []


def test_no_path_of_this_machine_stands_in_the_site(site):
    assert [file.name for file in site.rglob("*.html") if str(ROOT) in file.read_text(encoding="utf-8")] == []


@pytest.mark.parametrize(("text", "reason"), [
    ("[a page](no.md)", "no.md"),
    ("[a heading](faq.md#no)", "no"),
    ("```{eval-rst}\n.. autofunction:: envs_c.no\n```", "envs_c"),
    ("```{eval-rst}\n:py:func:`envs_c.no`\n```", "envs_c.no"),
], ids=["page", "heading", "documented name", "mentioned name"])
def test_a_wrong_link_or_name_is_an_error(text, reason, tmp_path):
    (tmp_path / "docs").mkdir()
    shutil.copy(ROOT / "docs" / "faq.md", tmp_path / "docs")
    (tmp_path / "docs" / "index.md").write_text(f"# Title\n\n[FAQ](faq.md)\n\n{text}\n", encoding="utf-8")
    result = run(sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-c", str(ROOT / "docs"), str(tmp_path),
                 str(tmp_path / "site"))
    assert result.returncode == 1
    assert any("WARNING" in line and reason in line for line in result.stderr.splitlines()), result.stderr
