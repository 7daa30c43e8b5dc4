"""The workflows for GitHub: they cannot run here, so their files are checked. What they name exists, versions are pinned."""

import re
import shutil
import subprocess
import sys
import tomllib

import pytest
from setup_support import ROOT

yaml = pytest.importorskip("yaml")
FILES = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
FLOWS = {file.stem: yaml.safe_load(file.read_text(encoding="utf-8")) for file in FILES}
JOBS = {f"{flow}/{name}": job for flow, content in FLOWS.items() for name, job in content["jobs"].items()}
STEPS = [pytest.param(step, id=f"{name}-{k}") for name, job in JOBS.items() for k, step in enumerate(job["steps"])]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
SYSTEMS = ["ubuntu-24.04", "ubuntu-24.04-arm", "macos-15"]
PYTHONS = re.findall(r"Programming Language :: Python :: (3\.\d+)", "\n".join(PROJECT["project"]["classifiers"]))
PUBLISHES = {"docs/deploy": {"pages": "write", "id-token": "write"}}


def test_there_is_a_flow_for_tests_wheels_and_pages():
    assert set(FLOWS) == {"tests", "wheels", "docs"}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_action_is_pinned_to_a_commit_and_its_version_is_named(file):
    uses = re.findall(r"uses: (.*)", file.read_text(encoding="utf-8"))
    assert uses
    for action in uses:
        assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", action), action


def test_an_action_has_the_same_version_everywhere():
    uses = {action for file in FILES for action in re.findall(r"uses: (.*)", file.read_text(encoding="utf-8"))}
    assert len({action.partition("@")[0] for action in uses}) == len(uses)


@pytest.mark.parametrize("name", JOBS)
def test_a_job_may_only_read_unless_it_publishes_and_it_ends(name):
    flow, job = FLOWS[name.partition("/")[0]], JOBS[name]
    assert flow["permissions"] == {"contents": "read"}
    assert job.get("permissions", {}) == PUBLISHES.get(name, {})
    assert 0 < job["timeout-minutes"] <= 90


def test_pages_are_deployed_from_main_only_and_a_running_deployment_is_not_cancelled():
    assert "github.ref == 'refs/heads/main'" in JOBS["docs/deploy"]["if"]
    assert FLOWS["docs"]["concurrency"]["cancel-in-progress"] == "${{ github.event_name == 'pull_request' }}"


@pytest.mark.parametrize("step", STEPS)
def test_everything_that_a_step_names_exists(step):
    if step.get("uses", "").startswith("actions/checkout@"):
        assert step["with"]["persist-credentials"] is False
    command = step.get("run", "")
    for target in " ".join(re.findall(r"\bmake ((?:[a-z]+\b ?)+)", command)).split():
        assert re.search(rf"^{target}:.*##", MAKEFILE, re.MULTILINE), target
    for path in re.findall(r"[\w./-]*\b(?:tests|tools|benchmarks|examples)/[\w./-]+|\b\w+\.py\b", command):
        assert (ROOT / path.removeprefix("source/")).exists(), path
    for extras in re.findall(r"-e '\.\[([\w,]+)\]'", command):
        assert set(extras.split(",")) <= set(PROJECT["project"]["optional-dependencies"])


@pytest.mark.parametrize("step", STEPS)
def test_no_step_writes_an_expression_into_a_shell(step):
    assert "${{" not in step.get("run", "")


def test_the_paths_that_start_a_flow_exist():
    filters = [event["paths"] for flow in FLOWS.values() for event in flow[True].values() if event and "paths" in event]
    assert len(filters) == 1  # "on" is true in YAML 1.1
    assert all((ROOT / path).exists() for path in filters[0])


def test_the_site_is_taken_from_the_folder_that_make_docs_names():
    (step,) = [step for step in JOBS["docs/build"]["steps"] if "pages-artifact" in step.get("uses", "")]
    assert f"{step['with']['path']}/index.html" in MAKEFILE


@pytest.mark.parametrize(("name", "pythons"), [
    ("tests/test", PYTHONS), ("tests/free-threaded", None), ("wheels/build", None), ("wheels/try", [*PYTHONS, "3.14t"]),
    ("wheels/try-windows", PYTHONS)])
def test_every_system_and_every_python_is_in_the_matrix(name, pythons):
    matrix = JOBS[name]["strategy"]["matrix"]
    systems = None if name == "wheels/try-windows" else [*SYSTEMS, "windows-2025"] if name == "wheels/build" else SYSTEMS
    assert matrix.get("system") == systems and matrix.get("python") == pythons
    assert JOBS[name]["strategy"]["fail-fast"] is False


def test_a_job_waits_only_for_jobs_of_its_flow():
    for name, job in JOBS.items():
        assert job.get("needs") is None or job["needs"] in FLOWS[name.partition("/")[0]]["jobs"]


def test_a_package_that_a_step_installs_has_the_version_of_our_own_pins():
    pins = re.findall(r"^([\w-]+==\S+)", (ROOT / "requirements-dev.txt").read_text(encoding="utf-8"), re.MULTILINE)
    named = [pin for file in FILES for pin in re.findall(r"pip install.* ([\w-]+==\S+)", file.read_text(encoding="utf-8"))]
    assert named and set(named) <= set(pins)


@pytest.mark.parametrize(("platform", "machine", "wheels"), [
    ("linux", "x86_64", ["cp311-manylinux_x86_64", "cp314t-manylinux_x86_64"]),
    ("linux", "aarch64", ["cp311-manylinux_aarch64", "cp314t-manylinux_aarch64"]),
    ("macos", "arm64", ["cp311-macosx_arm64", "cp314t-macosx_arm64"]),
    ("windows", "AMD64", ["cp311-win_amd64"]),
])
def test_cibuildwheel_builds_a_wheel_by_the_stable_abi_and_outside_windows_one_without_the_gil(platform, machine, wheels):
    listed = subprocess.run([sys.executable, "-m", "cibuildwheel", "--platform", platform, "--archs", machine,
                             "--print-build-identifiers", str(ROOT)], capture_output=True, text=True, check=True)
    assert listed.stdout.split() == wheels


def test_actionlint_finds_nothing():
    if not shutil.which("actionlint"):
        pytest.skip("needs actionlint")
    done = subprocess.run(["actionlint", *FILES], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
