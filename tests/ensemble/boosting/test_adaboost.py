"""AdaBoost: the invariant of each round, stumps against brute force, both ways of weighting."""

import numpy as np
import pytest
from sklearn.ensemble import AdaBoostClassifier as TheirAdaBoost
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier as TheirTree

from verulam.base import DataError, DataWarning
from verulam.data import dataset, four_spirals
from verulam.ensemble import (
    AdaBoostClassifier,
    DecisionStump,
    MarginTrace,
    Stump,
    boosting_weights,
    margin_trace,
)
from verulam.ensemble._boosting.stump_loops import best_cut_of_classes, extreme_cuts
from verulam.linear import BasisExpansion, MinimumSquaredError
from verulam.nonparametric import KNeighborsClassifier
from verulam.parametric import NaiveBayes
from verulam.tree import DecisionTreeClassifier

CANCER, IRIS, TITANIC = dataset("breast_cancer"), dataset("iris"), dataset("titanic")
X, Y = CANCER.inputs.to_numpy(), CANCER.target_values


def least_error(inputs, codes, weights):
    """Return the least weighted error of any cut, by trying all of them."""
    n_classes = codes.max() + 1
    best = weights.sum() - np.bincount(codes, weights).max()
    for column in inputs.T:
        for threshold in np.unique(column)[:-1]:
            left = column <= threshold
            right_weight = sum(
                np.bincount(codes[side], weights[side], minlength=n_classes).max()
                for side in (left, ~left)
            )
            best = min(best, weights.sum() - right_weight)
    return best


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_stumps_have_the_least_error_of_all(n_classes):
    random = np.random.default_rng(n_classes)
    for _ in range(8):
        inputs = random.integers(0, 6, size=(25, 3)).astype(float)
        codes = random.integers(0, n_classes, size=25)
        weights = random.random(25)
        stump = DecisionStump().fit(inputs, codes, sample_weight=weights)
        error = weights @ (stump.predict(inputs) != codes)
        assert error == pytest.approx(least_error(inputs, codes, weights))


def test_a_stump_of_constant_columns_answers_the_heaviest_class():
    stump = DecisionStump().fit(np.zeros((4, 2)), list("abbb"))
    assert stump.stump_ == Stump(-1, 0.0, 1, 1)
    assert stump.predict([[5.0, 5.0]]).tolist() == ["b"]
    with pytest.raises(DataError, match="zero in all rows"):
        DecisionStump().fit([[1.0], [2.0]], [0, 1], sample_weight=[0.0, 0.0])
    with pytest.raises(DataError, match="2 rows and y 3"):
        DecisionStump().fit([[1.0], [2.0]], [0, 1, 0])


def test_a_threshold_between_neighbouring_numbers_still_cuts():
    low = 1.0
    high = np.nextafter(low, 2.0)
    stump = DecisionStump().fit([[low], [high]], [0, 1])
    assert stump.predict([[low], [high]]).tolist() == [0, 1]


def test_compiled_loops_are_the_plain_ones():
    random = np.random.default_rng(0)
    inputs, codes, weights = (
        random.normal(size=(30, 2)),
        random.integers(0, 3, size=30),
        random.random(30),
    )
    order = np.argsort(inputs.T, axis=1).astype(np.int32)
    ranked = np.take_along_axis(inputs.T, order, axis=1)
    signed = np.where(codes == 1, weights, -weights)
    assert extreme_cuts(order, ranked, signed, 0.0) == extreme_cuts.py_func(
        order, ranked, signed, 0.0
    )
    arguments = (order, ranked, codes, weights, np.empty(3))
    buffers = np.empty(30), np.empty(30, dtype=np.int64)
    assert best_cut_of_classes(*arguments, *buffers, 0.0) == best_cut_of_classes.py_func(
        *arguments, *buffers, 0.0
    )


@pytest.mark.parametrize(
    "model",
    [
        AdaBoostClassifier(n_estimators=15),
        AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=10),
        AdaBoostClassifier(NaiveBayes(), n_estimators=10),
        AdaBoostClassifier(
            KNeighborsClassifier(n_neighbors=15),
            method="resampling",
            n_estimators=6,
            random_state=0,
        ),
    ],
    ids=["stumps", "trees", "naive Bayes", "resampled neighbours"],
)
def test_after_each_round_the_last_member_has_a_weighted_error_of_one_half(model):
    boost = model.fit(X, Y)
    path = boosting_weights(boost, X, Y)
    assert np.allclose(path.sum(axis=1), 1)
    table = np.asarray(X, dtype=float)
    checked = 0
    for number, learner in enumerate(boost.estimators_):
        wrong = boost.classes_[boost._codes(learner, table)] != Y
        assert path[number] @ wrong == pytest.approx(boost.errors_[number], abs=1e-9)
        if boost.errors_[number] > 1e-6:
            assert path[number + 1] @ wrong == pytest.approx(0.5)
            checked += 1
    assert checked >= 3


def test_rounds_of_the_printed_algorithm_in_plain_numpy():
    rows, labels = X[:80, :4], (Y[:80] == Y[0]).astype(int)
    boost = AdaBoostClassifier(n_estimators=5).fit(rows, labels)
    p, score = np.full(80, 1 / 80), np.zeros((80, 2))
    for number in range(5):
        member = DecisionStump().fit(rows, labels, sample_weight=p)
        answers = member.predict(rows)
        epsilon = p @ (answers != labels)
        beta = epsilon / (1 - epsilon)
        assert boost.errors_[number] == pytest.approx(epsilon)
        assert boost.votes_[number] == pytest.approx(np.log(1 / beta))
        assert boost.member_errors_[number] == pytest.approx((answers != labels).mean())
        score[np.arange(80), answers] += np.log(1 / beta)
        assert boost.training_errors_[number] == pytest.approx(
            (score.argmax(axis=1) != labels).mean()
        )
        p = np.where(answers == labels, p * beta, p)
        p /= p.sum()
    assert np.allclose(boost.predict_proba(rows), score / score.sum(axis=1, keepdims=True))


def test_stumps_in_closed_form_are_boosted_stumps():
    for rows, labels in ((X, Y), (IRIS.inputs.to_numpy(), IRIS.target_values)):
        quick = AdaBoostClassifier(n_estimators=10).fit(rows, labels)
        general = AdaBoostClassifier(DecisionStump(), n_estimators=10).fit(rows, labels)
        assert np.allclose(quick.errors_, general.errors_)
        assert (quick.predict(rows) == general.predict(rows)).all()


def test_samme_with_trees_is_that_of_scikit_learn():
    rows, labels = IRIS.inputs.to_numpy(), IRIS.target_values
    tree = TheirTree(max_depth=1, random_state=0)
    ours = AdaBoostClassifier(tree, n_estimators=8, kind="samme").fit(rows, labels)
    theirs = TheirAdaBoost(tree, n_estimators=8).fit(rows, labels)
    assert np.allclose(ours.errors_[:8], theirs.estimator_errors_, atol=1e-6)
    assert (ours.predict(rows) == theirs.predict(rows)).all()


def test_training_stops_at_one_half_or_goes_on():
    random = np.random.default_rng(0)
    rows, labels = random.normal(size=(40, 1)), np.arange(40) % 4
    with pytest.warns(DataWarning, match="first member errs on 63 %.*kind='samme'"):
        stopped = AdaBoostClassifier(n_estimators=30).fit(rows, labels)
    assert len(stopped.votes_) == 1
    assert stopped.errors_[-1] >= 0.5
    going = AdaBoostClassifier(n_estimators=30, at_half="continue").fit(rows, labels)
    assert len(going.votes_) == 30
    assert (going.votes_ < 0).any()
    assert np.isfinite(going.predict_proba(rows)).all()


def test_an_error_of_zero_ends_the_training_with_a_finite_vote():
    boost = AdaBoostClassifier(DecisionTreeClassifier(), n_estimators=10).fit(X, Y)
    assert len(boost.votes_) == 1
    assert boost.errors_.tolist() == [0.0]
    assert np.isfinite(boost.votes_).all()
    assert boost.score(X, Y) == 1.0


def test_resampling_draws_by_weight_and_takes_any_learner():
    with pytest.raises(DataError, match="method='resampling'"):
        AdaBoostClassifier(KNeighborsClassifier()).fit(X, Y)
    first = AdaBoostClassifier(method="resampling", n_estimators=10, random_state=1).fit(X, Y)
    second = AdaBoostClassifier(method="resampling", n_estimators=10, random_state=1).fit(X, Y)
    assert np.array_equal(first.errors_, second.errors_)
    assert first.training_errors_[-1] < first.member_errors_[0]


def test_weights_of_rows_are_repetitions():
    weights = np.random.default_rng(2).integers(0, 3, size=len(Y))
    weighted = AdaBoostClassifier(n_estimators=10).fit(X, Y, sample_weight=weights)
    repeated = AdaBoostClassifier(n_estimators=10).fit(
        np.repeat(X, weights, axis=0), np.repeat(Y, weights)
    )
    assert np.allclose(weighted.errors_, repeated.errors_)
    with pytest.raises(DataError, match="zero in all rows"):
        AdaBoostClassifier().fit(X, Y, sample_weight=np.zeros(len(Y)))


def test_categories_and_gaps_are_boosted_as_they_are():
    boost = AdaBoostClassifier(n_estimators=20).fit(TITANIC.inputs, TITANIC.target_values)
    assert boost.score(TITANIC.inputs, TITANIC.target_values) > 0.8
    assert isinstance(boost.estimators_[0], DecisionTreeClassifier)


def test_boosting_beats_its_members_on_fresh_rows():
    train = np.arange(len(Y)) % 2 == 0
    boost = AdaBoostClassifier(n_estimators=50).fit(X[train], Y[train])
    stump = DecisionStump().fit(X[train], Y[train])
    assert boost.score(X[~train], Y[~train]) > stump.score(X[~train], Y[~train]) + 0.02


def rbf_network(n_centres):
    return make_pipeline(
        BasisExpansion(kind="bumps", n_functions=n_centres, random_state=0), MinimumSquaredError()
    )


def test_a_network_of_radial_units_is_boosted_as_its_parts_are():
    """Centres and a linear layer, by the parameters that are given to the weak learner."""
    spirals = four_spirals(200, random_state=0)
    rows, labels = spirals.inputs.to_numpy(), spirals.target_values
    boost = AdaBoostClassifier(rbf_network(12), n_estimators=6, random_state=0).fit(rows, labels)
    first = rbf_network(12).fit(
        rows, labels, minimumsquarederror__sample_weight=np.ones(len(labels))
    )
    assert boost.member_errors_[0] == pytest.approx((first.predict(rows) != labels).mean())
    assert len(boost.member_errors_) == len(boost.errors_) >= 2
    assert boost.training_errors_.min() <= boost.member_errors_[0]


def test_margins_lie_between_minus_one_and_one_and_grow():
    boost = AdaBoostClassifier(n_estimators=60).fit(X, Y)
    trace = margin_trace(boost, X, Y)
    assert isinstance(trace, MarginTrace)
    assert trace.margins.shape == (60, len(Y))
    assert np.abs(trace.margins).max() <= 1 + 1e-12
    assert ((trace.margins[-1] <= 0).mean()) == pytest.approx(boost.training_errors_[-1])
    assert trace.smallest[-1] > trace.smallest[0]
    ordered, shares = trace.cumulative()
    assert (np.diff(ordered) >= 0).all()
    assert shares[-1] == 1.0


def test_margins_by_their_definition():
    boost = AdaBoostClassifier(n_estimators=3).fit(IRIS.inputs, IRIS.target_values)
    *_, votes = boost.staged_votes(IRIS.inputs)
    codes = np.searchsorted(boost.classes_, IRIS.target_values)
    expected = [
        votes[row, code] - np.delete(votes[row], code).max() for row, code in enumerate(codes)
    ]
    assert np.allclose(margin_trace(boost, IRIS.inputs, IRIS.target_values).margins[-1], expected)
    with pytest.raises(DataError, match="labels other than"):
        margin_trace(boost, IRIS.inputs, ["weed"] * 150)
    with pytest.raises(DataError, match="150 rows and y 2"):
        margin_trace(boost, IRIS.inputs, IRIS.target_values[:2])
