"""Bags, subspaces, committees, pools and stability."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.metrics import r2_score
from sklearn.tree import DecisionTreeClassifier as TheirTree

from verulam.base import DataError
from verulam.data import dataset
from verulam.ensemble import (
    BaggingClassifier,
    BaggingRegressor,
    Stability,
    VotingClassifier,
    build_pool,
    stability,
)
from verulam.nonparametric import CondensedNeighbours, KNeighborsClassifier
from verulam.parametric import NaiveBayes
from verulam.tree import DecisionTreeClassifier, DecisionTreeRegressor

WINE, MPG, TITANIC, DIGITS = map(dataset, ("wine", "auto_mpg", "titanic", "digits"))
X, Y = WINE.inputs.to_numpy(), np.asarray(WINE.target_values)


def test_a_bag_is_the_vote_of_members_on_their_rows():
    # Leaves of several classes, so that probabilities are no votes.
    tree = TheirTree(max_depth=1, random_state=0)
    bag = BaggingClassifier(tree, n_estimators=5, random_state=1).fit(X, Y)
    seeds = [member.random_state for member in bag.estimators_]
    assert len(set(seeds)) == 5
    again = [
        TheirTree(max_depth=1, random_state=seed).fit(X[rows], Y[rows])
        for seed, rows in zip(seeds, bag.rows_, strict=True)
    ]
    assert np.allclose(
        bag.predict_proba(X), np.mean([tree.predict_proba(X) for tree in again], axis=0)
    )
    assert bag.member_outputs(X).values.shape == (5, 178, 3)
    assert bag.evaluations_ == 5


def test_bootstraps_have_the_expected_share_of_rows():
    bag = BaggingClassifier(NaiveBayes(), n_estimators=40, random_state=0).fit(X, Y)
    shares = [len(np.unique(rows)) / 178 for rows in bag.rows_]
    assert np.mean(shares) == pytest.approx(1 - np.exp(-1), abs=0.01)
    assert all(len(rows) == 178 for rows in bag.rows_)
    small = BaggingClassifier(NaiveBayes(), n_estimators=3, max_samples=0.5, random_state=0).fit(
        X, Y
    )
    assert all(len(rows) == 89 for rows in small.rows_)


def test_out_of_bag_rows_judge_as_fresh_rows_do():
    train = np.arange(len(DIGITS.target_values)) % 2 == 0
    inputs, labels = DIGITS.inputs.to_numpy(), np.asarray(DIGITS.target_values)
    bag = BaggingClassifier(n_estimators=25, oob_score=True, random_state=0)
    bag.fit(inputs[train], labels[train])
    assert bag.oob_score_ == pytest.approx(bag.score(inputs[~train], labels[~train]), abs=0.04)
    tree = DecisionTreeClassifier().fit(inputs[train], labels[train])
    assert (
        bag.score(inputs[~train], labels[~train])
        > tree.score(inputs[~train], labels[~train]) + 0.05
    )


def test_a_bag_is_judged_by_rows_aside_only_if_asked():
    """As in scikit-learn: to judge costs as many predictions as there are members."""
    for bag, targets in ((BaggingClassifier(NaiveBayes()), Y), (BaggingRegressor(), X[:, 0])):
        bag.set_params(n_estimators=2, random_state=0)
        assert not hasattr(bag.fit(X, targets), "oob_score_")
        assert bag.set_params(oob_score=True).fit(X, targets).oob_score_ <= 1.0
        assert not hasattr(bag.set_params(oob_score=False).fit(X, targets), "oob_score_")


def test_out_of_bag_scores_are_those_of_their_definition():
    bag = BaggingClassifier(NaiveBayes(), n_estimators=5, oob_score=True, random_state=0).fit(X, Y)
    votes = np.zeros((len(Y), 3))
    for member, rows in zip(bag.estimators_, bag.rows_, strict=True):
        aside = np.setdiff1d(np.arange(len(Y)), rows)
        votes[aside] += member.predict_proba(X[aside])
    judged = votes.any(axis=1)
    right = bag.classes_[votes[judged].argmax(axis=1)] == Y[judged]
    assert bag.oob_score_ == pytest.approx(right.mean())
    numbers = BaggingRegressor(n_estimators=5, oob_score=True, random_state=0).fit(
        X[:, 1:], X[:, 0]
    )
    values = np.full((5, len(Y)), np.nan)
    for place, (member, rows) in enumerate(zip(numbers.estimators_, numbers.rows_, strict=True)):
        aside = np.setdiff1d(np.arange(len(Y)), rows)
        values[place, aside] = member.predict(X[aside, 1:])
    judged = ~np.isnan(values).all(axis=0)
    assert not judged.all()
    score = r2_score(X[judged, 0], np.nanmean(values[:, judged], axis=0))
    assert numbers.oob_score_ == pytest.approx(score)


def test_random_subspaces_see_some_columns_each():
    bag = BaggingClassifier(
        NaiveBayes(), n_estimators=6, sampling="subsets", max_features=4, random_state=0
    )
    bag.fit(X, Y)
    columns = [tuple(member.steps[0][1].positions_) for member in bag.estimators_]
    assert all(len(view) == 4 for view in columns)
    assert len(set(columns)) > 1
    assert all(len(rows) == 178 for rows in bag.rows_)
    share = BaggingClassifier(NaiveBayes(), n_estimators=2, max_features=0.5, random_state=0).fit(
        X, Y
    )
    assert len(share.estimators_[0].steps[0][1].positions_) == 6
    mixed = BaggingClassifier(n_estimators=4, max_features=0.6, oob_score=True, random_state=0)
    assert mixed.fit(TITANIC.inputs, TITANIC.target_values).oob_score_ > 0.7


def test_a_committee_leaves_out_one_fold_for_each():
    bag = BaggingClassifier(
        NaiveBayes(), n_estimators=5, sampling="folds", oob_score=True, random_state=0
    ).fit(X, Y)
    left_out = [np.setdiff1d(np.arange(178), rows) for rows in bag.rows_]
    assert np.array_equal(np.sort(np.concatenate(left_out)), np.arange(178))
    first, second = set(bag.rows_[0]), set(bag.rows_[1])
    assert len(first & second) / len(first) == pytest.approx((5 - 2) / (5 - 1), abs=0.01)
    assert bag.oob_score_ == pytest.approx(0.97, abs=0.03)


def test_threads_do_not_change_a_bag():
    one, two = (
        BaggingClassifier(n_estimators=6, n_jobs=n_jobs, random_state=3).fit(X, Y)
        for n_jobs in (None, 2)
    )
    assert np.array_equal(one.predict_proba(X), two.predict_proba(X))


def test_regressors_are_averaged_or_their_median_is_taken():
    for rule, centre in (("mean", np.mean), ("median", np.median)):
        bag = BaggingRegressor(n_estimators=7, rule=rule, oob_score=True, random_state=0).fit(
            MPG.inputs, MPG.target_values
        )
        values = [member.predict(MPG.inputs) for member in bag.estimators_]
        assert np.allclose(bag.predict(MPG.inputs), centre(values, axis=0))
        assert 0.7 < bag.oob_score_ < 0.95


def test_condensed_neighbours_can_vote():
    bag = BaggingClassifier(
        CondensedNeighbours(), n_estimators=11, rule="plurality", oob_score=True, random_state=0
    )
    inputs = (X - X.mean(axis=0)) / X.std(axis=0)
    bag.fit(inputs, Y)
    single = CondensedNeighbours(random_state=0).fit(inputs, Y)
    assert bag.oob_score_ >= stability(single, inputs, Y, n_samples=5, random_state=0).error
    assert len({len(member.rows_) for member in bag.estimators_}) > 1


def test_neighbours_are_stable_and_trees_and_condensed_neighbours_are_not():
    inputs, labels = DIGITS.inputs.to_numpy()[:400], np.asarray(DIGITS.target_values)[:400]
    records = [
        stability(learner, inputs, labels, n_samples=6, random_state=0)
        for learner in (
            KNeighborsClassifier(n_neighbors=1),
            CondensedNeighbours(),
            DecisionTreeClassifier(),
        )
    ]
    near, condensed, tree = records
    assert isinstance(near, Stability)
    assert near.disagreement < condensed.disagreement < tree.disagreement
    assert near.correlation > max(condensed.correlation, tree.correlation)
    numbers = MPG.inputs.select_dtypes("number").fillna(0.0)
    line = stability(LinearRegression(), numbers, MPG.target_values, n_samples=5, random_state=0)
    grown = stability(
        BaggingRegressor(n_estimators=1), numbers, MPG.target_values, n_samples=5, random_state=0
    )
    assert line.disagreement < grown.disagreement
    assert line.correlation > grown.correlation
    with pytest.raises(DataError, match="two samples or more"):
        stability(NaiveBayes(), X, Y, n_samples=1)


def test_a_pool_crosses_kinds_settings_states_and_columns():
    pool = build_pool(
        {"near": KNeighborsClassifier(), "tree": DecisionTreeClassifier(max_features=2)},
        settings={"near": {"n_neighbors": [1, 5]}}, n_states=2,
        columns={"first": [0, 1, 2], "rest": range(3, 13)}, random_state=0,
    )  # fmt: skip
    assert len(pool) == (2 + 1) * 2 * 2
    names = [name for name, _ in pool]
    assert len(set(names)) == len(pool)
    assert "tree, rest, state 2" in names
    states = [
        part.steps[-1][1].random_state for name, part in pool if name.startswith("tree, rest")
    ]
    assert len(set(states)) == 2
    again = build_pool(
        {"tree": DecisionTreeClassifier()},
        n_columns=13,
        column_share=0.4,
        n_subsets=3,
        random_state=1,
    )
    same = build_pool(
        {"tree": DecisionTreeClassifier()},
        n_columns=13,
        column_share=0.4,
        n_subsets=3,
        random_state=1,
    )
    subsets = [part.steps[0][1].columns for _, part in again]
    assert subsets == [part.steps[0][1].columns for _, part in same]
    assert [len(subset) for subset in subsets] == [5, 5, 5]
    assert VotingClassifier(pool).fit(X, Y).score(X, Y) > 0.9
    assert [name for name, _ in build_pool([NaiveBayes()])] == ["NaiveBayes"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_features": 20}, "the table has 13 columns"),
        ({"sampling": "subsets", "max_samples": 200}, "the table has 178 rows"),
        ({"sampling": "folds", "n_estimators": 1}, "between 2 and"),
    ],
)
def test_bags_that_cannot_be_drawn(options, message):
    with pytest.raises(DataError, match=message):
        BaggingClassifier(NaiveBayes(), **options).fit(X, Y)


def test_pools_that_cannot_be_built():
    with pytest.raises(DataError, match="estimators is empty"):
        build_pool({})
    with pytest.raises(DataError, match="'bush', which is not among"):
        build_pool({"tree": DecisionTreeClassifier()}, settings={"bush": {}})
    with pytest.raises(DataError, match="column_share=2"):
        build_pool({"tree": DecisionTreeClassifier()}, n_columns=4, column_share=2)


@pytest.mark.parametrize(
    ("kind", "base"),
    [
        (BaggingClassifier, DecisionTreeClassifier(max_depth=2)),
        (BaggingRegressor, DecisionTreeRegressor(max_depth=2)),
    ],
)
def test_weights_of_rows_reach_all_members(kind, base):
    random = np.random.default_rng(0)
    X, y = random.normal(size=(80, 3)), random.integers(2, size=80)
    weights = random.uniform(0.1, 5.0, size=80)
    bag = kind(base, n_estimators=4, random_state=0).fit(X, y, sample_weight=weights)
    for member, rows in zip(bag.estimators_, bag.rows_, strict=True):
        alone = clone(base).fit(X[rows], y[rows], sample_weight=weights[rows])
        assert np.allclose(member.predict(X), alone.predict(X))
    plain = kind(base, n_estimators=4, random_state=0).fit(X, y)
    assert not np.array_equal(plain.predict(X), bag.predict(X))


def test_weights_that_cannot_be_used_are_refused():
    X, y = np.arange(10.0)[:, None], np.arange(10) % 2
    with pytest.raises(DataError, match="the estimator KNeighborsClassifier takes no weights"):
        BaggingClassifier(KNeighborsClassifier()).fit(X, y, sample_weight=np.ones(10))
    with pytest.raises(DataError, match="zero for every row"):
        BaggingClassifier(n_estimators=2).fit(X, y, sample_weight=np.zeros(10))
