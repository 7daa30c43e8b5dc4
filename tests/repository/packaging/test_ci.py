"""The checks of a submission, .ci/run: with a stand-in for make, what ends it."""

import shutil

import pytest
from setup_support import ROOT, run

PAGES = ("docs/settings.md", "docs/architecture.md", "docs/games/README.md", "docs/games/pong.md")
# In place of make: notes its words. With CHANGED it writes a page as `make docs` would.
MAKE = """#!/bin/sh
echo "$*" >>"$LOG"
case " $* " in *" docs "*) [ -z "$CHANGED" ] || echo more >>"$CHANGED";; esac
"""


@pytest.fixture
def ci(tmp_path):
    """A function that runs a copy of .ci/run beside copies of the pages; CHANGED: the page that `make docs` changes."""
    for name in (".ci/run", *PAGES):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "bin").mkdir()
    for name, text in (("make", MAKE), ("apt-get", "#!/bin/sh\nexit 1\n")):
        (tmp_path / "bin" / name).write_text(text)
        (tmp_path / "bin" / name).chmod(0o755)

    def start(changed: str):
        done = run(tmp_path / ".ci" / "run", cwd=tmp_path, PATH=f"{tmp_path / 'bin'}:/usr/bin:/bin", LOG=tmp_path / "log",
                   CHANGED=changed)
        return done, (tmp_path / "log").read_text().splitlines()
    return start


def test_all_stages_run(ci):
    done, stages = ci("")
    assert done.returncode == 0 and done.stdout.splitlines()[-1].startswith("== all: ")
    assert [line.split()[1] for line in stages] == ["cuda", "--jobs=2", "test", "fuzz", "test", "learn"]


@pytest.mark.parametrize("page", PAGES)
def test_a_page_that_make_docs_changes_ends_it_before_the_tests_compare_the_new_page(ci, page):
    done, stages = ci(page)
    assert done.returncode == 1 and "make docs changed pages: commit what it writes" in done.stderr
    assert [line.split()[1] for line in stages] == ["cuda", "--jobs=2"]
