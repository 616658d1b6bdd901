"""Clusters beside scikit-learn, fastcluster and the Rust kmedoids: the same answers asserted."""

import warnings
from functools import partial
from typing import Any

import numpy as np
import sklearn.cluster
import sklearn.mixture
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import pdist, squareform
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import silhouette_samples
from threadpoolctl import threadpool_limits

from benchmarks._timing import Race, close, print_races, race
from verulam.cluster import AgglomerativeClustering, GaussianMixture, KMeans, KMedoids, silhouettes


def run() -> None:
    """Print races of all kinds of clustering, one thread on both sides."""
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        print_races("k-means, 30 passes from the same centres", _k_means())
        print_races("Gaussian mixtures, 10 passes from the same start", _mixtures())
        print_races("Hierarchies", _hierarchies())
        print_races("k-medoids from the same start", _medoids())
        print_races("Silhouettes", _silhouettes())


def rows(n_rows: int, n_columns: int, n_groups: int) -> np.ndarray:
    """Return rows of round groups that overlap."""
    random = np.random.default_rng(0)
    centres = 2.0 * random.normal(size=(n_groups, n_columns))
    return centres[random.integers(n_groups, size=n_rows)] + random.normal(size=(n_rows, n_columns))


def _k_means() -> list[Race]:
    races = []
    for n_rows, n_columns, k in ((50_000, 10, 10), (20_000, 2, 50), (5_000, 64, 10)):
        X = rows(n_rows, n_columns, k)
        ours = KMeans(k, init=X[:k], max_iter=30, tol=0.0)
        theirs = sklearn.cluster.KMeans(k, init=X[:k], n_init=1, max_iter=30, tol=0.0)
        name = f"{n_rows:,} x {n_columns}, k = {k}"
        works = partial(ours.fit, X), partial(theirs.fit, X)
        races.append(race(name, works[0], "scikit-learn", works[1], same=_same_inertia))
    return races


def _same_inertia(ours: Any, theirs: Any) -> None:
    close(1e-9)(ours.inertia_, theirs.inertia_)


def _mixtures() -> list[Race]:
    races = []
    for kind, n_rows, n_columns, k in (
        ("full", 50_000, 10, 10), ("full", 20_000, 30, 10), ("full", 10_000, 50, 10),
        ("tied", 50_000, 10, 10), ("diag", 50_000, 10, 10), ("spherical", 20_000, 30, 10),
    ):  # fmt: skip
        X = rows(n_rows, n_columns, k)
        ones = np.ones(k) if kind == "spherical" else np.ones((k, n_columns))
        unit = {"full": np.array([np.eye(n_columns)] * k), "tied": np.eye(n_columns)}
        options = {
            "covariance_type": kind, "weights_init": np.full(k, 1 / k), "means_init": X[:k],
            "precisions_init": unit.get(kind, ones), "max_iter": 10, "tol": 0.0,
        }  # fmt: skip
        ours = GaussianMixture(k, variance_floor=1e-12, **options)
        theirs = sklearn.mixture.GaussianMixture(
            k, reg_covar=0.0, init_params="random_from_data", **options
        )
        name = f"{kind} {n_rows:,} x {n_columns}, k = {k}"
        works, same = (partial(ours.fit, X), partial(theirs.fit, X)), partial(_as_likely, X)
        races.append(race(name, works[0], "scikit-learn", works[1], same=same))
    return races


def _as_likely(X: np.ndarray, ours: Any, theirs: Any) -> None:
    close(1e-10)(ours.score(X) / len(X), theirs.score(X))


def _hierarchies() -> list[Race]:
    races = []
    for n_rows, n_columns in ((2_000, 5), (5_000, 10)):
        X = rows(n_rows, n_columns, 10)
        learner = AgglomerativeClustering(linkage="single")
        name = f"single link {n_rows:,} x {n_columns}"
        ours = partial(learner.fit, X)
        theirs = partial(linkage, X, "single")
        races.append(race(name, ours, "SciPy", theirs, same=_same_heights))
        try:
            import fastcluster
        except ImportError:
            print("  fastcluster is not installed")
        else:
            theirs = partial(fastcluster.linkage_vector, X, "single")
            races.append(race(name, ours, "fastcluster", theirs, same=_same_heights))
    return races


def _same_heights(ours: AgglomerativeClustering, theirs: np.ndarray) -> None:
    close(1e-7)(ours.merges_[:, 2], theirs[:, 2])


def _medoids() -> list[Race]:
    try:
        import kmedoids
    except ImportError:
        print("  kmedoids is not installed")
        return []
    races = []
    for n_rows, k in ((2_000, 5), (5_000, 10), (5_000, 50)):
        table = squareform(pdist(rows(n_rows, 5, 10)))
        start = np.random.default_rng(1).choice(n_rows, k, replace=False)
        learner = KMedoids(k, metric="precomputed", init=start)
        theirs = partial(kmedoids.fasterpam, table, start.astype(np.uint64), max_iter=100, n_cpu=1)
        name, ours = f"{n_rows:,} rows, k = {k}", partial(learner.fit, table)
        races.append(race(name, ours, "kmedoids", theirs, same=_same_loss))
    return races


def _same_loss(ours: KMedoids, theirs: Any) -> None:
    close(1e-7)(ours.inertia_, theirs.loss)


def _silhouettes() -> list[Race]:
    races = []
    for n_rows, n_columns, k in ((2_000, 5, 5), (5_000, 10, 10), (3_000, 50, 10)):
        X = rows(n_rows, n_columns, k)
        labels = np.random.default_rng(1).integers(k, size=n_rows)
        name = f"{n_rows:,} x {n_columns}, k = {k}"
        ours, theirs = partial(silhouettes, X, labels), partial(silhouette_samples, X, labels)
        races.append(race(name, ours, "scikit-learn", theirs, same=close(1e-6, 1e-8)))
    return races
