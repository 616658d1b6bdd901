"""Output codes at work: special cases, decodings, corrected mistakes, added columns."""

from functools import partial

import numpy as np
import pytest
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB

from verulam.base import DataError
from verulam.data import dataset
from verulam.ensemble import (
    IncrementalCodeClassifier,
    OutputCodeClassifier,
    code_report,
    decode,
    output_code,
)
from verulam.linear import MinimumSquaredError, PairwiseClassifier
from verulam.parametric import NaiveBayes

IRIS, WINE = dataset("iris"), dataset("wine")
X, Y = IRIS.inputs.to_numpy(), np.asarray(IRIS.target_values)


def test_one_versus_all_is_that_of_scikit_learn():
    ours = OutputCodeClassifier(GaussianNB(), code="one_vs_all").fit(X, Y)
    theirs = OneVsRestClassifier(GaussianNB()).fit(X, Y)
    assert (ours.predict(X) == theirs.predict(X)).all()
    sides = np.column_stack([2 * part.predict_proba(X)[:, 1] - 1 for part in theirs.estimators_])
    assert np.allclose(ours.dichotomies(X), sides)


def test_one_versus_one_is_that_of_scikit_learn_and_of_linear():
    hard = OutputCodeClassifier(GaussianNB(), code="one_vs_one", decoding="hamming").fit(X, Y)
    theirs = OneVsOneClassifier(GaussianNB()).fit(X, Y)
    assert (hard.predict(X) == theirs.predict(X)).mean() > 0.99
    ours = OutputCodeClassifier(MinimumSquaredError(), code="one_vs_one", decoding="hamming").fit(
        X, Y
    )
    pairs = PairwiseClassifier(MinimumSquaredError()).fit(X, Y)
    assert (ours.predict(X) == pairs.predict(X)).mean() > 0.99
    assert ours.evaluations_ == 3


def test_a_column_is_taught_without_classes_of_zero():
    machine = OutputCodeClassifier(NaiveBayes(), code="one_vs_one").fit(X, Y)
    first = machine.estimators_[0]
    alone = NaiveBayes().fit(X[:100], (Y[:100] == "setosa").astype(int))
    assert np.allclose(first.predict_proba(X), alone.predict_proba(X))


def test_one_mistake_is_corrected_by_the_exhaustive_code_and_ties_one_versus_all():
    full = output_code(4, "exhaustive")
    flipped = full[:1].copy()
    flipped[0, 3] *= -1
    assert decode(flipped, full).tolist() == [[5.0, 1.0, -3.0, -3.0]]
    for decoding in ("sum", "loss", "hamming"):
        for row in range(4):
            for column in range(7):
                said = full[row : row + 1].copy()
                said[0, column] *= -1
                assert decode(said, full, decoding).argmax() == row
    assert decode(flipped, full, "exact").sum() == 0
    one_vs_all = output_code(4, "one_vs_all")
    flipped = one_vs_all[:1].copy()
    flipped[0, 0] *= -1
    assert decode(flipped, one_vs_all).tolist() == [[2.0, 2.0, 2.0, 2.0]]


def test_decodings_by_their_formulas():
    random = np.random.default_rng(0)
    codes = output_code(5, "ternary", n_columns=8, random_state=0)
    said = random.uniform(-1, 1, size=(20, 8))
    signs = np.where(said >= 0, 1, -1)
    loss = np.array([[-sum(np.exp(-w * d)) for w in codes] for d in said])
    hamming = np.array([[-sum((1 - w * d) / 2) for w in codes] for d in signs])
    exact = np.array([[float(all(w[w != 0] == d[w != 0])) for w in codes] for d in signs])
    assert np.allclose(decode(said, codes, "sum"), said @ codes.T)
    assert np.allclose(decode(said, codes, "loss"), loss)
    assert np.allclose(decode(said, codes, "hamming"), hamming)
    assert np.array_equal(decode(said, codes, "exact"), exact)


@pytest.mark.parametrize("decoding", ["sum", "loss", "hamming", "exact"])
@pytest.mark.parametrize("code", ["exhaustive", "random", "ternary", "optimised"])
def test_all_codes_and_decodings_learn(code, decoding):
    machine = OutputCodeClassifier(NaiveBayes(), code=code, decoding=decoding, random_state=0)
    machine.fit(WINE.inputs, WINE.target_values)
    assert machine.score(WINE.inputs, WINE.target_values) > 0.9
    assert np.allclose(machine.predict_proba(WINE.inputs).sum(axis=1), 1)


def test_a_code_of_ones_own_and_hard_learners():
    matrix = [[1, 1, -1], [-1, 1, 1], [1, -1, 1]]
    machine = OutputCodeClassifier(MinimumSquaredError(), code=matrix).fit(X, Y)
    assert np.array_equal(machine.code_, matrix)
    assert np.abs(machine.dichotomies(X)).max() <= 1
    with pytest.raises(DataError, match="code: a matrix needs a row for each of the 3"):
        OutputCodeClassifier(code=[[1], [-1]]).fit(X, Y)


def test_added_columns_never_raise_the_training_error():
    machine = IncrementalCodeClassifier(MinimumSquaredError()).fit(X, Y)
    assert (np.diff(machine.errors_) < 0).all()
    assert machine.errors_[-1] == pytest.approx(1 - machine.score(X, Y))
    assert len(machine.errors_) > 1
    assert machine.code_.shape == (3, 3 + len(machine.errors_) - 1)
    assert (np.abs(machine.code_) <= 1).all()
    assert code_report(machine.code_[:, 3:]).row_distances.max() > 0
    none = IncrementalCodeClassifier(MinimumSquaredError(), max_columns=0).fit(X, Y)
    plain = OutputCodeClassifier(MinimumSquaredError()).fit(X, Y)
    assert (none.predict(X) == plain.predict(X)).all()


def test_entries_can_be_learned_from_data():
    machine = IncrementalCodeClassifier(MinimumSquaredError(), learn_code=True, max_columns=0).fit(
        X, Y
    )
    said = machine.dichotomies(X)
    indicators = 2.0 * (Y[:, None] == machine.classes_) - 1
    expected = np.linalg.lstsq(said, indicators, rcond=None)[0].T
    assert np.allclose(machine.code_, expected)
    plain = IncrementalCodeClassifier(MinimumSquaredError(), max_columns=0).fit(X, Y)
    assert machine.score(X, Y) >= plain.score(X, Y)


def test_the_two_classes_confused_most_are_told_apart_next():
    # One column tells class 0 from the others, of which 1 is always taken where it may be 2.
    matrix = np.array([[1.0, 0.0], [-1.0, 1.0], [-1.0, -1.0]])
    codes = np.array([0, 0, 0, 1, 2, 2, 2, 2])
    outputs = np.array([[1, 1], [1, 1], [-1, -1], [-1, 1], [-1, 1], [-1, 1], [-1, 1], [-1, -1]])
    machine, counts = IncrementalCodeClassifier(), np.ones(8)
    confused = partial(machine._most_confused, outputs.astype(float), matrix, codes)
    assert confused(counts, set()) == (1, 2)  # three rows, against one of 0 taken for 2
    assert confused(counts, {(1, 2)}) == (0, 2)
    assert confused(counts, {(1, 2), (0, 2)}) is None
    assert confused(np.array([1, 1, 9, 1, 1, 1, 1, 1.0]), set()) == (0, 2)  # by weight


def test_linear_dichotomies_make_nonlinear_discriminants():
    """Three classes on a line: no plane separates the middle one, and more columns do."""
    rows = np.concatenate(
        [np.random.default_rng(0).normal(centre, 0.3, size=(40, 1)) for centre in (0, 3, 6)]
    )
    labels = np.repeat(["left", "middle", "right"], 40)
    plain = OutputCodeClassifier(MinimumSquaredError()).fit(rows, labels)
    grown = IncrementalCodeClassifier(MinimumSquaredError()).fit(rows, labels)
    assert plain.score(rows, labels) < 0.9
    assert grown.score(rows, labels) > 0.98
