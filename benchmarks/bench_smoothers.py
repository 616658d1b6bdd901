"""Smoothers and outlier factors beside statsmodels, SciPy, pandas and scikit-learn."""

import time
import warnings

import numpy as np
import pandas as pd
from scipy.interpolate import make_smoothing_spline
from sklearn.neighbors import KNeighborsRegressor
from sklearn.neighbors import LocalOutlierFactor as PeerFactor
from statsmodels.nonparametric.kernel_regression import KernelReg
from statsmodels.nonparametric.smoothers_lowess import lowess

from benchmarks._timing import Race, close, print_races, race
from verulam.nonparametric import (
    KernelSmoother,
    LocalOutlierFactor,
    Loess,
    NeighbourSmoother,
    RunningMedian,
    SmoothingSpline,
    select_smoothing,
)

SIZES = (2_000, 5_000, 20_000)


def run() -> None:
    """Print the races at three sizes, and how long it takes to choose a bandwidth."""
    run_curves()
    run_factors()


def run_curves() -> None:
    """Print the races of smoothers, and the choice of a bandwidth."""
    warnings.simplefilter("ignore", FutureWarning)
    print_races("Loess, span 0.1, 3 robust iterations", [_loess(n) for n in SIZES])
    sizes = (150, *SIZES)
    print_races("The same, of inputs in tenths", [_loess(n, decimals=1) for n in sizes])
    print_races("Nadaraya-Watson at its own points", [_kernel(n) for n in (500, 1_000, 2_000)])
    print_races("Mean of 20 neighbours", [_neighbours(n) for n in SIZES])
    print_races("Running median of 101", [_median(n) for n in (1_000, 10_000, 100_000)])
    print_races("Smoothing spline, given penalty", [_spline(n) for n in (200, 500, 1_000)])
    _choose()


def run_factors() -> None:
    """Print the races of local outlier factors."""
    print_races(
        "Local outlier factors of 20 neighbours",
        [_factors(n, columns) for columns in (2, 8, 20) for n in (500, *SIZES)],
    )


def _curve(count: int, columns: int = 1) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 10, size=(count, columns))
    return X, np.sin(X[:, 0]) + 0.3 * rng.standard_t(3, size=count)


#: What answers may differ by.
SAME = close(0.0, 1e-8)


def _loess(count: int, decimals: int = 15) -> Race:
    X, y = _curve(count)
    X = X.round(decimals)

    def ours() -> np.ndarray:
        return Loess(span=0.1).fit(X, y).predict(X)

    def theirs() -> np.ndarray:
        return lowess(y, X[:, 0], frac=0.1, it=3, delta=0.0, return_sorted=False)

    return race(f"{count:,} points", ours, "statsmodels", theirs, same=SAME)


def _kernel(count: int) -> Race:
    X, y = _curve(count)

    def ours() -> np.ndarray:
        return KernelSmoother(bandwidth=0.3).fit(X, y).predict(X)

    def theirs() -> np.ndarray:
        return KernelReg(y, X, "c", "lc", bw=[0.3]).fit(X)[0]

    return race(f"{count:,} x {count:,}", ours, "statsmodels", theirs, same=SAME)


def _neighbours(count: int) -> Race:
    X, y = _curve(count)

    def ours() -> np.ndarray:
        return NeighbourSmoother(n_neighbors=20).fit(X, y).predict(X)

    def theirs() -> np.ndarray:
        return KNeighborsRegressor(20).fit(X, y).predict(X)

    return race(f"{count:,} points", ours, "scikit-learn", theirs, same=SAME)


def _median(count: int) -> Race:
    y = np.random.default_rng(0).normal(size=count)
    moments, series = np.arange(float(count))[:, None], pd.Series(y)

    def ours() -> np.ndarray:
        return RunningMedian(bandwidth=51.0).fit(moments, y).predict(moments)

    def theirs() -> np.ndarray:
        return series.rolling(101, center=True, min_periods=1).median().to_numpy()

    return race(f"{count:,} points", ours, "pandas", theirs, same=SAME)


def _spline(count: int) -> Race:
    X, y = _curve(count)
    order = np.argsort(X[:, 0])
    x, targets = X[order, 0], y[order]

    def ours() -> np.ndarray:
        return SmoothingSpline(alpha=0.01).fit(X, y).predict(x[:, None])

    def theirs() -> np.ndarray:
        return make_smoothing_spline(x, targets, lam=0.01)(x)

    return race(f"{count:,} points", ours, "SciPy", theirs, same=close(0.0, 1e-5))


def _factors(count: int, columns: int) -> Race:
    X, _ = _curve(count, columns)

    def ours() -> np.ndarray:
        return LocalOutlierFactor(kind="breunig").fit(X).factors_

    def theirs() -> np.ndarray:
        return -PeerFactor().fit(X).negative_outlier_factor_

    return race(f"{count:,} x {columns}", ours, "scikit-learn", theirs, same=SAME)


def _choose() -> None:
    """Print the time of leave-one-out errors at 50 bandwidths."""
    X, y = _curve(10_000)
    widths = np.geomspace(0.02, 5.0, 50)
    print("\nLeave-one-out errors of 10,000 points at 50 bandwidths")
    for kernel in ("gaussian", "epanechnikov", "tricube", "tophat"):
        smoother = KernelSmoother(kernel=kernel)
        start = time.perf_counter()
        best = select_smoothing(smoother, "bandwidth", widths, X, y).best
        print(f"  {kernel:13} {time.perf_counter() - start:5.2f} s, best {best:.3g}")
