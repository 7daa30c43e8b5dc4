"""A journal or a database of a stranger, or a damaged one, is an error of one line that names it."""

import sqlite3
from pathlib import Path

import optuna
import pytest

from trainer.errors import FileError, SweepError
from trainer.sweep.storage import default_storage, open_storage, storage_errors
from trainer.sweep.study import open_study
from trainer.sweep.tasks import Task, Tasks, open_bench

FACTS = {"settings": {"game": "cartpole"}, "ranges": {}}


def sweep(storage):
    study, _ = open_study(storage, "s", FACTS, None)
    return study.get_trials()


def bench(storage):
    return Tasks(open_bench(storage, "s", {"cartpole": {}}), [Task("t1", "cartpole", None, 1)]).results()


@pytest.fixture(params=[sweep, bench])
def begin(request):
    """Begins or joins a sweep or a bench in the storage at a URL, and reads its trials."""
    def begin(url):
        with storage_errors(url):
            return request.param(open_storage(url))
    return begin


@pytest.mark.parametrize("content", [b"\xff\x00\x01", b"x" * 100_000, b"\0"])
def test_a_journal_whose_last_line_is_cut_off(begin, tmp_path, content):
    (tmp_path / "journal").write_bytes(content)
    with pytest.raises(SweepError, match=r"the storage journal:.* does not work: its last line is damaged; repair it"):
        begin(f"journal:{tmp_path / 'journal'}")


@pytest.mark.parametrize(("statement", "reason"), [
    ("DROP TABLE studies", "its table of studies has no 's', but another has"),
    ("UPDATE study_user_attributes SET value_json = '{\"a\":'", "it holds a damaged row"),
    ("UPDATE trial_system_attributes SET value_json = 'no JSON'", "it holds a damaged row"),
    ("UPDATE trials SET state = 'nope'", "it holds a damaged row"),
])
def test_a_database_with_damaged_rows(begin, tmp_path, statement, reason):
    url = f"sqlite:///{tmp_path / 'sweep.db'}"
    begin(url)
    optuna.load_study(storage=open_storage(url), study_name="s").enqueue_trial({})
    with sqlite3.connect(tmp_path / "sweep.db") as database:
        database.execute(statement)
    with pytest.raises(SweepError, match=f"the storage .*sweep.db does not work: {reason}") as error:
        begin(url)
    assert "\n" not in str(error.value)


def test_a_task_that_is_no_text_belongs_to_nobody(tmp_path):
    storage = open_storage(f"journal:{tmp_path / 'journal'}")
    study = open_bench(storage, "s", {"cartpole": {}})
    for task in ([], {}, None, 1):
        study.enqueue_trial({}, user_attrs={"task": task})
    assert bench(storage) == {}


def test_a_folder_that_no_url_can_name_is_one_line():
    """The working folder may have a name that is not in UTF-8."""
    with pytest.raises(FileError, match=r"must be in UTF-8$"):
        default_storage(Path("caf\udce9"))
