"""Densities, neighbours and condensing beside their peers: same data, same answers, in one run."""

import resource
import time
from functools import partial
from typing import Any

import numpy as np
from sklearn.neighbors import KernelDensity as TreeDensity
from sklearn.neighbors import KNeighborsClassifier as PeerNeighbours
from sklearn.neighbors import LocalOutlierFactor as PeerFactor
from statsmodels.nonparametric.kde import KDEUnivariate

from benchmarks._timing import Race, Work, alike, close, once, print_races, race
from verulam.nonparametric import (
    CondensedSet,
    GridDensity,
    KernelDensity,
    KNeighborsClassifier,
    LocalOutlierFactor,
    condense,
    density_on_grid,
)

#: Stored rows, queries, columns and bandwidth of the density races.
DENSITIES = (
    (2_000, 2_000, 2, 0.3),
    (20_000, 1_000, 5, 0.5),
    (50_000, 1_000, 2, 0.1),
)
#: Stored rows, queries, columns and neighbours of the races in classification.
NEIGHBOURS = (
    *((200, 100, columns, 5) for columns in (2, 5, 10, 20)),
    *((2_000, 1_000, columns, 5) for columns in (2, 5, 10, 20)),
    *((20_000, 1_000, columns, 5) for columns in (3, 8, 20)),
    *((20_000, 1_000, 20, k) for k in (1, 50)),
)
#: Stored rows and columns of the races on ordinary data.
ORDINARY_ROWS, ORDINARY_COLUMNS = (150, 1_000, 5_000), (3, 20)
#: Columns up to which the peer's trees are worth a trial.
PEER_TREE_COLUMNS = 10


def run() -> None:
    """Print the races, then what has no peer to race with."""
    run_densities()
    run_neighbours()
    run_ordinary()
    run_condensing()
    run_memory()


def run_densities() -> None:
    """Print the races of densities at points and on a grid."""
    print_races("Gaussian densities at points", _density_races())
    print_races("One column on a grid of 1024 points", [_grid(n) for n in (10**4, 10**5)])


def run_neighbours() -> None:
    """Print the races of neighbours, each against the best of the peer's algorithms."""
    print_races("k-nearest-neighbour classification", _neighbour_races())
    print_races("The same, fit and predict together", _whole_races())
    print_races("Ties, sizes far apart, few queries, other distances", _odd_races())


def run_ordinary() -> None:
    """Print the races on integers, copies and numbers over sizes, and how times grow with them."""
    for title, contest in (("Neighbours, fit and predict", _votes), ("Outlier factors", _factors)):
        for kind in ("numbers", "digits", "copies"):
            for n_columns in ORDINARY_COLUMNS:
                races = [
                    contest(kind, n_rows, n_columns)
                    for n_rows in ORDINARY_ROWS
                    # All pairs of many rows in many columns take the peer minutes.
                    if contest is _votes or n_rows * n_columns < 10**6
                ]
                print_races(f"{title}: {kind} in {n_columns} columns", races)
                sizes = np.log(ORDINARY_ROWS[: len(races)])
                slopes = [
                    np.polyfit(sizes, np.log([getattr(each, side) for each in races]), 1)[0]
                    for side in ("ours", "theirs")
                ]
                print(f"  times grow as n^{slopes[0]:.2f}, the peer's as n^{slopes[1]:.2f}")


def _ordinary_rows(kind: str, n_rows: int, n_columns: int) -> np.ndarray:
    rng = np.random.default_rng(n_rows)
    if kind == "digits":
        return rng.integers(10, size=(n_rows, n_columns)) * 1.0
    if kind == "copies":
        return rng.normal(size=(100, n_columns))[rng.integers(100, size=n_rows)]
    return rng.normal(size=(n_rows, n_columns))


def _votes(kind: str, n_rows: int, n_columns: int) -> Race:
    """Return the race of a classifier, whose distances are compared: of ties each has its own."""
    rows = _ordinary_rows(kind, n_rows + min(n_rows, 1_000), n_columns)
    X, queries = rows[:n_rows], rows[n_rows:]
    y = np.random.default_rng(0).integers(3, size=n_rows)
    ours, theirs = KNeighborsClassifier(), PeerNeighbours()
    works = [partial(_fit_and_predict, one, X, y, queries) for one in (ours, theirs)]

    def same(*_: np.ndarray) -> None:
        expected = theirs.kneighbors(queries)[0]
        close(1e-7, 1e-6)(ours.kneighbors(queries).distances, expected)

    return race(f"{n_rows:,} rows", works[0], "scikit-learn", works[1], same=same)


def _factors(kind: str, n_rows: int, n_columns: int) -> Race:
    """Return the race of outlier factors; those of numbers, without ties, are compared."""
    X = _ordinary_rows(kind, n_rows, n_columns)
    ours, theirs = LocalOutlierFactor(kind="breunig"), PeerFactor()

    def same(one: LocalOutlierFactor, other: PeerFactor) -> None:
        factors = one.factors_, -other.negative_outlier_factor_
        close(1e-7, 1e-6)(one.distances_, other._distances_fit_X_[:, -1])
        if kind == "digits":
            # Of rows equally far the peer takes any twenty, and ours all of them.
            assert np.corrcoef(*factors)[0, 1] > 0.8
        else:
            close(1e-6)(*factors)

    works = (lambda: ours.fit(X)), (lambda: theirs.fit(X))
    return race(f"{n_rows:,} rows", works[0], "scikit-learn", works[1], same=same)


def run_condensing() -> None:
    """Print the races of condensing, and the time of a large set."""
    print_races("Condensed nearest neighbours, 10 columns", _condensing_races())
    _print_large_condensing()


def _density_races() -> list[Race]:
    rng = np.random.default_rng(0)
    races = []
    for n_stored, n_queries, n_columns, width in DENSITIES:
        X, queries = rng.normal(size=(n_stored, n_columns)), rng.normal(size=(n_queries, n_columns))
        for rtol in (0.0, 1e-4):
            ours = KernelDensity(bandwidth=width, rtol=rtol).fit(X)
            theirs = TreeDensity(bandwidth=width, rtol=rtol).fit(X)
            tolerance = 2 * max(rtol, 1e-8)

            def same(one: np.ndarray, other: np.ndarray, tolerance: float = tolerance) -> bool:
                return bool(np.median(np.abs(one - other)) < tolerance)

            name = f"{n_stored:,} x {n_columns}, {n_queries:,} queries, h={width}, rtol={rtol:g}"
            races.append(
                race(
                    name,
                    partial(ours.score_samples, queries),
                    "KernelDensity (tree)",
                    partial(theirs.score_samples, queries),
                    same=same,
                )
            )
    return races


def _neighbour_races() -> list[Race]:
    rng = np.random.default_rng(0)
    races = []
    for n_stored, n_queries, n_columns, k in NEIGHBOURS:
        y = rng.integers(3, size=n_stored)
        X = rng.normal(size=(n_stored, n_columns)) + 0.5 * y[:, None]
        queries = rng.normal(size=(n_queries, n_columns))
        work = f"{n_stored:,} x {n_columns}, {n_queries:,} queries, k={k}"
        races.append(_against_the_best(work, X, y, queries, k))
    y, axes = rng.integers(3, size=20_000), rng.normal(size=(2, 20))
    plane, near = (rng.normal(size=(n_rows, 2)) @ axes for n_rows in (20_000, 1_000))
    far = rng.normal(size=(1_000, 20))
    for place, queries in (("in it", near), ("off it", far)):
        work = f"20,000 x 20 in a plane, 1,000 queries {place}, k=5"
        races.append(_against_the_best(work, plane, y, queries, 5, with_trees=place == "in it"))
    return races


def _whole_races() -> list[Race]:
    """Return races of training and answers together, from small tables on."""
    rng = np.random.default_rng(0)
    races = []
    for n_stored in (50, 1_000, 5_000):
        for n_columns in (2, 5, 20):
            y = rng.integers(3, size=n_stored)
            X = rng.normal(size=(n_stored, n_columns)) + 0.5 * y[:, None]
            queries = rng.normal(size=(max(50, min(n_stored // 2, 2_000)), n_columns))
            work = f"{n_stored:,} x {n_columns}, {len(queries):,} queries, k=5"
            races.append(_against_the_best(work, X, y, queries, 5, whole=True))
    return races


def _odd_races() -> list[Race]:
    """Return races on data that leave a search by tree or by products little to gain from."""
    rng = np.random.default_rng(0)
    outlier = rng.normal(size=(5_000, 8))
    outlier[0] = 1e6
    cases = {
        "10,000 x 10 of zeros and ones": rng.integers(2, size=(11_000, 10)) * 1.0,
        "10,000 x 4 of digits": rng.integers(10, size=(11_000, 4)) * 1.0,
        "10,000 x 10, log-normal": rng.lognormal(0.0, 3.0, size=(11_000, 10)),
        "10,000 copies of 100 x 5": rng.normal(size=(100, 5))[rng.integers(100, size=11_000)],
    }
    races = []
    for work, rows in cases.items():
        y = rng.integers(3, size=10_000)
        races.append(_against_the_best(work, rows[:10_000], y, rows[10_000:], 5, same=False))
    y, queries = rng.integers(3, size=5_000), rng.normal(size=(1_000, 8))
    races.append(_against_the_best("5,000 x 8, one row far out", outlier, y, queries, 5))
    y = rng.integers(3, size=50_000)
    for n_queries, n_columns in ((1, 20), (10, 3)):
        X, queries = (rng.normal(size=(rows, n_columns)) for rows in (50_000, n_queries))
        work = f"50,000 x {n_columns}, queries: {n_queries}, with fit"
        races.append(_against_the_best(work, X, y, queries, 5, whole=True))
    for metric in ("manhattan", "chebyshev"):
        for n_columns in (6, 20):
            X, queries = (rng.normal(size=(rows, n_columns)) for rows in (5_000, 500))
            work = f"5,000 x {n_columns}, 500 queries, {metric}"
            races.append(_against_the_best(work, X, y[:5_000], queries, 5, metric=metric))
    return races


def _against_the_best(
    work: str,
    X: np.ndarray,
    y: np.ndarray,
    queries: np.ndarray,
    k: int,
    *,
    with_trees: bool = False,
    whole: bool = False,
    same: bool = True,
    metric: str = "euclidean",
) -> Race:
    """Return the race against whichever algorithm of the peer is fastest on this work.

    Classes are compared but for ties, of which each takes its own: there distances are. `whole`
    counts training, too.
    """
    ours = KNeighborsClassifier(n_neighbors=k, metric=metric).fit(X, y)
    algorithms = ["brute"]
    if with_trees or X.shape[1] <= PEER_TREE_COLUMNS:
        algorithms += ["kd_tree", "ball_tree"]
    peers = {
        name: PeerNeighbours(k, algorithm=name, metric=metric).fit(X, y) for name in algorithms
    }

    def work_of(learner: Any) -> Work:
        if whole:
            return partial(_fit_and_predict, learner, X, y, queries)
        return partial(learner.predict, queries)

    def check(one: np.ndarray, other: np.ndarray) -> None:
        if same:
            alike()(one, other)
        else:
            distances = [learner.kneighbors(queries) for learner in (ours, peers[best])]
            close(1e-7, 1e-6)(distances[0].distances, distances[1][0])

    # The algorithm that is quickest on one call is raced.
    best = min(peers, key=lambda name: once(work_of(peers[name])))
    return race(work, work_of(ours), f"scikit-learn, {best}", work_of(peers[best]), same=check)


def _fit_and_predict(
    learner: KNeighborsClassifier, X: np.ndarray, y: np.ndarray, queries: np.ndarray
) -> np.ndarray:
    return learner.fit(X, y).predict(queries)


def _overlapping(n_rows: int, gap: float = 0.8) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=n_rows)
    return rng.normal(size=(n_rows, 10)) + gap * y[:, None], y


def _condensing_races() -> list[Race]:
    try:
        from imblearn.under_sampling import CondensedNearestNeighbour
    except ImportError:
        print("imbalanced-learn is not installed; condensing is not raced.")
        return []
    races = []
    for n_rows in (200, 500):
        X, y = _overlapping(n_rows)
        peer = CondensedNearestNeighbour(sampling_strategy="all", random_state=0)
        ours = partial(condense, X, y, random_state=0)
        theirs, same = partial(peer.fit_resample, X, y), partial(_condensed, X, y)
        races.append(race(f"{n_rows:,} rows", ours, type(peer).__name__, theirs, same=same))
    return races


def _condensed(X: np.ndarray, y: np.ndarray, ours: CondensedSet, theirs: tuple) -> None:
    """Compare what both are for: by its nearest row of our subset, each row has its class.

    The peer goes over the rows once, so that its subset is smaller and not consistent.
    """
    consistent = KNeighborsClassifier(n_neighbors=1).fit(X[ours.rows], y[ours.rows])
    assert (consistent.predict(X) == y).all()
    assert len(theirs[0]) < len(X)


def _grid(n_values: int) -> Race:
    values = np.random.default_rng(0).normal(size=n_values)
    width = density_on_grid(values).bandwidth

    def theirs() -> KDEUnivariate:
        density = KDEUnivariate(values)
        density.fit(bw=width, fft=True, gridsize=1024)
        return density

    def same(one: GridDensity, other: KDEUnivariate) -> None:
        # Both share values between bins; their grids differ, and so they are compared between.
        heights = np.interp(one.points, other.support, other.density)
        close(0.0, 1e-2 * one.density.max())(one.density, heights)

    return race(
        f"{n_values:,} values",
        lambda: density_on_grid(values, width),
        "statsmodels",
        theirs,
        same=same,
    )


def _print_large_condensing() -> None:
    X, y = _overlapping(50_000)
    start = time.perf_counter()
    subset = condense(X, y, random_state=0)
    print(
        f"\nCondensing 50,000 x 10: {time.perf_counter() - start:.1f} s, {len(subset.rows):,} kept"
    )


def run_memory() -> None:
    """Print the time and the peak memory of many queries in many stored rows."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20_000, 20)), rng.integers(2, size=20_000)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    KNeighborsClassifier().fit(X, y).predict(X)
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(
        f"20,000 x 20,000 x 20 neighbours: {seconds:.1f} s, peak of the process "
        f"{peak / 1e6:.2f} GB ({before / 1e6:.2f} GB before)"
    )
