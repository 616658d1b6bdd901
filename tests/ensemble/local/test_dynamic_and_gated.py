"""Dynamic selection and gates."""

import numpy as np
import pytest
from sklearn.neighbors import NearestNeighbors
from sklearn.pipeline import make_pipeline

from verulam.base import DataError
from verulam.data import dataset
from verulam.ensemble import (
    DynamicSelectionClassifier,
    DynamicSelectionRegressor,
    GatedClassifier,
    GatedRegressor,
    variance_analysis,
)
from verulam.ensemble._local.gated import RIDGE, SoftmaxGate
from verulam.ensemble._members.tables import ColumnSubset
from verulam.linear import LogisticDiscriminant
from verulam.nonparametric import KNeighborsClassifier
from verulam.parametric import LeastSquares, NaiveBayes
from verulam.tree import DecisionTreeClassifier, DecisionTreeRegressor

RANDOM = np.random.default_rng(0)
HALVES = RANDOM.uniform(-1, 1, size=(300, 2)) * [3, 1]
LABELS = (HALVES[:, 0] * HALVES[:, 1] > 0).astype(int)


class Half(NaiveBayes):
    """Right on one side of the plane, wrong on the other."""

    def __init__(self, side=1):
        self.side = side

    def fit(self, X, y=None, sample_weight=None):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        up = (np.asarray(X)[:, 1] > 0) == (self.side > 0)
        return np.where(up[:, None], [0.1, 0.9], [0.9, 0.1])

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def test_the_member_that_is_right_nearby_answers_alone():
    members = [("right", Half(1)), ("left", Half(-1))]
    dynamic = DynamicSelectionClassifier(members, n_neighbors=5, random_state=0).fit(HALVES, LABELS)
    clear = np.abs(HALVES[:, 0]) > 0.5
    competent = dynamic.competent(HALVES)
    assert (competent[0][clear] == (HALVES[clear, 0] > 0)).all()
    assert (dynamic.predict(HALVES)[clear] == LABELS[clear]).all()
    assert dynamic.evaluations_ == 1


@pytest.mark.parametrize("rule", ["best", "vote", "faultless"])
def test_competence_by_its_definition(rule):
    wine = dataset("wine")
    members = [NaiveBayes(), DecisionTreeClassifier(max_depth=1), KNeighborsClassifier()]
    dynamic = DynamicSelectionClassifier(members, n_neighbors=6, rule=rule, random_state=0)
    dynamic.fit(wine.inputs, wine.target_values)
    inputs = wine.inputs.to_numpy()
    scaled = (inputs - inputs.mean(axis=0)) / inputs.std(axis=0)
    near = NearestNeighbors(n_neighbors=6).fit(scaled).kneighbors(scaled, return_distance=False)
    competent = dynamic.competent(wine.inputs)
    for row in range(0, 178, 7):
        right = dynamic.right_[:, near[row]]
        merit = right.mean(axis=1)
        if rule == "faultless":
            first = [np.argmin(np.append(line, False)) for line in right]
            merit = np.array(first) if max(first) else merit
        expected = merit == merit.max()
        if rule == "best":
            expected = np.arange(3) == merit.argmax()
        assert (competent[:, row] == expected).all()
    assert (dynamic.evaluations(wine.inputs) == competent.sum(axis=0)).all()
    assert dynamic.score(wine.inputs, wine.target_values) > 0.9


def test_the_regressor_that_errs_least_nearby_answers():
    rows = np.linspace(-1, 1, 200)[:, None]
    targets = np.where(rows[:, 0] < 0, 2 * rows[:, 0], np.sign(np.sin(12 * rows[:, 0])))
    members = [("line", LeastSquares()), ("tree", DecisionTreeRegressor(min_samples_leaf=2))]
    dynamic = DynamicSelectionRegressor(members, n_neighbors=9, random_state=0).fit(rows, targets)
    competent = dynamic.competent(rows)
    assert competent.sum(axis=0).tolist() == [1] * 200
    errors = [np.mean((part.predict(rows) - targets) ** 2) for _, part in dynamic.estimators_]
    assert np.mean((dynamic.predict(rows) - targets) ** 2) <= max(errors)
    values = np.array([part.predict(rows) for _, part in dynamic.estimators_])
    assert np.allclose(dynamic.predict(rows), (values * competent).sum(axis=0))
    both = DynamicSelectionRegressor(members, n_averaged=2, random_state=0).fit(rows, targets)
    assert np.allclose(both.predict(rows), values.mean(axis=0))


def test_dynamic_selection_takes_tables_as_they_are():
    titanic, mpg = dataset("titanic"), dataset("auto_mpg")
    model = DynamicSelectionClassifier(random_state=0).fit(titanic.inputs, titanic.target_values)
    assert model.score(titanic.inputs, titanic.target_values) > 0.8
    assert DynamicSelectionRegressor(random_state=0).fit(mpg.inputs, mpg.target_values).score(
        mpg.inputs, mpg.target_values) > 0.8  # fmt: skip


def test_the_softmax_gate_is_where_its_gradient_vanishes():
    shares = RANDOM.dirichlet([1.0, 1.0, 1.0], size=300)
    gate = SoftmaxGate().fit(HALVES, shares)
    weights = gate.transform(HALVES)
    assert np.allclose(weights.sum(axis=1), 1)
    slope = gate._design(HALVES).T @ (weights - shares) / 300 + RIDGE * gate.weights_
    assert np.abs(slope).max() < 1e-4


def test_a_gate_learns_where_declared_experts_are_right():
    members = [("right", Half(1)), ("left", Half(-1))]
    for options in ({}, {"hard": True}, {"gate": DecisionTreeClassifier(max_depth=2)}):
        gated = GatedClassifier(members, random_state=0, **options).fit(HALVES, LABELS)
        weights = gated.gate_weights(HALVES)
        assert np.allclose(weights.sum(axis=1), 1)
        clear = np.abs(HALVES[:, 0]) > 0.5
        assert (weights[clear].argmax(axis=1) == (HALVES[clear, 0] < 0)).all()
        best = max(part.fit(HALVES, LABELS).score(HALVES, LABELS) for _, part in members)
        assert gated.score(HALVES, LABELS) > best + 0.3
        assert (np.diff(gated.log_likelihoods_) > -1e-6).all()
        assert gated.evaluations_ == (1 if options.get("hard") else 2)


def test_the_output_is_the_weighted_sum_of_the_experts():
    experts = [LogisticDiscriminant(alpha=0.1), LogisticDiscriminant(alpha=0.1)]
    gated = GatedClassifier(experts, training="joint", random_state=0).fit(HALVES, LABELS)
    weights = gated.gate_weights(HALVES)
    parts = np.stack([part.predict_proba(HALVES) for _, part in gated.estimators_])
    assert np.allclose(gated.predict_proba(HALVES), np.einsum("tj,jtk->tk", weights, parts))
    assert gated.score(HALVES, LABELS) > 0.9
    assert (np.diff(gated.log_likelihoods_) > -0.5).all()
    assert gated.log_likelihoods_[-1] > gated.log_likelihoods_[0]
    assert len(gated.covariances_) == gated.n_iter_


def test_experts_that_compete_become_local_and_negatively_correlated():
    rows = np.linspace(-1, 1, 200)[:, None]
    targets = np.abs(rows[:, 0])
    gated = GatedRegressor([LeastSquares(), LeastSquares()], training="joint", random_state=0)
    gated.fit(rows, targets)
    assert gated.score(rows, targets) > 0.99
    weights = gated.gate_weights(rows)
    assert (weights[np.abs(rows[:, 0]) > 0.2].max(axis=1) > 0.95).all()
    assert gated.covariances_[-1] < 0
    values = np.array([part.predict(rows) for _, part in gated.estimators_])
    parts = variance_analysis(values, targets)
    assert gated.covariances_[-1] == pytest.approx(parts.covariance_part, rel=0.05)
    assert gated.variances_[-1] == pytest.approx(parts.variance_part, rel=0.05)
    assert gated.biases_[-1] == pytest.approx(parts.bias, rel=0.05)


def test_experts_may_have_views_of_their_own_and_the_gate_sees_columns_or_outputs():
    wine = dataset("wine")
    experts = [("first", make_pipeline(ColumnSubset([0, 1, 2]), NaiveBayes())),
               ("rest", make_pipeline(ColumnSubset(list(range(3, 13))), NaiveBayes()))]  # fmt: skip
    for gate_inputs, width in (("columns", 13), ("outputs", 6)):
        gated = GatedClassifier(experts, gate_inputs=gate_inputs, random_state=0)
        gated.fit(wine.inputs, wine.target_values)
        assert gated.gate_.weights_.shape == (1 + width, 2)
        assert gated.gate_weights(wine.inputs).shape == (178, 2)
        assert gated.score(wine.inputs, wine.target_values) > 0.95


def test_joint_training_needs_experts_that_take_weights():
    with pytest.raises(DataError, match=r"'KNeighborsClassifier' does not; take training='gate'"):
        GatedClassifier([KNeighborsClassifier()], training="joint").fit(HALVES, LABELS)
