"""Trees beside scikit-learn's: the same data, the same splits, in one run."""

import os
import subprocess
import sys
import tempfile
import time
from typing import Any

import numpy as np
import pandas as pd
from sklearn.tree import DecisionTreeClassifier as TheirClassifier
from sklearn.tree import DecisionTreeRegressor as TheirRegressor

from benchmarks._timing import Race, alike, close, print_races, race
from verulam.tree import DecisionTreeClassifier, DecisionTreeRegressor

N_ROWS, N_COLUMNS = 50_000, 20
#: Rows of the tables of all shapes.
SIZES = (1_000, 20_000)


def run() -> None:
    """Print the races of all kinds of table, the growth of cost, and memory."""
    random = np.random.default_rng(0)
    # Numbers that float32 holds exactly: scikit-learn rounds its inputs to it.
    X = random.normal(size=(N_ROWS, N_COLUMNS)).astype(np.float32).astype(np.float64)
    signal = X[:, :5].sum(axis=1) + random.normal(size=N_ROWS)
    y = (signal > 0).astype(int)
    races: list[Race] = []
    for criterion in ("gini", "entropy"):
        for depth in (None, 8):
            ours = DecisionTreeClassifier(criterion=criterion, max_depth=depth)
            theirs = TheirClassifier(criterion=criterion, max_depth=depth, random_state=0)
            races.append(_fit_race(f"{criterion}, depth {depth or 'full'}", ours, theirs, X, y))
    many = np.tile(X, (4, 1))
    ours, theirs = DecisionTreeClassifier().fit(X, y), TheirClassifier(random_state=0).fit(X, y)
    races.append(
        race(
            "predict 200,000 rows",
            lambda: ours.predict(many),
            type(theirs).__name__,
            lambda: theirs.predict(many),
            # Cuts between equally good columns are drawn by lot there: leaves may differ.
            same=alike(0.98),
        )
    )
    races.append(
        _fit_race("variance", DecisionTreeRegressor(), TheirRegressor(random_state=0), X, signal)
    )
    print_races(f"Decision trees, {N_ROWS:,} rows x {N_COLUMNS}", races)
    _print_shapes()
    _print_weights_and_gaps()
    print_races("A mixed table against a numeric one, both ours", [_mixed_race(X, y, random)])
    _print_growth(random)
    _print_first_fit()
    _print_memory()


def _inputs(kind: str, n_rows: int, random) -> np.ndarray:
    """Return numbers of a kind that float32 holds exactly."""
    shape = (n_rows, N_COLUMNS)
    if kind == "mixed":
        kinds = ("continuous", "integers", "binary", "95 % zeros")
        parts = [_inputs(name, n_rows, random) for name in kinds]
        return np.column_stack([parts[j % 4][:, j] for j in range(N_COLUMNS)])
    if kind in ("integers", "binary"):
        return random.integers(0, 10 if kind == "integers" else 2, size=shape).astype(float)
    numbers = random.normal(size=shape).astype(np.float32).astype(np.float64)
    return numbers if kind == "continuous" else np.where(random.random(shape) < 0.95, 0.0, numbers)


def _print_shapes() -> None:
    """Print full trees on all kinds of columns and targets, their mean ratio and how many lose."""
    races = []
    for n_rows in SIZES:
        for kind in ("continuous", "integers", "binary", "95 % zeros", "mixed"):
            random = np.random.default_rng(1)
            X = _inputs(kind, n_rows, random)
            signal = X[:, :4].sum(axis=1) / 2 + random.normal(size=n_rows)
            for n_classes in (2, 4, 10, 0):
                name = f"{kind}, {n_rows:,} rows, {n_classes or 'no'} classes"
                if n_classes:
                    borders = np.quantile(signal, np.arange(1, n_classes) / n_classes)
                    y = np.digitize(signal, borders)
                    pair = DecisionTreeClassifier(), TheirClassifier(random_state=0)
                else:
                    y, pair = signal, (DecisionTreeRegressor(), TheirRegressor(random_state=0))
                races.append(_fit_race(name, *pair, X, y))
    print_races(f"Full trees on all kinds of columns, {N_COLUMNS} of each", races)
    ratios = np.array([entry.ratio for entry in races])
    mean = np.exp(np.log(ratios).mean())
    print(f"  geometric mean {mean:.2f}x, {(ratios < 1).sum()} of {len(ratios)} below 1x")


def _print_weights_and_gaps() -> None:
    """Print full trees on rows with weights, and on columns with gaps."""
    races = []
    for n_rows in SIZES:
        for kind in ("continuous", "integers", "binary", "95 % zeros"):
            random = np.random.default_rng(1)
            X = _inputs(kind, n_rows, random)
            signal = X[:, :4].sum(axis=1) / 2 + random.normal(size=n_rows)
            y = np.digitize(signal, np.quantile(signal, [0.25, 0.5, 0.75]))
            weights, gaps = random.choice([0.5, 1.0, 2.0], n_rows), random.random(X.shape) < 0.05
            for name, inputs, weight in (
                ("weights", X, weights),
                ("gaps", np.where(gaps, np.nan, X), None),
            ):
                pair = DecisionTreeClassifier(), TheirClassifier(random_state=0)
                title = f"{name}, {kind}, {n_rows:,} rows, 4 classes"
                races.append(_fit_race(title, *pair, inputs, y, weight))
    print_races("Full trees with weights or gaps", races)


def _fit_race(name, ours, theirs, X, y, weights=None) -> Race:
    peer = type(theirs).__name__
    fits = (lambda: ours.fit(X, y, weights)), (lambda: theirs.fit(X, y, weights))
    return race(f"fit, {name}", fits[0], peer, fits[1], same=_same_root)


def _same_root(ours: DecisionTreeClassifier | DecisionTreeRegressor, theirs: Any) -> None:
    """Compare impurity and cut of the root, and sizes: further down equal cuts are drawn by lot."""
    assert ours.tree_.column[0] == theirs.tree_.feature[0]
    close(1e-6)(ours.tree_.impurity[0], theirs.tree_.impurity[0])
    close(0.05, 3)(len(ours.tree_), theirs.tree_.node_count)


def _mixed_race(X, y, random) -> Race:
    """Return ours on 10 numeric and 10 categorical columns with gaps, against 20 numeric."""
    frame = pd.DataFrame(X[:, :10], columns=[f"number{j}" for j in range(10)])
    for j in range(10):
        codes = np.digitize(X[:, 10 + j], np.linspace(-2, 2, 5 * j + 2))
        frame[f"category{j}"] = pd.Categorical(codes.astype(str))
    frame = frame.mask(random.random(frame.shape) < 0.05)
    mixed, numeric = DecisionTreeClassifier(), DecisionTreeClassifier()
    return race(
        "fit, mixed (ratio 0.67 is 1.5 times as long)",
        lambda: mixed.fit(frame, y),
        "ours, numeric",
        lambda: numeric.fit(X, y),
        # Two kinds of table, so that no two trees are equal; both must fit their own.
        same=lambda one, other: one.score(frame, y) > 0.9 and other.score(X, y) > 0.9,
    )


def _print_growth(random) -> None:
    """Print the time of a fit at 10^4 and 10^5 rows, and over n log n."""
    print("\nCost of a fit, 5 columns")
    for n_rows in (10**4, 10**5):
        X = random.normal(size=(n_rows, 5))
        y = (X[:, 0] + random.normal(size=n_rows) > 0).astype(int)
        start = time.perf_counter()
        DecisionTreeClassifier().fit(X, y)
        seconds = time.perf_counter() - start
        scaled = seconds / (n_rows * np.log2(n_rows)) * 1e9
        print(f"  {n_rows:>9,} rows  {seconds:6.2f} s  {scaled:6.1f} ns per n log2 n")


def _print_first_fit() -> None:
    """Print how long the first fit takes where nothing has been compiled."""
    code = """if True:
        import time
        import numpy as np
        from verulam.tree import {learner}
        X = np.random.default_rng(0).normal(size=(200, 3))
        start = time.perf_counter()
        {learner}().fit(X, {target})
        print(f"  {learner}: {{time.perf_counter() - start:.1f}} s")
    """
    print("\nThe first fit, compilation included", flush=True)
    for learner, target in (
        ("DecisionTreeClassifier", "X[:, 0] > 0"),
        ("DecisionTreeRegressor", "X[:, 0]"),
    ):
        with tempfile.TemporaryDirectory() as empty:
            subprocess.run(
                [sys.executable, "-c", code.format(learner=learner, target=target)],
                env={**os.environ, "NUMBA_CACHE_DIR": empty},
                stderr=subprocess.DEVNULL,
                check=True,
            )


def _print_memory() -> None:
    """Print the most memory that a fit takes beside the data: room to work in, and the tree.

    Compiled code is loaded before, by a smaller fit; the rest is all that the process grows by.
    """
    code = """if True:
        import numpy as np
        from verulam.tree import {learner}
        def memory(name):
            # The peak that getrusage tells may be that of the process which started this one.
            with open("/proc/self/status") as file:
                return next(int(line.split()[1]) for line in file if line.startswith(name)) * 1024
        random = np.random.default_rng(0)
        X = random.normal(size=({n_rows}, {n_columns}))
        y = X[:, 0] + random.normal(size=len(X))
        y = y if "Regressor" in "{learner}" else (y > 0).astype(int)
        {learner}().fit(X[:20_000], y[:20_000])
        before = memory("VmRSS")
        tree = {learner}().fit(X, y).tree_
        times = (memory("VmHWM") - before) / X.nbytes
        print(f"  {learner}, {{len(X):>9,}} x {n_columns:>2}: {{times:.2f}} x the data "
              f"({{len(tree):,}} nodes)")
    """
    print("\nMemory of a fit beside the data", flush=True)
    for learner in ("DecisionTreeClassifier", "DecisionTreeRegressor"):
        for n_rows, n_columns in ((10**5, 20), (10**6, 5)):
            text = code.format(learner=learner, n_rows=n_rows, n_columns=n_columns)
            subprocess.run([sys.executable, "-c", text], stderr=subprocess.DEVNULL, check=True)
