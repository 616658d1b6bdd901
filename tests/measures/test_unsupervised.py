"""Measures without a target, and those of predictive distributions, beside their formulas."""

import numpy as np
import pytest
from scipy import stats
from sklearn.mixture import GaussianMixture

from verulam.base import DataError
from verulam.measures import (
    INTERVAL_LEVEL,
    interval_coverage,
    interval_score,
    interval_width,
    learning_return,
    learning_steps,
    log_likelihood,
    mean_return,
    measure,
    measures,
    predictive_log_loss,
    silhouette,
    stability,
    to_scorer,
)


@pytest.fixture(scope="module")
def predicted():
    """Return normal predictions that are too sure by a factor of two, with their 95 % intervals."""
    random = np.random.default_rng(0)
    true = random.normal(size=400)
    ends = stats.norm.ppf([0.025, 0.975], scale=0.5)
    densities = stats.norm.logpdf(true, 0.0, 0.5)
    return true, np.column_stack([np.zeros(400), np.tile(ends, (400, 1)), densities])


def test_coverage_and_width(predicted):
    true, table = predicted
    inside = np.mean([low <= y <= high for y, (_, low, high, _) in zip(true, table, strict=True)])
    assert measure("interval_coverage")(true, table) == inside
    assert inside == pytest.approx(2 * stats.norm.cdf(0.98) - 1, abs=0.05)
    assert measure("interval_width")(true, table) == pytest.approx(2 * 1.959964 * 0.5)


def test_the_interval_score_is_best_for_honest_intervals(predicted):
    true, table = predicted
    score = measure("interval_score")
    by_factor = {
        factor: score(true, np.column_stack([table[:, 0], factor * table[:, 1:]]))
        for factor in (0.5, 1.0, 2.0, 4.0)
    }
    assert min(by_factor, key=by_factor.get) == 2.0
    one = score([3.0], [[0.0, -1.0, 1.0, 0.5]])
    assert one == pytest.approx(2.0 + 2 / 0.05 * 2.0)


def test_the_predictive_log_loss_is_that_of_the_normal_density(predicted):
    true, table = predicted
    expected = -stats.norm.logpdf(true, table[:, 0], 0.5).mean()
    assert measure("predictive_log_loss")(true, table) == pytest.approx(expected)
    silent = np.column_stack([table[:, :3], np.full(len(table), np.nan)])
    with pytest.raises(DataError, match="no log-densities"):
        measure("predictive_log_loss")(true, silent)


def test_the_log_likelihood_is_a_mean_and_a_scorer():
    rows = np.random.default_rng(0).normal(size=(60, 2))
    mixture = GaussianMixture(random_state=0).fit(rows)
    value = measure("log_likelihood")(None, mixture.score_samples(rows))
    assert value == pytest.approx(mixture.score(rows))
    assert to_scorer("log_likelihood")(mixture, rows, None) == pytest.approx(value)


def test_rewards_are_means_over_episodes():
    curve = [[-10.0, -4.0, -1.0], [12, 6, 3]]
    assert measure("mean_return")(None, [1.0, 2.0, 6.0]) == 3.0
    assert measure("learning_return")(None, curve) == -5.0
    assert measure("learning_steps")(None, curve) == 21.0
    assert not measure("learning_steps").greater_is_better


def test_stability_ignores_the_names_of_clusters():
    random = np.random.default_rng(0)
    labels = random.integers(0, 3, 300)
    renamed = np.array([2, 0, 1])[labels]
    assert measure("stability")(None, np.column_stack([labels, renamed])) == 1.0
    by_chance = np.column_stack([labels, random.permutation(labels)])
    assert measure("stability")(None, by_chance) == pytest.approx(0.0, abs=0.02)
    assert measure("silhouette")(None, [0.5, 0.0]) == 0.25


def test_measures_of_other_tasks_are_listed_and_refuse_what_is_not_theirs():
    assert list(measures("control").index) == ["mean_return", "learning_return", "learning_steps"]
    for name, prediction, message in (
        ("mean_return", [], "expected 1 dimension and at least one number"),
        ("learning_return", [[1.0]], "expected returns and steps"),
        ("stability", [[0, 1, 2]], "expected two clusterings"),
        ("log_likelihood", "text", "something else than numbers"),
    ):
        with pytest.raises(DataError, match=message):
            measure(name)(None, prediction)
    with pytest.raises(DataError, match=r"expected \(2, 4\)"):
        measure("interval_width")([1.0, 2.0], [1.0, 2.0])
    with pytest.raises(TypeError, match="needs returns: run a study"):
        to_scorer("mean_return")(None, None, None)


def test_every_one_is_a_function_too():
    functions = (
        interval_coverage, interval_score, interval_width, learning_return, learning_steps,
        log_likelihood, mean_return, predictive_log_loss, silhouette, stability,
    )  # fmt: skip
    assert all(measure(function.__name__).function is function for function in functions)
    assert INTERVAL_LEVEL == 0.95
