"""Kernel machines beside scikit-learn's libsvm: same tolerance, same cache, in one run."""

import numpy as np
from sklearn.svm import SVC, SVR, OneClassSVM

from benchmarks._timing import Race, alike, close, print_races, race
from verulam.kernel import (
    OneClassMachine,
    SupportVectorClassifier,
    SupportVectorRegressor,
    cost_path,
)

COSTS = np.logspace(-2, 2, 10)


def run() -> None:
    """Print the races of fitting, predicting and a path of costs."""
    races = [
        _fit("C-SVM, small data, 300 x 20, C = 1", 300, 1.0),
        _fit("C-SVM, 3k x 20, C = 1", 3_000, 1.0),
        _fit("C-SVM, 10k x 20, C = 1", 10_000, 1.0),
        _fit("C-SVM, 3k x 20, C = 100", 3_000, 100.0),
        _regression(),
        _one_class(),
        _prediction(),
        _path(),
    ]
    print_races("Kernel machines, Gaussian kernel", races)


def _classes(n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 20))
    return X, (X[:, 0] * X[:, 1] + X[:, 2] + 0.5 * rng.normal(size=n_rows) > 0).astype(int)


def _fit(work: str, n_rows: int, cost: float) -> Race:
    X, y = _classes(n_rows)
    ours, theirs = SupportVectorClassifier(C=cost), SVC(C=cost)

    def same(one: SupportVectorClassifier, other: SVC) -> None:
        alike()(one.predict(X[:2000]), other.predict(X[:2000]))

    return race(work, lambda: ours.fit(X, y), "SVC", lambda: theirs.fit(X, y), same=same)


def _regression() -> Race:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5000, 10))
    y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.2 * rng.normal(size=5000)
    ours, theirs = SupportVectorRegressor(), SVR()

    def same(one: SupportVectorRegressor, other: SVR) -> None:
        # Both stop at violations of 1e-3, which let predictions differ by about as much.
        close(0.0, 0.02)(one.predict(X), other.predict(X))

    return race("SVR, 5k x 10", lambda: ours.fit(X, y), "SVR", lambda: theirs.fit(X, y), same=same)


def _one_class() -> Race:
    X, _ = _classes(10_000)
    ours, theirs = OneClassMachine(nu=0.1), OneClassSVM(nu=0.1)
    return race(
        "one class, 10k x 20",
        lambda: ours.fit(X),
        "OneClassSVM",
        lambda: theirs.fit(X),
        same=lambda one, other: alike(0.995)(one.predict(X), other.predict(X)),
    )


def _prediction() -> Race:
    X, y = _classes(5000)
    queries, _ = _classes(100_000)
    ours, theirs = SupportVectorClassifier().fit(X, y), SVC().fit(X, y)
    return race(
        "predict 100k",
        lambda: ours.predict(queries),
        "SVC",
        lambda: theirs.predict(queries),
        same=alike(),
    )


def _path() -> Race:
    X, y = _classes(3000)

    def one_by_one() -> list[SupportVectorClassifier]:
        return [SupportVectorClassifier(C=float(cost)).fit(X, y) for cost in COSTS]

    def path() -> list[SupportVectorClassifier]:
        return cost_path(SupportVectorClassifier(), X, y, COSTS).classifiers

    def same(ones: list[SupportVectorClassifier], others: list[SupportVectorClassifier]) -> None:
        for one, other in zip(ones, others, strict=True):
            alike()(one.predict(X), other.predict(X))

    return race("path of 10 costs, 3k x 20", path, "ours, one by one", one_by_one, same=same)
