"""Reductions beside scikit-learn's: the same answers, timed by turns."""

from functools import partial

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.datasets import make_classification
from sklearn.decomposition import PCA
from sklearn.decomposition import FactorAnalysis as TheirFactorAnalysis
from sklearn.feature_selection import SequentialFeatureSelector
from sklearn.manifold import ClassicalMDS, smacof
from sklearn.naive_bayes import GaussianNB

from benchmarks._timing import Race, close, print_races, race
from verulam.base import one_blas_thread
from verulam.reduction import (
    ClassicalScaling,
    FactorAnalysis,
    PrincipalComponents,
    StressScaling,
    SubsetSelector,
)


def run() -> None:
    """Print races of components, factors, selection and scaling, on one thread."""
    with one_blas_thread():
        races = [*_components(), *_factors(), *_selection(), *_scaling()]
    print_races("Reduction", races)


def _components() -> list[Race]:
    races = []
    for n_rows, n_columns in ((200_000, 50), (20_000, 200)):
        random = np.random.default_rng(0)
        rows = random.normal(size=(n_rows, n_columns)) @ random.normal(size=(n_columns, n_columns))
        ours, theirs = PrincipalComponents(5), PCA(5, svd_solver="covariance_eigh")
        name = f"principal components, {n_rows:,} x {n_columns}"
        works = partial(ours.fit, rows), partial(theirs.fit, rows)
        races.append(race(name, works[0], "scikit-learn", works[1], same=_same_variances))
    return races


def _same_variances(ours: PrincipalComponents, theirs: PCA) -> None:
    close(1e-5)(ours.explained_variance_, theirs.explained_variance_)


def _factors() -> list[Race]:
    races = []
    for n_rows, n_columns, count in ((20_000, 50, 5), (2_000, 30, 3)):
        random = np.random.default_rng(0)
        rows = random.normal(size=(n_rows, count)) @ random.normal(size=(count, n_columns))
        rows += random.normal(size=rows.shape) * random.uniform(0.5, 2, n_columns)
        ours = FactorAnalysis(count)
        theirs = TheirFactorAnalysis(count, svd_method="lapack", tol=1e-8, max_iter=10_000)
        name = f"{count} factors, {n_rows:,} x {n_columns}"
        works, same = (partial(ours.fit, rows), partial(theirs.fit, rows)), partial(_likely, rows)
        races.append(race(name, works[0], "scikit-learn", works[1], same=same))
    return races


def _likely(rows: np.ndarray, ours: FactorAnalysis, theirs: TheirFactorAnalysis) -> None:
    close(1e-5)(ours.score(rows) / len(rows), theirs.score(rows))


def _selection() -> list[Race]:
    races = []
    for n_rows, n_columns, scale in ((1_000, 40, 1.0), (1_000, 40, 1e3)):
        rows, labels = make_classification(
            n_rows, n_columns, n_informative=8, n_classes=3, random_state=0
        )
        # Columns of unlike spread: scikit-learn's floor of variances then follows the subset.
        rows = rows * np.geomspace(1.0, scale, n_columns)
        ours = SubsetSelector(GaussianNB(), 5)
        theirs = SequentialFeatureSelector(GaussianNB(), n_features_to_select=5, cv=5)
        name = f"5 of {n_columns} columns for naive Bayes, spreads 1 to {scale:g}"
        races.append(
            race(
                name,
                partial(ours.fit, rows, labels),
                "scikit-learn",
                partial(theirs.fit, rows, labels),
                same=lambda one, other: np.array_equal(one.support_, other.get_support()),
            )
        )
    return races


def _scaling() -> list[Race]:
    random = np.random.default_rng(0)
    rows = random.normal(size=(2_000, 10)) * np.linspace(3.0, 0.5, 10)
    matrix = cdist(rows, rows)
    ours, theirs = (kind(2, metric="precomputed") for kind in (ClassicalScaling, ClassicalMDS))
    races = [
        race(
            "classical scaling, 2,000 rows",
            partial(ours.fit, matrix),
            "scikit-learn",
            partial(theirs.fit, matrix),
            same=lambda one, other: close(0.0, 1e-8)(
                np.abs(one.embedding_), np.abs(other.embedding_)
            ),
        )
    ]
    part = np.ascontiguousarray(matrix[:1_000, :1_000])
    scaling = StressScaling(metric="precomputed").fit(part)
    start = ClassicalScaling(2, metric="precomputed").fit(part).embedding_
    options = {"n_components": 2, "init": start, "n_init": 1, "max_iter": scaling.n_iter_}
    smaller = partial(smacof, part, **options, eps=0.0, normalized_stress=False)

    def same(one: StressScaling, other: tuple) -> None:
        close(1e-4)(one.stress_ * 0.5 * (part**2).sum(), other[1])

    races.append(
        race(
            f"metric scaling, 1,000 rows, {scaling.n_iter_} steps",
            partial(scaling.fit, part),
            "scikit-learn",
            smaller,
            same=same,
        )
    )
    return races
