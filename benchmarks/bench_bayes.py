"""Gaussian processes beside scikit-learn's: the same optimum asserted, one thread on both sides."""

import warnings
from collections.abc import Callable

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessClassifier as TheirClassifier
from sklearn.gaussian_process import GaussianProcessRegressor as TheirRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.linear_model import BayesianRidge

from benchmarks._timing import close, print_races, race
from verulam.bayes import (
    BayesianLinearRegression,
    GaussianProcessClassifier,
    GaussianProcessRegressor,
)
from verulam.kernel import Gaussian

#: Rows of regression and of classification.
REGRESSION_ROWS = (1_000, 2_000)
CLASSIFICATION_ROWS = (200, 400)


def run() -> None:
    """Print races of fits with evidence optimisation, of predictions, and of a linear model."""
    races = []
    for n_rows in REGRESSION_ROWS:
        rows, targets = surface(n_rows)
        ours, theirs = _regressors(rows, targets)
        title = f"GP fit, {n_rows:,} rows"
        races.append(race(title, ours, "scikit-learn", theirs, same=_assert_same_optimum))
    process, peer = ours(), theirs()
    new, _ = surface(2_000, seed=1)
    races.append(
        race(
            "GP mean and std of 2,000 rows",
            lambda: process.predict(new, return_std=True),
            "scikit-learn",
            lambda: peer.predict(new, return_std=True),
            same=close(0.0, 1e-2),
        )
    )
    for n_rows in CLASSIFICATION_ROWS:
        rows, targets = surface(n_rows)
        ours, theirs = _classifiers(rows, targets > np.median(targets))
        title = f"GP classifier fit, {n_rows} rows"
        races.append(race(title, ours, "scikit-learn", theirs, same=_assert_same_optimum))
    rows, targets = surface(20_000)
    wide = np.hstack([rows**power for power in range(1, 11)])
    races.append(
        race(
            "empirical Bayes, 20,000 x 30",
            lambda: BayesianLinearRegression().fit(wide, targets),
            "scikit-learn",
            lambda: BayesianRidge().fit(wide, targets),
            same=lambda one, other: close(0.0, 1e-3)(one.predict(wide), other.predict(wide)),
        )
    )
    print_races("Bayesian estimation", races)


def surface(n_rows: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of three columns and a wavy function of them with noise."""
    random = np.random.default_rng(seed)
    rows = random.uniform(-2.0, 2.0, size=(n_rows, 3))
    wave = np.sin(2.0 * rows[:, 0]) + 0.5 * rows[:, 1] ** 2 - 0.3 * rows[:, 0] * rows[:, 2]
    return rows, wave + random.normal(scale=0.3, size=n_rows)


def _regressors(
    rows: np.ndarray, targets: np.ndarray
) -> tuple[Callable[[], GaussianProcessRegressor], Callable[[], TheirRegressor]]:
    kernel = ConstantKernel(1.0) * RBF([1.0, 1.0, 1.0]) + WhiteKernel(0.1)
    return (
        lambda: GaussianProcessRegressor(1.0 * Gaussian((1.0, 1.0, 1.0))).fit(rows, targets),
        lambda: TheirRegressor(kernel, alpha=0.0, normalize_y=True).fit(rows, targets),
    )


def _classifiers(
    rows: np.ndarray, labels: np.ndarray
) -> tuple[Callable[[], GaussianProcessClassifier], Callable[[], TheirClassifier]]:
    kernel = ConstantKernel(1.0) * RBF([1.0, 1.0, 1.0])
    return (
        lambda: GaussianProcessClassifier(1.0 * Gaussian((1.0, 1.0, 1.0))).fit(rows, labels),
        lambda: TheirClassifier(kernel).fit(rows, labels),
    )


def _assert_same_optimum(ours: object, theirs: object) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        evidence = theirs.log_marginal_likelihood_value_
    if hasattr(ours, "scale_"):
        # Theirs is that of the targets in units of their deviation.
        evidence -= len(ours.X_fit_) * np.log(ours.scale_)
    assert abs(ours.log_evidence_ - evidence) < 1e-2, (ours.log_evidence_, evidence)
