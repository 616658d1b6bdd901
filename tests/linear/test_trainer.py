"""What all trainers share: labels, planes, and words about failure."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from tests.linear.examples import CORNERS, OR, XOR, overlapping, separable

from verulam.base import DataError
from verulam.linear import (
    BatchPerceptron,
    FarthestMarginPerceptron,
    HoKashyap,
    LeastMeanSquares,
    LinearProgramDiscriminant,
    MinimumSquaredError,
    Perceptron,
    Relaxation,
    Separability,
)
from verulam.linear import _trainer as trainer_module
from verulam.numerics import exponential, inverse


def test_labels_come_back_and_the_plane_is_positive_for_the_second():
    line = BatchPerceptron().fit(CORNERS, np.array(["no", "yes", "yes", "yes"]))
    assert line.predict(CORNERS).tolist() == ["no", "yes", "yes", "yes"]
    assert np.allclose(line.hyperplane_.value(CORNERS), line.decision_function(CORNERS))


@pytest.mark.parametrize(
    ("labels", "message"),
    [([0, 0, 0, 0], "only one class"), ([0, 1, 2, 2], "3 classes .* OneVersusRest")],
)
def test_other_than_two_classes_are_refused(labels, message):
    with pytest.raises(DataError, match=message):
        Perceptron().fit(CORNERS, labels)


def test_a_hopeless_training_says_that_it_is():
    with pytest.warns(ConvergenceWarning, match="never will: a linear program proves"):
        Perceptron(max_iter=20, random_state=0).fit(CORNERS, XOR)


def test_a_training_cut_short_says_that_a_plane_exists():
    with pytest.warns(ConvergenceWarning, match="though a plane separates"):
        BatchPerceptron(max_iter=1).fit(CORNERS, OR)


def test_a_large_table_is_pointed_to_the_test(monkeypatch):
    monkeypatch.setattr(trainer_module, "MOST_CELLS_TO_EXPLAIN", 5)
    with pytest.warns(ConvergenceWarning, match="verulam.linear.separability says"):
        BatchPerceptron(max_iter=1).fit(CORNERS, OR)


def test_a_trainer_that_settles_anyway_asks_for_more_passes():
    with pytest.warns(ConvergenceWarning, match="raise max_iter, or let learning_rate fall"):
        LeastMeanSquares(max_iter=1, random_state=0).fit(*overlapping())


@pytest.mark.parametrize(
    "trainer",
    [
        BatchPerceptron(),
        FarthestMarginPerceptron(),
        Perceptron(random_state=0),
        Relaxation(random_state=0),
        Relaxation(mode="batch", max_iter=5000),
        LeastMeanSquares(random_state=0),
        MinimumSquaredError(),
        HoKashyap(),
        LinearProgramDiscriminant(),
    ],
)
def test_sparse_rows_give_the_same_plane(trainer):
    rows, classes = separable()
    dense = trainer.fit(rows, classes).decision_function(rows)
    assert np.allclose(trainer.fit(sp.csr_array(rows), classes).decision_function(rows), dense)


def test_rates_with_a_finite_sum_are_said_to_stop_short():
    corners, both = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1]
    fading = exponential(0.1, 0.5)
    with pytest.warns(ConvergenceWarning, match="finite sum, so training may stop short"):
        Perceptron(margin=1.0, learning_rate=fading, max_iter=20).fit(corners, both)
    with pytest.warns(ConvergenceWarning, match="ended, but the learning rates have a finite sum"):
        LeastMeanSquares(learning_rate=fading, max_iter=50, random_state=0).fit(corners, both)


def test_rates_that_fall_too_slowly_are_said_to_keep_the_weights_moving():
    rows, classes = overlapping(60)
    slow = LeastMeanSquares(learning_rate=inverse(0.05, 0.1), max_iter=5, tolerance=1e-9)
    with pytest.warns(ConvergenceWarning, match="fall too slowly for the weights to settle"):
        slow.fit(rows, classes)


@pytest.mark.parametrize(
    "trainer",
    [
        BatchPerceptron(max_iter=20),
        FarthestMarginPerceptron(max_iter=20),
        Perceptron(max_iter=5, random_state=0),
        Relaxation(max_iter=5, random_state=0),
    ],
)
@pytest.mark.parametrize("offset", [1e8, 1e9])
def test_a_large_offset_proves_nothing(trainer, offset):
    rows, classes = separable(gap=0.4)
    with pytest.warns(ConvergenceWarning, match="though a plane separates .* scale the inputs"):
        trainer.fit(rows + offset, classes)


def test_an_undecided_program_is_called_so(monkeypatch):
    undecided = Separability(None, np.zeros(2), 0.0, np.nan, 0.0, None)
    monkeypatch.setattr(trainer_module, "separability", lambda *_: undecided)
    with pytest.warns(ConvergenceWarning, match="could not decide .* scale the inputs"):
        BatchPerceptron(max_iter=1).fit(CORNERS, OR)
