"""Votes of perceptrons, in the space of a kernel."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from tests.linear.examples import XOR, overlapping, separable

from verulam.linear import Perceptron, VotedPerceptron, sign_normalise


def test_votes_are_those_of_the_explicit_vectors():
    rows, classes = overlapping(60)
    machine = VotedPerceptron(max_iter=3, random_state=0).fit(rows, classes)
    signed = machine.signs_[:, None] * np.c_[np.ones(len(machine.signs_)), machine.corrections_]
    vectors = np.cumsum(signed, axis=0)
    votes = np.sign(np.c_[np.ones(60), rows] @ vectors.T) @ machine.survivals_
    assert np.allclose(machine.decision_function(rows), votes / machine.survivals_.sum())


def test_survivals_count_every_row_once():
    rows, classes = overlapping(60)
    machine = VotedPerceptron(max_iter=4, random_state=0).fit(rows, classes)
    # The first row always corrects, so no row comes before the first vector.
    assert machine.survivals_.sum() == 4 * 60


def test_the_mean_of_the_linear_form_is_the_averaged_perceptron():
    rows, classes = overlapping(60)
    machine = VotedPerceptron(vote="averaged", max_iter=1, random_state=0).fit(rows, classes)
    order = np.random.default_rng(0).permutation(60)
    averaged = Perceptron(average=True).partial_fit(rows[order], classes[order])
    assert np.allclose(machine.decision_function(rows), averaged.decision_function(rows))


@pytest.mark.parametrize("vote", ["voted", "averaged", "last"])
@pytest.mark.parametrize("kernel", ["polynomial", "gaussian"])
def test_exclusive_or_is_within_reach_of_a_kernel(kernel, vote):
    corners = np.array([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]])
    machine = VotedPerceptron(kernel=kernel, vote=vote, random_state=0).fit(corners, XOR)
    assert machine.predict(corners).tolist() == XOR.tolist()


def test_separable_classes_end_the_training():
    rows, classes = separable()
    machine = VotedPerceptron(vote="last", max_iter=1000, random_state=0).fit(rows, classes)
    assert machine.converged_
    assert machine.score(rows, classes) == 1.0


def test_a_degree_one_polynomial_is_linear():
    rows, classes = overlapping(50)
    options = {"max_iter": 2, "random_state": 0}
    linear = VotedPerceptron(**options).fit(rows, classes)
    polynomial = VotedPerceptron(kernel="polynomial", degree=1, **options).fit(rows, classes)
    assert np.allclose(linear.decision_function(rows), polynomial.decision_function(rows))


@pytest.mark.parametrize("kernel", ["linear", "gaussian"])
def test_the_way_has_criterion_and_errors_of_every_vector(kernel):
    rows, classes = overlapping(60)
    machine = VotedPerceptron(kernel=kernel, max_iter=2, record="steps", random_state=0)
    way = machine.fit(rows, classes).trajectory_
    assert len(way.steps) == len(way.criterion) == len(machine.signs_) + 1
    last = VotedPerceptron(kernel=kernel, vote="last", max_iter=2, random_state=0)
    with pytest.warns(ConvergenceWarning, match="stopped after 2 passes"):
        last.fit(rows, classes)
    products = np.where(classes == 1, 1.0, -1.0) * last.decision_function(rows)
    assert way.errors[-1] == (products <= 0).sum()
    assert way.criterion[-1] == pytest.approx(np.maximum(-products, 0.0).sum())
    if kernel == "linear":
        signed = sign_normalise(rows, classes == 1)
        assert np.allclose(signed @ way.weights[-1], products)


@pytest.mark.parametrize("vote", ["voted", "averaged", "last"])
@pytest.mark.filterwarnings("ignore:VotedPerceptron stopped")
def test_raw_columns_are_told_to_be_scaled(vote):
    rows, classes = separable(gap=0.4)
    with pytest.warns(ConvergenceWarning, match="VotedPerceptron misclassifies .* scale the in"):
        VotedPerceptron(vote=vote, random_state=0).fit(rows + 1e4, classes)


def test_the_last_vector_alone_says_whether_a_plane_exists():
    corners = np.array([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]])
    with pytest.warns(ConvergenceWarning, match="never will: a linear program proves"):
        VotedPerceptron(vote="last", random_state=0).fit(corners, XOR)
    with pytest.warns(ConvergenceWarning, match='use vote="averaged"'):
        VotedPerceptron(vote="last", kernel="gaussian", max_iter=1).fit(*overlapping(60))
