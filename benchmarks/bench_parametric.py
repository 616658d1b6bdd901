"""Parametric learners beside scikit-learn's: the same data, the same answers, in one run."""

import numpy as np
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB

from benchmarks._timing import Race, print_races, race
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
    """Print the races at 10^5 and 10^6 rows of 20 columns."""
    for n_rows in (10**5, 10**6):
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
    """Return the races of fitting and predicting, after a look at both answers."""
    ours.fit(X, y)
    theirs.fit(X, y)
    agreement = np.mean(np.isclose(ours.predict(X[:10_000]), theirs.predict(X[:10_000])))
    if agreement < 0.999:
        raise AssertionError(f"{name}: the answers agree on {agreement:.2%} of the rows only.")
    peer = type(theirs).__name__
    if getattr(theirs, "solver", "svd") != "svd":
        peer += f" ({theirs.solver})"
    methods = ["predict", "predict_proba"] if hasattr(ours, "predict_proba") else ["predict"]
    races = [race(f"{name}: fit", lambda: ours.fit(X, y), peer, lambda: theirs.fit(X, y))]
    for method in methods:
        mine, other = getattr(ours, method), getattr(theirs, method)
        races.append(race(f"{name}: {method}", lambda f=mine: f(X), peer, lambda f=other: f(X)))
    return races
