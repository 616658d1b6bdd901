"""What all trainers share: labels, planes, words about failure, and going on with new rows."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import get_tags
from tests.linear.examples import CORNERS, OR, XOR, overlapping, separable

from verulam.base import DataError
from verulam.linear import (
    BatchPerceptron,
    DescentDiscriminant,
    FarthestMarginPerceptron,
    GradientLogistic,
    HoKashyap,
    LeastMeanSquares,
    LinearProgramDiscriminant,
    LinearRanker,
    LogisticDiscriminant,
    MinimumSquaredError,
    OneVersusRest,
    OnlineRegression,
    Perceptron,
    Relaxation,
    Separability,
)
from verulam.linear._training import trainer as trainer_module
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


def test_trainers_say_that_they_take_two_classes_of_sparse_rows_too():
    for learner in (Perceptron(), BatchPerceptron(), LeastMeanSquares(), MinimumSquaredError()):
        tags = get_tags(learner)
        assert not tags.classifier_tags.multi_class
        assert tags.input_tags.sparse


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
    with pytest.warns(ConvergenceWarning, match="raise max_iter, or centre and scale the inputs"):
        LeastMeanSquares(max_iter=1, random_state=0).fit(*overlapping())
    with pytest.warns(ConvergenceWarning, match="raise max_iter, or let learning_rate fall"):
        LeastMeanSquares(learning_rate=0.01, max_iter=1, random_state=0).fit(*overlapping())


def test_the_mean_of_a_perceptron_on_raw_columns_is_told_to_be_scaled():
    rows, classes = separable(gap=0.4)
    with pytest.warns(ConvergenceWarning, match="Perceptron misclassifies .* scale the inputs"):
        Perceptron(average=True, max_iter=20, random_state=0).fit(rows + 1e4, classes)


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
    with pytest.warns(ConvergenceWarning, match="finite sum.*; choose slower falling rates"):
        Perceptron(margin=1.0, learning_rate=fading, max_iter=20).fit(corners, both)
    with pytest.warns(ConvergenceWarning, match="ended, but the learning rates have a finite sum"):
        LeastMeanSquares(learning_rate=fading, max_iter=50, random_state=0).fit(corners, both)


def test_rates_that_fall_too_slowly_are_said_to_keep_the_weights_moving():
    rows, classes = overlapping(60)
    slow = LeastMeanSquares(learning_rate=inverse(0.05, 0.1), max_iter=5, tol=1e-9)
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


@pytest.fixture
def wide():
    """Return rows of a hundred thousand columns, which would take 40 gigabytes as they are."""
    random = np.random.default_rng(0)
    places = random.integers(0, 100_000, size=(100_000, 5))
    values = random.normal(size=places.shape)
    starts = np.arange(0, 5 * 100_000 + 1, 5)
    table = sp.csr_array((values.ravel(), places.ravel(), starts), shape=(100_000, 100_000))
    table.sum_duplicates()
    weights = random.normal(size=100_000) * (random.random(100_000) < 0.5)
    heights = table @ weights
    clear = np.flatnonzero(np.abs(heights) > 0.2)
    assert len(clear) * 100_000 * 8 > 40e9
    return table[clear], (heights[clear] > 0).astype(int)


def _refuse_to_fill(monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("the rows were filled in")

    for name in ("toarray", "todense"):
        monkeypatch.setattr(sp.csr_array, name, refuse)
        monkeypatch.setattr(sp.csc_array, name, refuse)


@pytest.mark.parametrize(
    "learner",
    [
        Perceptron(max_iter=2, random_state=0),
        Perceptron(average=True, max_iter=2, random_state=0),
        BatchPerceptron(max_iter=5),
        Relaxation(max_iter=2, random_state=0),
        LeastMeanSquares(max_iter=2, random_state=0),
        LeastMeanSquares(mode="batch", max_iter=2),
        LogisticDiscriminant(max_iter=10),
        GradientLogistic(max_iter=2, random_state=0),
        GradientLogistic(mode="batch", max_iter=2, random_state=0),
        DescentDiscriminant(criterion="quadratic", max_iter=5),
        OneVersusRest(LogisticDiscriminant(max_iter=10)),
    ],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_compressed_rows_stay_compressed(learner, wide, monkeypatch):
    """Neither by the methods that fill in zeros, nor by a table that memory could not hold."""
    rows, classes = wide
    _refuse_to_fill(monkeypatch)
    learner.fit(rows, classes)
    decide = getattr(learner, "decision_function", lambda X: learner.predict_proba(X)[:, 1])
    heights = decide(rows)
    assert heights[classes == 1].mean() > heights[classes == 0].mean()
    if hasattr(learner, "partial_fit"):
        learner.partial_fit(rows[:100], classes[:100], classes=[0, 1])


def test_rows_of_a_regression_stay_compressed(wide, monkeypatch):
    rows, classes = wide
    _refuse_to_fill(monkeypatch)
    with pytest.warns(ConvergenceWarning):
        line = OnlineRegression(max_iter=2, random_state=0).fit(rows, classes)
    heights = line.partial_fit(rows[:100], classes[:100]).predict(rows)
    assert heights[classes == 1].mean() > heights[classes == 0].mean()


def test_ranked_rows_stay_compressed(wide, monkeypatch):
    rows, classes = wide
    _refuse_to_fill(monkeypatch)
    groups = np.arange(len(classes)) // 50
    with pytest.warns(ConvergenceWarning):
        ranker = LinearRanker(max_iter=2).fit(rows, classes, groups)
    scores = ranker.predict(rows)
    assert scores[classes == 1].mean() > scores[classes == 0].mean()


def test_chunks_in_order_are_one_pass():
    rows, classes = overlapping()
    whole = Perceptron().partial_fit(rows, classes)
    parts = Perceptron()
    for start in range(0, 200, 7):
        parts.partial_fit(rows[start : start + 7], classes[start : start + 7], classes=[0, 1])
    assert np.allclose(whole.coef_, parts.coef_)
    assert whole.n_corrections_ == parts.n_corrections_


@pytest.mark.parametrize(
    "make",
    [
        lambda: Perceptron(learning_rate=inverse(0.5, 1.0)),
        lambda: LeastMeanSquares(learning_rate=inverse(0.05, 1.0)),
        lambda: OnlineRegression(learning_rate=inverse(0.05, 1.0)),
        lambda: GradientLogistic(learning_rate=inverse(0.5, 1.0), random_state=0),
    ],
)
def test_falling_rates_go_on_falling_over_chunks(make):
    """One pass in chunks is one pass; rates that began anew would take large steps again."""
    rows, classes = overlapping()
    whole, parts, anew = make().partial_fit(rows, classes), make(), make()
    for start in range(0, 200, 40):
        chunk = slice(start, start + 40)
        parts.partial_fit(rows[chunk], classes[chunk])
    assert np.allclose(whole.coef_, parts.coef_)
    assert np.allclose(whole.intercept_, parts.intercept_)
    anew.set_params(learning_rate=make().learning_rate(1)).partial_fit(rows, classes)
    assert not np.allclose(whole.coef_, anew.coef_, rtol=0.05)


def test_the_mean_goes_on_over_chunks():
    rows, classes = overlapping()
    whole = Perceptron(average=True).partial_fit(rows, classes)
    parts = Perceptron(average=True).partial_fit(rows[:90], classes[:90])
    parts.partial_fit(rows[90:], classes[90:])
    assert np.allclose(whole.coef_, parts.coef_)


def test_training_goes_on_from_a_fit():
    rows, classes = separable()
    trainer = Perceptron(random_state=0).fit(rows, classes)
    before = trainer.coef_.copy()
    trainer.partial_fit(rows, classes)
    assert np.array_equal(trainer.coef_, before)
    assert trainer.converged_


def test_a_constant_rate_follows_a_change():
    random = np.random.default_rng(0)
    unit = LeastMeanSquares(learning_rate=0.01)
    for direction in (1.0, -1.0):
        for _ in range(20):
            rows = random.normal(size=(50, 2))
            unit.partial_fit(rows, (direction * rows[:, 0] > 0).astype(int), classes=[0, 1])
        assert np.sign(unit.coef_[0, 0]) == direction


@pytest.mark.parametrize(
    ("labels", "classes", "message"),
    [
        ([0, 2], None, "label '2', which is not among"),
        ([0, 1], [0, 5], "not those of the first call"),
    ],
)
def test_labels_must_stay_the_same(labels, classes, message):
    trainer = Perceptron().partial_fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(DataError, match=message):
        trainer.partial_fit([[0.0], [1.0]], labels, classes=classes)


def test_the_first_chunk_needs_both_labels():
    with pytest.raises(DataError, match="only one class"):
        Perceptron().partial_fit([[0.0]], [1])


@pytest.mark.parametrize(
    "learner",
    [
        Perceptron(),
        Perceptron(average=True),
        LeastMeanSquares(),
        GradientLogistic(random_state=0),
        OnlineRegression(),
    ],
)
def test_what_is_kept_does_not_grow_with_the_stream(learner):
    """Memory is that of the weights, whatever the number of rows seen."""
    random, sizes = np.random.default_rng(0), []
    for number in range(60):
        rows = random.normal(size=(200, 3))
        learner.partial_fit(rows, (rows[:, 0] > 0).astype(int))
        if number in (9, 59):
            sizes.append(len(pickle.dumps(learner)))
    assert abs(sizes[1] - sizes[0]) < 16
    assert sizes[1] < 200 * 3 * 8
