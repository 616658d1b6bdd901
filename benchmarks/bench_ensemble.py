"""Boosted stumps, bags, votes and stacks beside scikit-learn's, on the same work."""

from functools import partial
from typing import Any

import numpy as np
from sklearn.datasets import make_classification
from sklearn.ensemble import AdaBoostClassifier as TheirAdaBoost
from sklearn.ensemble import StackingClassifier as TheirStack
from sklearn.ensemble import VotingClassifier as TheirVote
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier as TheirTree

from benchmarks._timing import Race, print_races, race
from verulam.ensemble import AdaBoostClassifier, StackingClassifier, VotingClassifier

#: Rows and columns of the tables.
SHAPES = ((2_000, 10), (20_000, 20))
#: Boosting rounds.
N_ROUNDS = 100


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
    print_races("Ensembles", races)


def _boosting(X: np.ndarray, y: np.ndarray) -> list[Race]:
    name = f"{X.shape[0]:,} x {X.shape[1]}, {N_ROUNDS} rounds"
    ours, theirs = AdaBoostClassifier(n_estimators=N_ROUNDS), TheirAdaBoost(n_estimators=N_ROUNDS)
    assert ours.fit(X, y).score(X, y) > theirs.fit(X, y).score(X, y) - 0.005
    return [
        race(f"stumps, fit, {name}", partial(ours.fit, X, y), "scikit-learn",
             partial(theirs.fit, X, y)),
        race(f"stumps, predict, {name}", partial(ours.predict, X), "scikit-learn",
             partial(theirs.predict, X)),
    ]  # fmt: skip


def _combining(X: np.ndarray, y: np.ndarray) -> list[Race]:
    """Return races with the same members on both sides, and the same votes."""
    name = f"{X.shape[0]:,} x {X.shape[1]}"
    parts: list[Any] = [("bayes", GaussianNB()), ("tree", TheirTree(max_depth=5, random_state=0))]
    vote, their_vote = VotingClassifier(parts), TheirVote(parts, voting="soft")
    assert np.allclose(vote.fit(X, y).predict_proba(X), their_vote.fit(X, y).predict_proba(X))
    stack = StackingClassifier(parts, GaussianNB(), random_state=0)
    their_stack = TheirStack(parts, GaussianNB(), cv=5)
    return [
        race(f"vote, fit, {name}", partial(vote.fit, X, y), "scikit-learn",
             partial(their_vote.fit, X, y)),
        race(f"stack, fit, {name}", partial(stack.fit, X, y), "scikit-learn",
             partial(their_stack.fit, X, y)),
    ]  # fmt: skip
