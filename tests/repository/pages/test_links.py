"""Every relative link and anchor of the pages leads somewhere. Links to other hosts are listed by `make docs`, not followed."""

import re

import pytest
from setup_support import ROOT

PLACES = ("*.md", "docs/**/*.md", "benchmarks/results/*.md", "examples/**/*.md")
MARKDOWN = sorted(str(file.relative_to(ROOT)) for place in PLACES for file in ROOT.glob(place))
LINK = re.compile(r'\]\(([^)\s]+)\)|(?:src|href)="([^"]+)"')
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def links(text: str) -> list[str]:
    """The relative targets of a page's links, sorted."""
    found = {link or source for link, source in LINK.findall(FENCE.sub("", text))}
    return sorted(target for target in found if not re.match(r"[\w+.-]+:", target))


def anchors(text: str) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them: the second of two equal ones gets -1."""
    slugs = []
    for heading in re.findall(r"^#{1,6} +(.+?)[ #]*$", FENCE.sub("", text), re.MULTILINE):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        slugs.append(re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-"))
    return {f"{slug}-{earlier}" if (earlier := slugs[:i].count(slug)) else slug for i, slug in enumerate(slugs)}


def broken(page, text: str) -> list[str]:
    """The links of a page that lead nowhere."""
    wrong = []
    for link in links(text):
        path, _, anchor = link.partition("#")
        target = page if not path else page.parent / path
        if not target.exists() or (anchor and (target.suffix != ".md" or anchor not in anchors(target.read_text("utf-8")))):
            wrong.append(link)
    return wrong


@pytest.mark.parametrize("name", MARKDOWN)
def test_every_relative_link_and_anchor_of_a_page_resolves(name):
    page = ROOT / name
    assert broken(page, page.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(("link", "leads_nowhere"), [
    ("docs/faq.md", False), ("docs/no.md", True), ("docs/trainer.md#runs-from-others", False), ("docs/trainer.md#no", True),
    ("docs/faq.md#illegal-instruction", False), ("#two-commands", False), ("#three-commands", True), ("docs/games", False),
    ("https://example.org/no", False),
])
def test_a_link_that_leads_nowhere_is_found(link, leads_nowhere):
    text = f"[text]({link})"
    assert broken(ROOT / "README.md", text) == ([link] if leads_nowhere else [])


def test_headings_of_the_same_name_have_numbered_anchors():
    assert anchors("# A `b`: c\n## Same\n```\n# no\n```\n## Same\n") == {"a-b-c", "same", "same-1"}
