"""Pictures of what a study varies."""

import pytest
from tests.experiment.conftest import BASELINE, BAYES, MEANS

from verulam.experiment import LearnerChoice, analyse
from verulam.experiment._report.factor_figures import (
    effect_figures,
    learning_curves,
    vector_figures,
)


def titles(found):
    return [figure.title for figure in found]


@pytest.fixture(scope="module")
def varied(make_results):
    """Return a function that runs a learner with these factors, and analyses it."""

    def make(**factors):
        learner = LearnerChoice("k-nearest neighbours", label="knn", factors=factors)
        return analyse(make_results([learner], ["iris"], resampling="2-fold"))

    return make


def test_two_levels_have_sizes_and_a_normal_plot(varied):
    found = list(effect_figures(varied(n_neighbors=[1, 15], p=[1, 2])))
    assert titles(found) == [
        "knn: n_neighbors",
        "knn: p",
        "Sizes of effects: knn on iris",
        "Normal plot of effects: knn on iris",
    ]
    assert "n_neighbors x p" in found[2].svg
    assert found[3].folded


def test_numbers_at_three_levels_have_a_surface(varied):
    found = list(effect_figures(varied(n_neighbors=[1, 15, 29], p=[1, 2, 3])))
    assert titles(found)[-1] == "Response surface: knn on iris"
    assert "it is level at n_neighbors = " in found[-1].caption


def test_one_factor_has_its_levels_alone(factors):
    found = titles(effect_figures(analyse(factors)))
    assert found == ["k-nearest neighbours: n_neighbors"]


def test_learning_curves_where_shares_vary(factors, two):
    assert titles(learning_curves(analyse(factors))) == ["Learning curves on breast_cancer"]
    assert list(learning_curves(analyse(two))) == []


def test_projections_of_several_responses(make_results, two):
    options = {"resampling": "5x2", "response": ["error", "balanced_accuracy"]}
    analysis = analyse(make_results([BASELINE, MEANS, BAYES], ["wine"], **options))
    (figure,) = vector_figures(analysis)
    assert figure.title == "Several responses at once on wine"
    assert "of the separation" in figure.svg
    assert list(vector_figures(analyse(two))) == []
