"""A fixture for sweeps of stand-ins."""

import pytest
from sweep_support import BASE, SPACE, stand_in

from trainer.sweep import report as sweep_report
from trainer.sweep import sweep as sweep_module
from trainer.sweep.plan import Plan
from trainer.sweep.space import parse_space
from trainer.sweep.storage import default_storage, open_storage
from trainer.sweep.study import load_study
from trainer.sweep.sweep import run_sweep


@pytest.fixture
def sweep(tmp_path, monkeypatch):
    """Runs a sweep of stand-ins in this process and returns its study."""
    def run(trials=6, *, trial=stand_in, name="test", url=None, base=BASE, space=SPACE, startup=3, prune=False, minutes=None,
            pictures=False, folder="sweep", seeds=1, cost_aware=False):
        monkeypatch.setattr(sweep_module, "run_trial", lambda config, folder, watch, *_: trial(config, folder, watch))
        if not pictures:
            monkeypatch.setattr(sweep_report, "_PICTURES", {})
        folder = tmp_path / folder
        url = url or default_storage(folder)
        plan = Plan(base, parse_space(space), folder, trials, startup, prune, minutes, seeds=seeds, cost_aware=cost_aware)
        run_sweep(plan, name, url)
        return study(url, name)

    def study(url=None, name="test"):
        return load_study(open_storage(url or default_storage(tmp_path / "sweep")), name)
    run.study, run.folder = study, tmp_path / "sweep"
    return run
