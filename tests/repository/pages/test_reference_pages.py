"""docs/settings.md and the tree of docs/architecture.md match the sources."""

from setup_support import ROOT, TOOLS, load

reference_pages = load(TOOLS / "reference_pages.py")


def test_the_settings_page_is_the_one_that_make_docs_writes():
    written = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    assert written == reference_pages.settings(), "run `make docs`"


def test_the_tree_is_the_one_that_make_docs_writes():
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    assert page == reference_pages.with_tree(page), "run `make docs`"


def test_every_source_file_begins_with_a_description():
    missing = [str(file.relative_to(ROOT)) for top in reference_pages.TREES for file in reference_pages.sources(top)
               if not reference_pages.summary(file)]
    assert missing == []
