"""Several kernels beside MKLpy's, preferences and planes beside liblinear's, in one run."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, make_classification
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from benchmarks._timing import Race, alone, print_races, race
from verulam.kernel import (
    Gaussian,
    MultipleKernelClassifier,
    RankingMachine,
    SupportVectorClassifier,
)

WIDTHS = (1.0, 2.0, 4.0, 8.0, 16.0)
#: Passes that are enough for liblinear to come to rest.
PASSES = 100_000


def run() -> None:
    """Print the races; without MKLpy, which needs torch, our times of several kernels alone."""
    peer = _mklpy()
    if peer is None:
        print("MKLpy is not there: several kernels run without a peer")
    races = []
    for name, X, y in _tables():
        work = f"five Gaussian kernels, {name}"
        ours = MultipleKernelClassifier([Gaussian(width) for width in WIDTHS])
        if peer is None:
            print(alone(work, lambda ours=ours, X=X, y=y: ours.fit(X, y)))
            continue
        races.append(
            race(
                work,
                lambda ours=ours, X=X, y=y: ours.fit(X, y),
                "EasyMKL",
                lambda X=X, y=y: peer(X, y),
                same=partial(_fits_as_well, X, y),
            )
        )
    races += [_preferences(), *(_plane(cost) for cost in (0.1, 1.0))]
    print_races("Kernel machines: several kernels, preferences, planes", races)


def _tables() -> list[tuple[str, np.ndarray, np.ndarray]]:
    generated = make_classification(3000, 30, n_informative=10, random_state=0)
    tables = (("569 x 30", load_breast_cancer(return_X_y=True)), ("3k x 30", generated))
    return [(name, StandardScaler().fit_transform(X), y) for name, (X, y) in tables]


def _mklpy() -> Callable[[np.ndarray, np.ndarray], object] | None:
    """Return the training of EasyMKL, which has another objective, from rows to machine."""
    try:
        import torch
        from MKLpy.algorithms import EasyMKL
        from MKLpy.metrics import pairwise
    except ImportError:
        return None

    def fit(X: np.ndarray, y: np.ndarray) -> object:
        rows = torch.tensor(X)
        grams = [pairwise.rbf_kernel(rows, gamma=0.5 / width**2) for width in WIDTHS]
        learner = EasyMKL(lam=0.1, learner=SVC(C=1.0)).fit(grams, torch.tensor(y))
        learner.training_grams = grams
        return learner

    return fit


def _preferences() -> Race:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 20))
    y = X[:, 0] - X[:, 1] + rng.normal(size=1000)
    better, worse = np.nonzero(y[:, None] > y[None])
    # A pair and its label turned round are the same pair; the peer wants two classes.
    signs = rng.choice([-1.0, 1.0], size=len(better))
    cost = 1e-3
    ours = RankingMachine(kernel="linear", C=cost)
    theirs = LinearSVC(loss="hinge", C=cost, fit_intercept=False, tol=1e-3, max_iter=PASSES)

    def materialised() -> LinearSVC:
        return theirs.fit(signs[:, None] * (X[better] - X[worse]), signs)

    def objective(plane: np.ndarray) -> float:
        scores = X @ plane
        slack = np.maximum(0.0, 1.0 - (scores[better] - scores[worse]))
        return 0.5 * plane @ plane + cost * slack.sum()

    def same(one: RankingMachine, other: LinearSVC) -> None:
        plane = one.dual_coef_ @ one.support_vectors_
        _check(objective(plane), objective(other.coef_[0]))

    work = f"preferences, 1k x 20: {len(better):,} pairs"
    return race(work, lambda: ours.fit(X, y), "LinearSVC of differences", materialised, same=same)


def _plane(cost: float) -> Race:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 30))
    y = np.where(X[:, 0] - X[:, 1] + rng.normal(size=len(X)) > 0, 1.0, -1.0)
    ours = SupportVectorClassifier(kernel="linear", fit_intercept=False, C=cost, tol=1e-3)
    theirs = LinearSVC(loss="hinge", C=cost, fit_intercept=False, tol=1e-3, max_iter=PASSES)

    def objective(plane: np.ndarray) -> float:
        return 0.5 * plane @ plane + cost * np.maximum(0.0, 1.0 - y * (X @ plane)).sum()

    def same(one: SupportVectorClassifier, other: LinearSVC) -> None:
        plane = (one.dual_coef_ @ one.support_vectors_)[0]
        _check(objective(plane), objective(other.coef_[0]))

    work = f"plane without bias, 20k x 30, C = {cost:g}"
    works = (lambda: ours.fit(X, y)), (lambda: theirs.fit(X, y))
    return race(work, works[0], "LinearSVC", works[1], same=same)


def _fits_as_well(X: np.ndarray, y: np.ndarray, ours: MultipleKernelClassifier, peer: Any) -> None:
    """Compare accuracies on the training rows: the objectives are not the same."""
    theirs = np.asarray(peer.predict(peer.training_grams))
    assert ours.score(X, y) > (theirs == y).mean() - 0.02


def _check(ours: float, theirs: float) -> None:
    if ours > 1.001 * theirs:
        raise AssertionError(f"our objective {ours:g} is above the peer's {theirs:g}.")
