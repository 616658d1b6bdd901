"""Several responses at once: the tests behind, costs as responses, and when there are none."""

import numpy as np
import pytest
from tests.experiment.conftest import BASELINE, BAYES, MEANS

from verulam.experiment import analyse
from verulam.experiment._effects.multivariate import vector_verdicts
from verulam.experiment._store.responses import responses
from verulam.statistics import hotelling_test, manova


@pytest.fixture(scope="module")
def measured(make_results):
    """Return three learners with two measures."""
    options = {"resampling": "5x2", "measures": ["error", "balanced_accuracy"]}
    return make_results([BASELINE, MEANS, BAYES], ["wine"], **options)


def columns(results, learner, names):
    scores = results.scores(names)
    return scores[scores["learner"] == learner].sort_values(["repeat", "fold"])[names].to_numpy()


def test_more_than_two_are_a_multivariate_analysis(measured):
    (found,) = vector_verdicts(measured, responses(measured), alpha=0.05)
    names = ["error", "balanced_accuracy"]
    groups = {name: columns(measured, name, names) for name in found.means.index}
    peer = manova(groups, names=names)
    assert found.overall.statistic == pytest.approx(peer.result.statistic)
    assert found.overall.reject
    assert found.means.loc["majority class", "error"] == pytest.approx(
        groups["majority class"][:, 0].mean()
    )
    assert len(found.pairs) == 3
    assert list(found.weights.index) == names
    assert "By error, balanced_accuracy together" in found.sentence
    assert "Singly they differ in" in found.sentence


def test_two_are_hotellings_test(make_results):
    options = {"resampling": "5x2", "measures": ["error", "balanced_accuracy"]}
    results = make_results([MEANS, BAYES], ["wine"], **options)
    (found,) = vector_verdicts(results, responses(results), alpha=0.05)
    first, second = (
        columns(results, name, ["error", "balanced_accuracy"]) for name in found.means.index
    )
    peer = hotelling_test(first, second)
    assert found.overall.p_value == pytest.approx(peer.p_value)
    assert found.analysis is None
    assert found.pairs["p_value"].tolist() == [found.overall.p_value]


def test_costs_may_be_responses(make_results):
    options = {"resampling": "5x2", "response": ["error", "fit time"]}
    results = make_results([MEANS, BAYES], ["iris"], **options)
    (found,) = vector_verdicts(results, responses(results), alpha=0.05)
    assert list(found.means.columns) == ["error", "fit time"]
    runs = results.runs().groupby("learner")["fit_seconds"].mean()
    assert found.means["fit time"].to_numpy() == pytest.approx(runs[found.means.index].to_numpy())


def test_one_response_needs_no_vector(two):
    assert analyse(two).vectors == ()


def test_one_split_allows_no_test(make_results):
    options = {"resampling": "holdout", "measures": ["error", "balanced_accuracy"]}
    results = make_results([MEANS, BAYES], ["iris"], **options)
    assert vector_verdicts(results, responses(results), alpha=0.05) == ()


def test_means_have_no_gaps(measured):
    (found,) = vector_verdicts(measured, responses(measured), alpha=0.05)
    assert np.isfinite(found.means.to_numpy()).all()
