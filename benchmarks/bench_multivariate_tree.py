"""Multivariate trees beside scikit-learn's univariate one on rotated data: size, accuracy, time."""

import time

import numpy as np
from sklearn.model_selection import StratifiedKFold, cross_validate
from sklearn.tree import DecisionTreeClassifier as TheirTree

from verulam.tree import MultivariateTreeClassifier

KINDS = ("univariate", "lda", "logistic", "cart", "oc1", "gaussian", "quadratic", "network")
N_ROWS, N_FOLDS = 1000, 10


def run() -> None:
    """Print size, accuracy and time on three generated sets, and the growth of the cost."""
    for n_inputs, noise, n_classes in ((2, 0.0, 2), (5, 0.0, 4), (10, 0.2, 4)):
        X, y = rotated(N_ROWS, n_inputs, noise, n_classes)
        title = f"{N_ROWS} rows, {n_inputs} inputs, {n_classes} classes, noise {noise}"
        print(f"\nRotated data: {title} ({N_FOLDS}-fold cross-validation)")
        print(f"  {'tree':<40}{'accuracy':>9}{'leaves':>8}{'fit':>11}")
        _print_row("scikit-learn, univariate", TheirTree(random_state=0), X, y)
        for kind in (*KINDS, "omnivariate"):
            learner = MultivariateTreeClassifier(kind, n_init=3, random_state=0)
            _print_row(f"MultivariateTreeClassifier {kind}", learner, X, y)
    _print_growth()


def rotated(n_rows: int, n_inputs: int, noise: float, n_classes: int, seed: int = 0):
    """Return rows whose classes are boxes in coordinates turned at random."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n_rows, n_inputs))
    turned = X @ np.linalg.qr(random.normal(size=(n_inputs, n_inputs)))[0]
    turned += noise * random.normal(size=turned.shape)
    y = (turned[:, 0] > 0).astype(int)
    return X, y + 2 * (turned[:, 1] > 0.3) if n_classes > 2 else y


def _print_row(name, learner, X, y) -> None:
    folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=0)
    result = cross_validate(learner, X, y, cv=folds, return_estimator=True)
    leaves = np.mean([tree.get_n_leaves() for tree in result["estimator"]])
    seconds = result["fit_time"].min()
    accuracy = result["test_score"].mean()
    print(f"  {name:<40}{accuracy:>9.3f}{leaves:>8.1f}{1e3 * seconds:>8.1f} ms", flush=True)


def _print_growth() -> None:
    """Print the time of a fit as rows, and as inputs, grow tenfold."""
    print("\nCost of a fit (depth 4, noise 0.2, 4 classes)")
    for n_rows, n_inputs in ((10**3, 10), (10**4, 10), (10**5, 10), (10**4, 40)):
        X, y = rotated(n_rows, n_inputs, 0.2, 4)
        for kind in ("lda", "cart", "gaussian"):
            start = time.perf_counter()
            MultivariateTreeClassifier(kind, max_depth=4).fit(X, y)
            seconds = time.perf_counter() - start
            print(f"  {kind:<9}{n_rows:>8,} x {n_inputs:<3} {seconds:8.3f} s", flush=True)
