"""Learned metrics beside metric-learn's, kernel components beside scikit-learn's, in one run."""

import numpy as np
from sklearn.datasets import load_digits, make_classification
from sklearn.decomposition import KernelPCA
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier

from benchmarks._timing import Race, print_races, race
from verulam.kernel import Gaussian, KernelPrincipalComponents, LargeMarginNeighbours

#: metric-learn's fewest steps; by its own rule it goes on for up to a thousand.
STEPS = 50


def run() -> None:
    """Print the races, and the held-out accuracy of both metrics."""
    races: list[Race] = []
    for name, X, y in (("digits, 1257 x 64", *_digits()), ("2000 x 20", *_columns())):
        train, test, y_train, y_test = train_test_split(
            X, y, train_size=1257 if X.shape[1] == 64 else 2000, random_state=0, stratify=y
        )
        peer = _peer()
        if peer is None:
            print("metric-learn is not there: its races are left out")
            break
        ours = LargeMarginNeighbours()
        races.append(
            race(
                f"large margin neighbours: {name}",
                lambda ours=ours, a=train, b=y_train: ours.fit(a, b),
                f"metric-learn, {STEPS} steps",
                lambda peer=peer, a=train, b=y_train: peer.fit(a, b),
            )
        )
        scores = {
            "Euclidean": _score(train, y_train, test, y_test),
            "ours": _score(ours.transform(train), y_train, ours.transform(test), y_test),
            "metric-learn": _score(peer.transform(train), y_train, peer.transform(test), y_test),
        }
        print(name, {who: round(score, 4) for who, score in scores.items()})
    X = np.random.default_rng(0).normal(size=(2000, 20))
    ours_pca = KernelPrincipalComponents(5, kernel=Gaussian(4.0))
    theirs_pca = KernelPCA(5, kernel="rbf", gamma=1 / 32, eigen_solver="arpack")
    races.append(
        race(
            "kernel components: 2000 x 20, five",
            lambda: ours_pca.fit(X),
            "KernelPCA (arpack)",
            lambda: theirs_pca.fit(X),
        )
    )
    print_races("Kernel reduction and metrics", races)


def _digits() -> tuple[np.ndarray, np.ndarray]:
    return load_digits(return_X_y=True)


def _columns() -> tuple[np.ndarray, np.ndarray]:
    return make_classification(
        4000, 20, n_informative=6, n_redundant=4, n_classes=4, random_state=0
    )


def _score(train, y_train, test, y_test) -> float:
    return KNeighborsClassifier(3).fit(train, y_train).score(test, y_test)


def _peer():
    """Return metric-learn's learner, mended for scikit-learn's new name of one argument."""
    try:
        from metric_learn import LMNN, _util
    except ImportError:
        return None
    for name in ("check_array", "check_X_y"):
        setattr(_util, name, _renamed(getattr(_util, name)))
    return LMNN(n_neighbors=3, max_iter=STEPS)


def _renamed(check):
    def call(*arguments, force_all_finite=None, **options):
        if force_all_finite is not None:
            options["ensure_all_finite"] = force_all_finite
        return check(*arguments, **options)

    return call
