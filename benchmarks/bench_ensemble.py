"""Boosted stumps, votes, stacks and forests beside scikit-learn's, on the same work."""

from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import make_classification, make_regression
from sklearn.ensemble import AdaBoostClassifier as TheirAdaBoost
from sklearn.ensemble import BaggingClassifier as TheirBag
from sklearn.ensemble import RandomForestClassifier as TheirForest
from sklearn.ensemble import RandomForestRegressor as TheirForestOfNumbers
from sklearn.ensemble import StackingClassifier as TheirStack
from sklearn.ensemble import VotingClassifier as TheirVote
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier as TheirTree

from benchmarks._timing import Race, alike, close, print_races, race
from verulam.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
    StackingClassifier,
    VotingClassifier,
)

#: Rows and columns of the tables.
SHAPES = ((2_000, 10), (20_000, 20))
#: Boosting rounds.
N_ROUNDS = 100
#: Trees of a forest.
N_TREES = 30
#: Rows, columns and classes of the tables that forests grow on; 0 classes for numbers.
FOREST_SHAPES = (
    *((100_000, 20, 2), (100_000, 20, 5), (20_000, 50, 2), (20_000, 50, 5)),
    *((1_000, 10, 2), (20_000, 20, 0)),
)


def run() -> None:
    """Print races of training and prediction.

    Our stumps have the least weighted error and theirs the least impurity, so that they are not
    the same; ours must fit the training rows as well.
    """
    races = []
    for n_rows, n_columns in SHAPES:
        X, y = make_classification(
            n_rows, n_columns, n_informative=n_columns // 2, flip_y=0.1, random_state=0
        )
        races += _boosting(X, y) + _combining(X, y)
    for shape in FOREST_SHAPES:
        races += _forest(*shape)
    races += _forest_of_categories()
    print_races("Ensembles", races)


def _boosting(X: np.ndarray, y: np.ndarray) -> list[Race]:
    name = f"{X.shape[0]:,} x {X.shape[1]}, {N_ROUNDS} rounds"
    ours, theirs = AdaBoostClassifier(n_estimators=N_ROUNDS), TheirAdaBoost(n_estimators=N_ROUNDS)

    def as_accurate(one: Any, other: Any) -> bool:
        return one.score(X, y) > other.score(X, y) - 0.005

    return [
        race(f"stumps, fit, {name}", partial(ours.fit, X, y), "scikit-learn",
             partial(theirs.fit, X, y), same=as_accurate),
        race(f"stumps, predict, {name}", partial(ours.predict, X), "scikit-learn",
             partial(theirs.predict, X), same=alike(0.9)),
    ]  # fmt: skip


def _combining(X: np.ndarray, y: np.ndarray) -> list[Race]:
    """Return races with the same members on both sides, and the same votes."""
    name = f"{X.shape[0]:,} x {X.shape[1]}"
    parts: list[Any] = [("bayes", GaussianNB()), ("tree", TheirTree(max_depth=5, random_state=0))]
    vote, their_vote = VotingClassifier(parts), TheirVote(parts, voting="soft")
    stack = StackingClassifier(parts, GaussianNB(), random_state=0)
    their_stack = TheirStack(parts, GaussianNB(), cv=5)
    return [
        race(f"vote, fit, {name}", partial(vote.fit, X, y), "scikit-learn",
             partial(their_vote.fit, X, y),
             same=lambda one, other: close(1e-5)(one.predict_proba(X), other.predict_proba(X))),
        race(f"stack, fit, {name}", partial(stack.fit, X, y), "scikit-learn",
             partial(their_stack.fit, X, y),
             # Parts are trained on folds that each draws for itself.
             same=lambda one, other: alike(0.98)(one.predict(X), other.predict(X))),
        *(_bag(f"{kind}, {name}", part, X, y) for kind, part in parts),
    ]  # fmt: skip


def _bag(name: str, part: Any, X: np.ndarray, y: np.ndarray) -> Race:
    """Return the race of two bags, whose rows each draws for itself."""
    ours, theirs = (
        bag(part, n_estimators=10, random_state=0) for bag in (BaggingClassifier, TheirBag)
    )
    return race(f"bag of 10, {name}", partial(ours.fit, X, y), "scikit-learn",
                partial(theirs.fit, X, y),
                same=lambda one, other: alike(0.95)(one.predict(X), other.predict(X)))  # fmt: skip


def _forest(n_rows: int, n_columns: int, n_classes: int) -> list[Race]:
    """Return races of forests, which must be as accurate on rows that they have not seen."""
    n_informative, ours, theirs = n_columns // 2, RandomForestClassifier, TheirForest
    if n_classes:
        X, y = make_classification(
            2 * n_rows, n_columns, n_informative=n_informative, n_classes=n_classes, flip_y=0.05,
            random_state=0,
        )  # fmt: skip
    else:
        X, y = make_regression(
            2 * n_rows, n_columns, n_informative=n_informative, noise=10.0, random_state=0
        )
        ours, theirs = RandomForestRegressor, TheirForestOfNumbers
    kind = f"{n_classes} classes" if n_classes else "numbers"
    return _forest_races(
        f"{n_rows:,} x {n_columns}, {kind}",
        ours(N_TREES, random_state=0),
        theirs(N_TREES, random_state=0),
        (X[:n_rows], X[n_rows:]),
        (X[:n_rows], X[n_rows:]),
        y,
    )


def _forest_of_categories(n_rows: int = 20_000) -> list[Race]:
    """Return races on ten columns of numbers and ten of twelve categories, theirs as numbers."""
    random = np.random.default_rng(0)
    numbers, codes = (
        random.normal(size=(2 * n_rows, 10)),
        random.integers(12, size=(2 * n_rows, 10)),
    )
    effects = random.normal(size=(10, 12))
    score = numbers[:, :4].sum(axis=1) + sum(effects[k][codes[:, k]] for k in range(10))
    y = (score + random.normal(size=2 * n_rows) > 0).astype(int)
    table = pd.DataFrame(numbers).add_prefix("number ")
    for column in range(10):
        table[f"kind {column}"] = pd.Categorical.from_codes(codes[:, column], range(12))
    encoded = np.hstack([numbers, codes])
    return _forest_races(
        f"{n_rows:,} x 20, 2 classes, categories",
        RandomForestClassifier(N_TREES, random_state=0),
        TheirForest(N_TREES, random_state=0),
        (table[:n_rows], table[n_rows:]),
        (encoded[:n_rows], encoded[n_rows:]),
        y,
    )


def _forest_races(
    name: str, ours: Any, theirs: Any, our_rows: Any, their_rows: Any, y: np.ndarray
) -> list[Race]:
    n_rows = len(our_rows[0])
    train, test = y[:n_rows], y[n_rows:]

    def as_accurate(one: Any, other: Any) -> bool:
        return one.score(our_rows[1], test) > other.score(their_rows[1], test) - 0.01

    def as_right(one: np.ndarray, other: np.ndarray) -> bool:
        """Compare the errors of predictions, as the trees of both are drawn apart."""
        errors = [np.mean((answers - test) ** 2) for answers in (one, other)]
        return errors[0] < 1.1 * errors[1] + 0.01

    return [
        race(f"forest, fit, {name}", partial(ours.fit, our_rows[0], train), "scikit-learn",
             partial(theirs.fit, their_rows[0], train), same=as_accurate),
        race(f"forest, predict, {name}", partial(ours.predict, our_rows[1]), "scikit-learn",
             partial(theirs.predict, their_rows[1]), same=as_right),
    ]  # fmt: skip
