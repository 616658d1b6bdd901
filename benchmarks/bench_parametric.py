"""Parametric learners beside scikit-learn's: the same data, the same answers, in one run."""

from functools import partial

import numpy as np
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB

from benchmarks._timing import Race, alike, close, print_races, race
from verulam.parametric import GaussianClassifier, LeastSquares, NaiveBayes

PAIRS = (
    ("naive Bayes", NaiveBayes(), GaussianNB()),
    ("shared covariance", GaussianClassifier(), LinearDiscriminantAnalysis()),
    ("shared covariance", GaussianClassifier(), LinearDiscriminantAnalysis(solver="lsqr")),
    (
        "a covariance for each class",
        GaussianClassifier(covariance_type="full"),
        QuadraticDiscriminantAnalysis(),
    ),
)


def run() -> None:
    """Print the races at 10^4 and 10^5 rows of 20 columns."""
    for n_rows in (10**4, 10**5):
        rng = np.random.default_rng(0)
        y = rng.integers(3, size=n_rows)
        X = rng.normal(size=(n_rows, 20)) + 0.3 * y[:, None]
        races: list[Race] = []
        for name, ours, theirs in PAIRS:
            races += _races(name, ours, theirs, X, y)
        target = X @ rng.normal(size=20) + rng.normal(size=n_rows)
        races += _races("least squares", LeastSquares(), LinearRegression(), X, target)
        print_races(f"Parametric learners, {n_rows:,} rows x 20", races)


def _races(name, ours, theirs, X, y) -> list[Race]:
    """Return the races of fitting and predicting, each with a look at both answers."""
    labels = hasattr(ours, "predict_proba")
    same = alike() if labels else close(1e-8, 1e-10)
    part = X[:10_000]
    peer = type(theirs).__name__
    if getattr(theirs, "solver", "svd") != "svd":
        peer += f" ({theirs.solver})"
    methods = ["predict", "predict_proba"] if hasattr(ours, "predict_proba") else ["predict"]
    races = [
        race(
            f"{name}: fit",
            lambda: ours.fit(X, y),
            peer,
            lambda: theirs.fit(X, y),
            same=lambda one, other: same(one.predict(part), other.predict(part)),
        )
    ]
    for method in methods:
        works = [partial(getattr(learner, method), X) for learner in (ours, theirs)]
        check = same if method == "predict" else close(0, 1e-3)
        races.append(race(f"{name}: {method}", works[0], peer, works[1], same=check))
    return races
