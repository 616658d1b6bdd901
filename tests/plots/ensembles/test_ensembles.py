"""Pictures of ensembles hold the numbers that they show."""

import numpy as np
import pytest
from sklearn.decomposition import PCA

from verulam.base import DataError
from verulam.data import dataset, xor
from verulam.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    CascadeClassifier,
    EigenLearners,
    boosting_weights,
    diversity,
    majority_probability,
    margin_trace,
    out_of_fold_outputs,
    output_code,
)
from verulam.parametric import NaiveBayes
from verulam.plots import (
    boosting_errors,
    boosting_round,
    cascade_coverage,
    code_map,
    eigenlearner_map,
    kappa_error,
    majority_curves,
    margin_curves,
)
from verulam.tree import DecisionTreeClassifier

DATA = xor(120, random_state=0)
X, Y = DATA.inputs, np.asarray(DATA.target_values)
BOOST = AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=12).fit(X, Y)


def test_points_are_as_large_as_their_weights_and_boundaries_are_drawn():
    bag = BaggingClassifier(n_estimators=3, random_state=0).fit(X, Y)
    axes = boosting_round(BOOST, X, Y, 4, other=bag, resolution=25)
    sizes = np.concatenate([axes.collections[place].get_sizes() for place in range(2)])
    weights = boosting_weights(BOOST, X, Y)[3]
    order = np.concatenate([np.flatnonzero(label == Y) for label in BOOST.classes_])
    assert np.allclose(sizes / sizes.sum(), weights[order])
    # Two classes of points, four members, their vote and the bag.
    assert len(axes.collections) <= 2 + 4 + 2
    assert len(axes.collections) >= 5
    assert axes.get_title() == "4 members"


def test_errors_are_the_traces_of_the_model():
    axes = boosting_errors(BOOST)
    curves = [curve.get_ydata() for curve in axes.lines[:3]]
    for curve, expected in zip(
        curves, (BOOST.errors_, BOOST.member_errors_, BOOST.training_errors_), strict=True
    ):
        assert np.array_equal(curve, expected)


def test_margins_are_cumulated():
    trace = margin_trace(BOOST, X, Y)
    axes = margin_curves(trace, [1, 5])
    assert np.allclose(axes.lines[1].get_xdata(), np.sort(trace.margins[4]))
    assert margin_curves(trace).get_legend() is not None
    with pytest.raises(DataError, match="1 to 12 members"):
        margin_curves(trace, [0])


def test_majorities_are_those_of_the_formula():
    axes = majority_curves([0.7, 0.5], max_members=9)
    assert np.allclose(axes.lines[0].get_ydata(), majority_probability(0.7, [1, 3, 5, 7, 9]))
    assert np.allclose(axes.lines[1].get_ydata(), 0.5)


def test_every_entry_of_a_code_has_its_sign():
    codes = output_code(4, "one_vs_one")
    axes = code_map(codes)
    signs = np.array([text.get_text() for text in axes.texts]).reshape(codes.shape)
    assert (signs[codes > 0] == "+").all()
    assert (signs[codes == 0] == "0").all()
    with pytest.raises(DataError, match="matrix"):
        code_map([1, -1])


def test_pairs_lie_at_their_kappa_and_error():
    iris = dataset("iris")
    members = [NaiveBayes(), DecisionTreeClassifier(), DecisionTreeClassifier(max_depth=1)]
    outputs = out_of_fold_outputs(members, iris.inputs, iris.target_values, random_state=0)
    report = diversity(outputs, iris.target_values)
    axes = kappa_error(report)
    expected = report.to_frame()[["kappa", "mean_error"]].to_numpy()
    assert np.allclose(axes.collections[0].get_offsets(), expected)
    assert len(axes.texts) == 3
    with pytest.raises(DataError, match="one member"):
        kappa_error(diversity([[0, 1]], [0, 1]))


def test_stages_have_their_shares():
    titanic = dataset("titanic")
    cascade = CascadeClassifier(thresholds=0.9, random_state=0)
    cascade.fit(titanic.inputs, titanic.target_values)
    coverage = cascade.coverage(titanic.inputs, titanic.target_values)
    axes = cascade_coverage(coverage)
    assert np.allclose([bar.get_width() for bar in axes.patches], coverage.shares)


def test_loadings_are_those_of_the_model():
    iris = dataset("iris")
    eigen = EigenLearners(n_components=3, random_state=0, final_estimator=NaiveBayes())
    axes = eigenlearner_map(eigen.fit(iris.inputs, iris.target_values))
    assert np.allclose(axes.images[0].get_array(), eigen.loadings_)
    eigen.set_params(extractor=PCA(2)).fit(iris.inputs, iris.target_values)
    with pytest.raises(DataError, match="extractor of its own"):
        eigenlearner_map(eigen)


def test_rounds_that_cannot_be_drawn():
    with pytest.raises(DataError, match="12 members, counted from 1"):
        boosting_round(BOOST, X, Y, 13)
    wide = AdaBoostClassifier(n_estimators=2).fit(np.hstack([X, X]), Y)
    with pytest.raises(DataError, match="two columns and two classes"):
        boosting_round(wide, np.hstack([X, X]), Y, 1)
