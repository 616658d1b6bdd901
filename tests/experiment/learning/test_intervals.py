"""Coverage, width and predictive densities as measures of a study."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import BayesianRidge, LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from verulam import compare
from verulam.base import DataError
from verulam.bayes import BayesianLinearRegression
from verulam.experiment import DataChoice, Study, analyse, make_plan, run
from verulam.experiment._learning.intervals import gives_intervals, predicted_intervals

MEASURES = ["interval_coverage", "interval_width", "interval_score", "predictive_log_loss"]


class Limits:
    """Intervals alone, without a distribution."""

    def __init__(self, lower, upper):
        self.lower, self.upper = lower, upper


class OnlyLimits(LinearRegression):
    """A regressor that tells limits and no densities."""

    def predict_interval(self, X, level):
        middle = self.predict(X)
        return Limits(middle - level, middle + level)


def lines(n_rows=120):
    random = np.random.default_rng(0)
    x = random.uniform(-1.0, 1.0, n_rows)
    return pd.DataFrame({"x": x, "y": 2.0 * x + random.normal(scale=0.5, size=n_rows)})


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    study = Study(
        "lines",
        [data_choice()],
        {"ours": BayesianLinearRegression(), "theirs": BayesianRidge(), "limits": OnlyLimits()},
        measures=MEASURES[:3],
        resampling="2x5-fold",
    )
    store = tmp_path_factory.mktemp("lines") / "runs.sqlite"
    return run(study, store, engine="serial", progress=False)


def data_choice():
    return DataChoice(lines(), target="y", label="lines")


def test_who_says_how_sure_it_is():
    assert gives_intervals(BayesianLinearRegression())
    assert gives_intervals(make_pipeline(StandardScaler(), BayesianRidge()))
    assert gives_intervals(OnlyLimits())
    assert not gives_intervals(LinearRegression())
    assert not gives_intervals(DummyRegressor())


def test_intervals_of_standard_deviations_are_normal():
    table = lines(40)
    fitted = BayesianRidge().fit(table[["x"]], table["y"])
    found = predicted_intervals(fitted, table[["x"]], table["y"].to_numpy())
    means, deviations = fitted.predict(table[["x"]], return_std=True)
    np.testing.assert_allclose(found[:, 0], stats.norm.ppf(0.025, means, deviations))
    np.testing.assert_allclose(found[:, 1], stats.norm.ppf(0.975, means, deviations))
    np.testing.assert_allclose(found[:, 2], stats.norm.logpdf(table["y"], means, deviations))


def test_intervals_of_ours_are_those_of_its_distribution():
    table = lines(40)
    fitted = BayesianLinearRegression().fit(table[["x"]], table["y"])
    found = predicted_intervals(fitted, table[["x"]], table["y"].to_numpy())
    told = fitted.predict_distribution(table[["x"]])
    np.testing.assert_allclose(found[:, 2], told.log_density(table["y"]))
    inside = (found[:, 0] <= table["y"]) & (table["y"] <= found[:, 1])
    assert inside.mean() == fitted.predict_interval(table[["x"]]).coverage(table["y"])


def test_honest_intervals_cover_what_they_promise(results):
    means = results.scores(MEASURES).groupby("learner")[MEASURES].mean()
    assert 0.9 <= means.loc["ours", "interval_coverage"] <= 0.99
    assert means.loc["ours", "interval_width"] == pytest.approx(2 * 1.96 * 0.5, rel=0.2)
    assert means.loc["limits", "interval_width"] == pytest.approx(1.9)
    expected = 0.5 * np.log(2 * np.pi * np.e * 0.25)
    assert means.loc["theirs", "predictive_log_loss"] == pytest.approx(expected, abs=0.15)
    assert np.isnan(means.loc["limits", "predictive_log_loss"])


def test_coverage_is_a_share_of_rows_with_its_interval(results):
    analysis = analyse(results)
    assert analysis.measure.name == "interval_coverage"
    known = analysis.evidence["lines"]
    assert known.losses.shape[1] == 120
    low, high = known.interval("ours")
    assert low < 0.95 < high
    by_score = analyse(results, measure="predictive_log_loss")
    assert "limits could not be scored by predictive log loss" in by_score.answer.sentence


def test_learners_that_do_not_say_are_refused_with_a_sentence():
    study = Study("x", [data_choice()], ["linear regression"], measures=["interval_width"])
    with pytest.raises(
        DataError, match=r"'interval_width' needs learners that say how sure.*'line"
    ):
        make_plan(study)


def test_learners_by_default_are_those_that_say():
    comparison = compare(
        lines(60), target="y", measure="interval_score", resampling="3-fold", progress=False
    )
    assert len(comparison.learners) == 2
    assert "has an interval score of" in comparison.conclusion
