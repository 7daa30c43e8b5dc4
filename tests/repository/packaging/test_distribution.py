"""The distribution: its metadata, its page on an index, the source archive, CITATION.cff and the templates for issues."""

import re
import sys
import sysconfig
import tarfile
import tomllib
import zipfile

import pytest
import trove_classifiers
from readme_renderer import markdown
from setup_support import ROOT, TOOLS, load, run

import envs_c

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
URL = PROJECT["urls"]["Repository"]
CLASSIFIERS = PROJECT["classifiers"]
README = (ROOT / "README.md").read_text(encoding="utf-8")
TEMPLATES = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
HOSTS = re.compile(r"https://(?:www\.)?github\.com/[\w.-]+/[\w-]+")
tracked = pytest.mark.skipif(not (ROOT / ".git").exists(), reason="needs the Git repository")


@pytest.fixture(scope="module")
def package_page():
    return load(TOOLS / "package_page.py")


# Metadata.


def test_the_classifiers_name_every_python_that_is_tested():
    listed = re.findall(r"Programming Language :: Python :: (3\.\d+)", "\n".join(CLASSIFIERS))
    assert listed == ["3.11", "3.12", "3.13", "3.14"] and PROJECT["requires-python"] == f">={listed[0]}"


@pytest.mark.parametrize(("classifier", "true"), [
    ("Typing :: Typed", all((ROOT / package / "py.typed").is_file() for package in
                            ("insertcoin", "envs_c", "bridge", "trainer"))),
    ("Programming Language :: Cython", any(ROOT.glob("envs_c/*.pyx"))),
])
def test_a_classifier_is_listed_if_it_is_true(classifier, true):
    assert (classifier in CLASSIFIERS) == true


def test_the_classifiers_exist():
    assert set(CLASSIFIERS) <= trove_classifiers.classifiers


def test_no_classifier_is_listed_twice_and_they_are_sorted():
    assert sorted(set(CLASSIFIERS)) == CLASSIFIERS


def test_the_project_has_the_links_that_an_index_shows():
    assert {"Homepage", "Repository", "Documentation", "Issues", "Changelog"} == set(PROJECT["urls"])
    assert all(url.startswith("https://") for url in PROJECT["urls"].values())


def test_the_repository_has_one_address():
    files = [ROOT / "CITATION.cff", *ROOT.glob("*.md"), *ROOT.glob(".github/**/*.yml"), *(ROOT / "docs").rglob("*.md"),
             ROOT / "docs" / "conf.py"]
    named = {file.name: match for file in files if file.exists() for match in HOSTS.findall(file.read_text(encoding="utf-8"))
             if match.endswith("/insertcoin")}
    assert named["CITATION.cff"] == URL and set(named.values()) == {URL}


# The page on an index.


@pytest.mark.parametrize(("before", "after"), [
    ("[the FAQ](docs/faq.md)", "[the FAQ](U/blob/HEAD/docs/faq.md)"),
    ("![a film](docs/a.gif)", "![a film](U/raw/HEAD/docs/a.gif)"),
    ('<img src="docs/a.gif"><a href="docs/a.md">', '<img src="U/raw/HEAD/docs/a.gif"><a href="U/blob/HEAD/docs/a.md">'),
    ("[a](https://example.org) [b](#games) <a href=\"http://c\">", "[a](https://example.org) [b](#games) <a href=\"http://c\">"),
    ("`print(x[0](1))`", "`print(x[0](1))`"),
])
def test_relative_links_become_links_to_the_repository(package_page, before, after):
    assert package_page.page(before, "U") == after


def test_every_link_on_the_page_is_absolute_and_its_file_exists(package_page):
    page = package_page.page(README, URL)
    links = re.findall(r"\]\(([^)\s]+)\)|(?:src|href)=\"([^\"]+)\"", page)
    targets = [one or other for one, other in links]
    assert len(targets) > 40
    for target in targets:
        assert target.startswith(("https://", "#")), target
        if target.startswith(URL):
            kind, path = target.removeprefix(f"{URL}/").split("/HEAD/")
            assert (ROOT / path).is_file(), path
            assert kind == ("raw" if path.endswith((".gif", ".png", ".svg")) else "blob"), target


def test_the_page_is_rendered_by_the_index(package_page):
    html = markdown.render(package_page.page(README, URL))
    for link in (f'src="{URL}/raw/HEAD/docs/gallery/go.gif"', f'href="{URL}/blob/HEAD/docs/faq.md"'):
        assert link in html


# CITATION.cff.


def test_the_citation_has_the_fields_of_its_schema_and_the_version():
    yaml = pytest.importorskip("yaml")
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert {"cff-version", "message", "title", "authors"} <= set(citation)  # the required ones
    assert citation["cff-version"] == "1.2.0" and citation["type"] == "software"
    assert all(set(author) <= {"name", "given-names", "family-names", "orcid"} and author for author in citation["authors"])
    assert (citation["version"], citation["license"], citation["repository-code"]) == (envs_c.__version__, "MIT", URL)
    assert [author["name"] for author in citation["authors"]] == [author["name"] for author in PROJECT["authors"]]


def test_cffconvert_accepts_the_citation():
    cffconvert = pytest.importorskip("cffconvert")
    cffconvert.Citation((ROOT / "CITATION.cff").read_text(encoding="utf-8")).validate()


# Templates for issues.


@pytest.mark.parametrize("file", [file for file in TEMPLATES if file.name != "config.yml"], ids=lambda file: file.stem)
def test_a_template_is_a_form_that_the_site_accepts(file):
    form = pytest.importorskip("yaml").safe_load(file.read_text(encoding="utf-8"))
    assert {"name", "description", "body"} <= set(form) <= {"name", "description", "title", "labels", "assignees", "body"}
    fields = [element for element in form["body"] if element["type"] != "markdown"]
    assert fields and {element["type"] for element in fields} <= {"textarea", "input", "dropdown", "checkboxes"}
    assert len({element["id"] for element in fields}) == len(fields)
    for element in fields:
        assert set(element) <= {"type", "id", "attributes", "validations"} and element["attributes"]["label"]
        assert element["type"] != "dropdown" or all(isinstance(option, str) for option in element["attributes"]["options"])


def test_there_are_templates_for_bugs_questions_and_games():
    assert [file.stem for file in TEMPLATES] == ["bug", "config", "new_game", "question"]


# The source archive.


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    """The source archive of the tracked files, as they are in the work tree: (its path, the names of the tracked files)."""
    names = [name for name in run("git", "ls-files").stdout.splitlines() if (ROOT / name).is_file()]
    tree = tmp_path_factory.mktemp("archive")
    for name in names:
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_bytes((ROOT / name).read_bytes())
    made = run(sys.executable, "-c", "from setuptools.build_meta import build_sdist; print(build_sdist('dist'))", cwd=tree)
    assert made.returncode == 0, made.stderr
    return tree / "dist" / made.stdout.split()[-1], names


@tracked
def test_the_source_archive_holds_every_tracked_file_and_no_other(archive):
    path, names = archive
    with tarfile.open(path) as tar:
        held = {name.partition("/")[2] for name in tar.getnames() if not tar.getmember(name).isdir()}
    written = {name for name in held if name in ("PKG-INFO", "setup.cfg") or ".egg-info/" in name}
    assert held - written == set(names)


@tracked
def test_the_metadata_of_the_archive_are_complete(archive):
    with tarfile.open(archive[0]) as tar:
        (member,) = [member for member in tar.getmembers() if re.fullmatch(r"[^/]+/PKG-INFO", member.name)]
        facts = tar.extractfile(member).read().decode()
    for line in ("Name: insertcoin", f"Version: {envs_c.__version__}", "Requires-Python: >=3.11",
                 "License-Expression: MIT", "License-File: LICENSE", "License-File: NOTICE",
                 "Description-Content-Type: text/markdown", f"Project-URL: Repository, {URL}",
                 f"]({URL}/blob/HEAD/docs/faq.md)"):
        assert line in facts
    assert facts.count("Classifier: ") == len(CLASSIFIERS)


@tracked
@pytest.mark.slow
def test_the_wheel_and_the_tests_build_from_the_source_archive(archive, tmp_path):
    """In an empty folder and a new environment; packages that are needed come from this environment, not from an index."""
    with tarfile.open(archive[0]) as tar:
        tar.extractall(tmp_path, filter="data")
    (tree,) = tmp_path.iterdir()
    assert run(sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv").returncode == 0
    python = tmp_path / "venv" / "bin" / "python"
    (packages,) = (tmp_path / "venv").glob("lib/python*/site-packages")
    (packages / "these.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")  # it runs no .pth files there
    offline = ("--no-build-isolation", "--no-deps", "--no-index", "--disable-pip-version-check")

    built = run(python, "-m", "pip", "wheel", *offline, "-w", tmp_path / "wheels", ".", cwd=tree, DEBUG="1")
    assert built.returncode == 0, built.stdout + built.stderr
    (wheel,) = (tmp_path / "wheels").iterdir()
    names = zipfile.ZipFile(wheel).namelist()
    for source in [*tree.glob("envs_c/**/*.pyx"), *tree.glob("trainer/**/*.pyx")]:
        module = source.relative_to(tree).with_suffix("").as_posix()
        assert any(name.startswith(f"{module}.") and name.endswith(".so") for name in names), module
    assert not [name for name in names if name.startswith(("tests/", "tools/", "benchmarks/", "docs/", "examples/"))]

    done = run(python, "-m", "pip", "install", *offline, "-e", ".", cwd=tree, DEBUG="1")
    assert done.returncode == 0, done.stdout + done.stderr
    collected = run(python, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", cwd=tree)
    assert collected.returncode == 0, collected.stdout[-3000:]
    some = ("tests/envs_c/states/test_determinism.py", "tests/envs_c/games/test_cartpole.py",
            "tests/repository/packaging/test_package.py")
    tests = run(python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *some, cwd=tree)
    assert tests.returncode == 0, tests.stdout[-3000:]
    where = run(python, "-c", "import envs_c; print(envs_c.__file__)", cwd=tmp_path).stdout
    assert where.startswith(str(tree))
