"""Densities, neighbours and condensing beside their peers: same data, same answers, in one run."""

import resource
import time
from functools import partial

import numpy as np
from scipy.stats import gaussian_kde
from sklearn.neighbors import KernelDensity as TreeDensity
from sklearn.neighbors import KNeighborsClassifier

from benchmarks._timing import Race, print_races, race
from verulam.nonparametric import (
    KernelDensity,
    KNeighboursClassifier,
    condense,
    density_on_grid,
)

#: Stored rows, queries, columns and bandwidth of the density races.
DENSITIES = ((2_000, 2_000, 2, 0.3), (20_000, 5_000, 5, 0.5), (20_000, 5_000, 5, 0.25))
#: Stored rows, queries and columns of the neighbour races.
NEIGHBOURS = ((2_000, 1_000, 5), (20_000, 5_000, 10), (50_000, 5_000, 20), (50_000, 5_000, 3))


def run() -> None:
    """Print the races, then what has no peer to race with."""
    print_races("Gaussian densities at points", _density_races())
    print_races("k-nearest-neighbour classification", _neighbour_races())
    print_races("Condensed nearest neighbours, 10 columns", _condensing_races())
    _print_grid()
    _print_large_condensing()
    _print_memory()


def _density_races() -> list[Race]:
    rng = np.random.default_rng(0)
    races = []
    for n_stored, n_queries, n_columns, width in DENSITIES:
        X, queries = rng.normal(size=(n_stored, n_columns)), rng.normal(size=(n_queries, n_columns))
        for rtol in (0.0, 1e-4):
            ours = KernelDensity(bandwidth=width, rtol=rtol).fit(X)
            theirs = TreeDensity(bandwidth=width, rtol=rtol).fit(X)
            difference = ours.score_samples(queries[:50]) - theirs.score_samples(queries[:50])
            if np.median(np.abs(difference)) > 2 * max(rtol, 1e-8):
                raise AssertionError(f"The densities differ by {np.abs(difference).max():.2g}.")
            name = f"{n_stored:,} x {n_columns}, {n_queries:,} queries, h={width}, rtol={rtol:g}"
            races.append(
                race(
                    name,
                    partial(ours.score_samples, queries),
                    "KernelDensity (tree)",
                    partial(theirs.score_samples, queries),
                )
            )
    return races


def _neighbour_races() -> list[Race]:
    rng = np.random.default_rng(0)
    races = []
    for n_stored, n_queries, n_columns in NEIGHBOURS:
        y = rng.integers(3, size=n_stored)
        X = rng.normal(size=(n_stored, n_columns)) + 0.5 * y[:, None]
        queries = rng.normal(size=(n_queries, n_columns))
        ours = KNeighboursClassifier().fit(X, y)
        for algorithm in ("brute", "kd_tree"):
            theirs = KNeighborsClassifier(algorithm=algorithm).fit(X, y)
            if np.mean(ours.predict(queries) == theirs.predict(queries)) < 0.999:
                raise AssertionError("The classes differ.")
            races.append(
                race(
                    f"{n_stored:,} x {n_columns}, {n_queries:,} queries",
                    partial(ours.predict, queries),
                    f"KNeighborsClassifier ({algorithm})",
                    partial(theirs.predict, queries),
                )
            )
    return races


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
    for n_rows in (500, 1_000, 2_000):
        X, y = _overlapping(n_rows)
        peer = CondensedNearestNeighbour(sampling_strategy="all", random_state=0)
        start = time.perf_counter()
        peer.fit_resample(X, y)
        theirs = time.perf_counter() - start
        ours = race("", partial(condense, X, y, random_state=0), "", lambda: None).ours
        races.append(Race(f"{n_rows:,} rows", ours, "CondensedNearestNeighbour", theirs))
    return races


def _print_grid() -> None:
    values = np.random.default_rng(0).normal(size=10**6)
    both = race(
        "density of 10^6 values on 1024 points",
        lambda: density_on_grid(values),
        "gaussian_kde on 1,000 of them",
        lambda: gaussian_kde(values[:1_000])(np.linspace(-4, 4, 1024)),
    )
    print_races("One column on a grid", [both])


def _print_large_condensing() -> None:
    X, y = _overlapping(50_000)
    start = time.perf_counter()
    found = condense(X, y, random_state=0)
    print(
        f"\nCondensing 50,000 x 10: {time.perf_counter() - start:.1f} s, {len(found.rows):,} kept"
    )


def _print_memory() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100_000, 20)), rng.integers(2, size=100_000)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    KNeighboursClassifier().fit(X, y).predict(X)
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(
        f"100,000 x 100,000 x 20 neighbours: {seconds:.1f} s, peak of the process "
        f"{peak / 1e6:.2f} GB ({before / 1e6:.2f} GB before)"
    )
