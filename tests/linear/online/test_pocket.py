"""The pocket: what is kept never gets worse."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from tests.linear.examples import overlapping, separable

from verulam.base import DataError
from verulam.linear import PocketPerceptron
from verulam.linear._online import pocket as _pocket
from verulam.linear._online.pocket import pocket_pass, weighted_errors


def test_kept_errors_never_increase():
    rows, classes = overlapping()
    trainer = PocketPerceptron(record="steps", random_state=0).fit(rows, classes)
    errors = trainer.trajectory_.errors
    assert (np.diff(errors) < 0).all()
    assert errors[-1] == trainer.errors_ == (trainer.predict(rows) != classes).sum()


def test_near_the_best_line_where_classes_overlap():
    rows, classes = overlapping(400)
    trainer = PocketPerceptron(max_iter=200, random_state=0).fit(rows, classes)
    # The Bayes error of two normal classes at the distance 0.7 * sqrt(3) is 0.272.
    assert trainer.errors_ / 400 < 0.29


def test_separable_classes_are_separated():
    rows, classes = separable()
    trainer = PocketPerceptron(random_state=0).fit(rows, classes)
    assert trainer.errors_ == 0
    assert trainer.score(rows, classes) == 1.0


def test_heavy_rows_are_put_right_first():
    rows, classes = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 1, 0, 1])
    for heavy, wrong in ((1, 2), (2, 1)):
        weights = np.ones(4)
        weights[heavy] = 5.0
        trainer = PocketPerceptron(updates=1, max_iter=1000, random_state=0)
        trainer.fit(rows, classes, weights)
        assert trainer.errors_ == 1.0
        assert (trainer.predict(rows) != classes).nonzero()[0].tolist() == [wrong]
        recorded = trainer.set_params(record="steps").fit(rows, classes, weights).trajectory_
        assert recorded.criterion[-1] == recorded.errors[-1] == 1
        # All rows of the lighter class are wrong at the start.
        assert recorded.criterion[0] == 2.0


def test_weights_that_are_all_zero_are_refused():
    with pytest.raises(DataError, match="sample_weight is zero for every row"):
        PocketPerceptron().fit([[0.0], [1.0]], [0, 1], [0.0, 0.0])


def test_compiled_and_plain():
    rows, classes = overlapping(40)
    signs, row_weights = np.where(classes == 1, 1.0, -1.0), np.ones(40)
    random = np.random.default_rng(0)
    order, samples = random.permutation(40), np.stack([random.permutation(40)[:10]] * 2)
    results = []
    for function in (pocket_pass, pocket_pass.py_func):
        weights, pocket, history = np.zeros(4), np.zeros(4), np.zeros((20, 4))
        state = np.array([40.0, 0.0])
        made = function(
            rows, signs, row_weights, order, samples, 2, weights, pocket, state, history
        )
        results.append((made, weights, pocket, state))
    assert results[0][0] == results[1][0]
    for compiled, plain in zip(results[0][1:], results[1][1:], strict=True):
        assert np.allclose(compiled, plain)
    wrong = weighted_errors(rows, signs, row_weights, np.arange(40), results[0][2])
    assert wrong == results[0][3][0]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("scale", "offset"), [(1.0, 1e5), (1.0, 1e9), (1e-150, 0.0), (1e4, 0.0)])
@pytest.mark.parametrize("flipped", [False, True])
def test_the_pocket_is_never_worse_than_the_larger_class(scale, offset, flipped):
    random = np.random.default_rng(0)
    rows = random.normal(size=(40, 3))
    positive = rows[:, 0] + 0.3 * random.normal(size=40) > 0.2
    classes = (positive != flipped).astype(int)
    trainer = PocketPerceptron(random_state=0).fit(rows * scale + offset, classes)
    wrong = (trainer.predict(rows * scale + offset) != classes).sum()
    assert trainer.errors_ == wrong <= min(classes.sum(), 40 - classes.sum())


def test_the_larger_class_is_first_in_the_pocket():
    trainer = PocketPerceptron(max_iter=1, updates=1000, record="steps", random_state=0)
    trainer.fit(overlapping(30)[0], np.repeat([0, 1], [20, 10]))
    assert trainer.trajectory_.weights[0].tolist() == [-1.0, 0.0, 0.0, 0.0]
    assert trainer.trajectory_.errors[0] == 10


def test_raw_columns_are_told_to_be_scaled():
    rows, classes = separable(gap=0.4)
    with pytest.warns(ConvergenceWarning, match="PocketPerceptron .* scale the inputs"):
        PocketPerceptron(random_state=0).fit(rows + 1e4, classes)


def test_weights_are_compared_after_so_many_corrections_and_first_on_a_sample():
    """The pocket changes only after every third correction, and only where a sample agrees."""
    rows = np.array([[1.0], [2.0], [3.0], [-1.0], [-2.0], [-3.0]])
    signs, heavy = np.array([1.0, 1.0, 1.0, -1.0, -1.0, -1.0]), np.ones(6)
    order = np.array([0, 3, 1, 4, 2, 5])

    def run(updates, samples):
        weights, pocket = np.zeros(2), np.array([-1.0, 0.0])
        state, history = np.array([3.0, 0.0]), np.zeros((9, 2))
        arguments = (np.array(samples), updates, weights, pocket, state, history)
        return pocket_pass(rows, signs, heavy, order, *arguments), pocket, state

    # One correction by row 0 gives (1, 1), which row 3 lies on; row 3 corrects to (0, 2).
    (corrections, changes), pocket, state = run(1, [[0, 1, 2, 3, 4, 5]])
    assert corrections == 2
    assert changes == 2
    assert pocket.tolist() == [0.0, 2.0]
    assert state[0] == 0.0
    # A sample of positive rows sees the gain of the first correction, not of the second.
    (_, changes), pocket, _ = run(1, [[0, 1, 2]])
    assert changes == 1
    assert pocket.tolist() == [1.0, 1.0]
    # Three corrections never come, so nothing is compared.
    (_, changes), pocket, state = run(3, [[0, 1, 2]])
    assert changes == 0
    assert pocket.tolist() == [-1.0, 0.0]
    assert state[1] == 2.0
    # The pocket has the negative rows right already: a sample of them sees no gain.
    (_, changes), pocket, _ = run(1, [[3, 4, 5]])
    assert changes == 0
    assert pocket.tolist() == [-1.0, 0.0]


def test_samples_are_random_rows_of_the_wished_number(monkeypatch):
    seen = []
    plain = _pocket.pocket_pass

    def collect(*arguments):
        seen.append(arguments[4])
        return plain(*arguments)

    monkeypatch.setattr(_pocket, "pocket_pass", collect)
    rows, classes = overlapping(100)
    PocketPerceptron(sample_size=15, max_iter=3, random_state=0).fit(rows, classes)
    assert all(samples.shape[1] == 15 for samples in seen)
    assert all(len(set(sample)) == 15 for samples in seen for sample in samples)
    assert len({tuple(sample) for samples in seen for sample in samples}) > 20
