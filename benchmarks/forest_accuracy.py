"""Is our forest as accurate as scikit-learn's? Both on the same folds of real data sets.

``python -m benchmarks.forest_accuracy`` prints a table: the accuracy (of numbers, the coefficient
of determination) of both, their difference, and its interval by the corrected resampled t test.
Ours takes the tables as they are; scikit-learn's has medians for missing numbers and columns of 0
and 1 for categories in front.
"""

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import wilcoxon
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import RandomForestClassifier as TheirClassifier
from sklearn.ensemble import RandomForestRegressor as TheirRegressor
from sklearn.impute import SimpleImputer
from sklearn.model_selection import RepeatedKFold, RepeatedStratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from statsmodels import datasets as further

from verulam.data import dataset
from verulam.ensemble import RandomForestClassifier, RandomForestRegressor
from verulam.statistics import corrected_t_test

CLASSES = (
    "iris", "wine", "travel_mode", "penguins", "breast_cancer", "titanic", "election",
    "german_credit", "seattle_weather", "digits", "fair", "adult",
)  # fmt: skip
NUMBERS = ("state_crime", "grunfeld", "engel", "auto_mpg", "diabetes", "doctor_visits")
N_TREES, FOLDS = 100, 10
#: Tables of more rows are divided once, others three times.
MANY_ROWS = 1_500


def table_of(name: str) -> tuple[pd.DataFrame, np.ndarray]:
    """Return the columns and what is to be predicted, with complete targets."""
    if name == "fair":
        table = further.fair.load_pandas().data
        return table.drop(columns="affairs"), (table["affairs"] > 0).to_numpy().astype(int)
    data = dataset(name)
    targets = pd.Series(np.asarray(data.target_values))
    present = targets.notna().to_numpy()
    return data.inputs[present].reset_index(drop=True), targets[present].to_numpy()


def contestants(name: str) -> tuple[Any, Any]:
    """Return our forest and theirs with its preparation, of the same settings."""
    ours, theirs = (
        (RandomForestClassifier, TheirClassifier)
        if name in CLASSES
        else (RandomForestRegressor, TheirRegressor)
    )
    kinds = make_column_selector(dtype_include=["category", "bool"])
    numbers = make_column_selector(dtype_exclude=["category", "bool"])
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    prepared = make_column_transformer(
        (encoder, kinds), (SimpleImputer(strategy="median"), numbers)
    )
    return ours(N_TREES, unseen="missing"), make_pipeline(prepared, theirs(N_TREES))


def scores(name: str) -> Iterator[tuple[float, float]]:
    """Yield what both reach on each fold."""
    table, targets = table_of(name)
    repeats = 1 if len(table) > MANY_ROWS else 3
    kind: Any = RepeatedStratifiedKFold if name in CLASSES else RepeatedKFold
    folds = kind(n_splits=FOLDS, n_repeats=repeats, random_state=0)
    ours, theirs = contestants(name)
    for seed, (train, test) in enumerate(folds.split(table, targets)):
        ours.set_params(random_state=seed)
        theirs[-1].set_params(random_state=seed)
        both = (ours, theirs)
        for learner in both:
            learner.fit(table.iloc[train], targets[train])
        first, second = (part.score(table.iloc[test], targets[test]) for part in both)
        yield first, second


def run(names: tuple[str, ...] = CLASSES + NUMBERS) -> None:
    """Print a line for each data set as it is done, and the whole at the end."""
    print("| data set | rows | columns | ours | scikit-learn | difference | 95 % interval |")
    print("|---|---|---|---|---|---|---|")
    differences = []
    for name in names:
        values = np.array(list(scores(name)))
        table, _ = table_of(name)
        gaps = values[:, 0] - values[:, 1]
        interval = corrected_t_test(values[:, 0], values[:, 1], test_share=1.0 / FOLDS).interval
        means = values.mean(axis=0)
        print(
            f"| {name} | {len(table):,} | {table.shape[1]} | {means[0]:.4f} | {means[1]:.4f} "
            f"| {gaps.mean():+.4f} | {interval.low:+.4f} to {interval.high:+.4f} |",
            flush=True,
        )
        differences.append(gaps.mean())
    if len(differences) > 1:
        p_value = wilcoxon(differences).pvalue
        print(f"\nmean difference {np.mean(differences):+.4f}; Wilcoxon p = {p_value:.2f}")


if __name__ == "__main__":
    run(tuple(sys.argv[1:]) or CLASSES + NUMBERS)
