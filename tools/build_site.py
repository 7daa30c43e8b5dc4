"""Builds the site from docs/ and the docstrings into build/site: `make docs`, or `python tools/build_site.py FOLDER`.

FOLDER must be new or empty, or hold an earlier build, which is removed first.

Any warning is an error, also a name or a link inside the site that leads nowhere. Links to other hosts are not followed; they
are listed in build/external_links.txt. Nothing of an earlier build is read, so that a warning cannot be missed.
"""

import argparse
import re
import shutil
import sys
import tempfile
from pathlib import Path

from sphinx.cmd.build import build_main

ROOT = Path(__file__).resolve().parent.parent
SITE = ROOT / "build" / "site"
MARK = ".buildinfo"  # a file that Sphinx writes into each build
EXTERNAL = re.compile(r'href="(https?://[^"]+)"')


def main(folder: Path = SITE) -> int:
    """Build the site into `folder`, without what an earlier build left there. Returns 0, or 1 after warnings."""
    ours = folder == SITE or (folder / MARK).is_file()
    if folder.is_file() or (folder.is_dir() and any(folder.iterdir()) and not ours):
        sys.exit(f"FOLDER must be new or empty, or hold an earlier build of the site, not {folder}: its files would be removed")
    shutil.rmtree(folder, ignore_errors=True)
    with tempfile.TemporaryDirectory() as trees:
        arguments = ["-q", "-W", "--keep-going", "-c", str(ROOT / "docs"), "-d", trees, str(ROOT), str(folder)]
        if build_main(arguments):
            return 1
    pages = sorted(folder.rglob("*.html"))
    external = sorted({link for page in pages for link in EXTERNAL.findall(page.read_text(encoding="utf-8"))})
    listed = folder.parent / "external_links.txt"
    listed.write_text("".join(f"{link}\n" for link in external), encoding="utf-8")
    print(f"{len(pages)} pages in {folder}; {len(external)} links to other hosts in {listed}")
    return 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, default=SITE, metavar="FOLDER", help="instead of build/site")
    sys.exit(main(parser.parse_args().folder))
