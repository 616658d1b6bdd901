"""Forecasts from pilot runs."""

import numpy as np
import pytest
from tests.experiment.studies import small_study, with_trouble

from verulam.base import DataError
from verulam.experiment import forecast, make_plan
from verulam.experiment._run import forecast as module


def test_times_are_counted_for_every_run(monkeypatch):
    plan = make_plan(small_study())
    costs = {}

    def pretended(plan, run):
        outcome = type("Outcome", (), {})()
        outcome.status, outcome.peak_memory = "done", 5.0 + run.contestant
        outcome.fit_seconds, outcome.predict_seconds = 1.0 + run.contestant, 0.5
        costs[run.contestant] = 1.5 + run.contestant
        return outcome

    monkeypatch.setattr(module, "execute", pretended)
    told = forecast(plan)
    assert (told.runs, told.pilots) == (10, 2)
    assert told.seconds == pytest.approx(5 * 1.5 + 5 * 2.5)
    assert told.memory == 6.0
    one = forecast(plan, pilots=1)
    assert one.pilots == 1
    assert one.seconds in (pytest.approx(10 * 1.5), pytest.approx(10 * 2.5))


@pytest.mark.parametrize("unknown", [0, 1])
def test_a_memory_that_cannot_be_told_does_not_hide_the_others(monkeypatch, unknown):
    def pretended(plan, run):
        outcome = type(
            "Outcome", (), {"status": "done", "fit_seconds": 1.0, "predict_seconds": 1.0}
        )
        outcome.peak_memory = np.nan if run.contestant == unknown else 7.0
        return outcome

    monkeypatch.setattr(module, "execute", pretended)
    assert forecast(make_plan(small_study())).memory == 7.0


def test_real_runs():
    told = forecast(make_plan(small_study()))
    assert 0 < told.seconds < 60
    assert told.failures == ()


def test_failures_are_told():
    told = forecast(make_plan(with_trouble("raise")))
    assert told.failures == ("trouble: RuntimeError: out of luck",)
    assert np.isfinite(told.seconds)


def test_number_of_pilots():
    with pytest.raises(DataError, match="pilots: 0"):
        forecast(make_plan(small_study()), pilots=0)


def test_what_the_budget_pays_for():
    assert forecast(make_plan(small_study())).affordable == 10
    assert forecast(make_plan(small_study(budget={"runs": 5}))).affordable == 4
    assert forecast(make_plan(small_study(budget={"seconds": 1e-9}))).affordable == 0
