"""Tests and curves against SciPy, statsmodels, scikit-learn and mlxtend."""

import time
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from scipy import stats
from sklearn import metrics
from statsmodels.stats.multitest import multipletests

from benchmarks._timing import Race, close, print_races, race
from verulam import measures
from verulam.plots import critical_difference
from verulam.statistics import (
    Comparisons,
    ManovaResult,
    TestResult,
    bootstrap_interval,
    compare_many,
    manova,
    mcnemar,
    repeated_anova,
    simulate,
    wilcoxon_holm,
)

DATA_SETS, LEARNERS = 100, 50


def run() -> None:
    """Race ours against the peers and print how long the two promises take."""
    mpl.use("Agg")
    rng = np.random.default_rng(0)
    print_races("Statistics", [*races_of_tests(rng), *races_of_measures(rng)])
    print_promises(rng.normal(size=(DATA_SETS, LEARNERS)))


def races_of_tests(rng: np.random.Generator) -> list[Race]:
    """Return the races of tests."""
    table = rng.normal(size=(DATA_SETS, LEARNERS))
    tied = np.round(rng.normal(size=(40, 12)), 1)
    folds = rng.normal(size=(10, 6))
    groups = rng.normal(size=(5, 20, 3))
    values = rng.normal(size=200)
    return [
        race(
            f"all pairs by Wilcoxon, {DATA_SETS} x {LEARNERS}",
            lambda: wilcoxon_holm(table),
            "SciPy, pair by pair",
            lambda: pairwise_wilcoxon(table),
            same=same_pairs,
        ),
        race(
            "all pairs by Wilcoxon, 40 x 12 with ties, exact",
            lambda: wilcoxon_holm(tied),
            "SciPy, approximate",
            lambda: pairwise_wilcoxon(tied),
            # Exact on our side: the approximation is off by up to some hundredths.
            same=lambda one, other: same_pairs(one, other, 0.05),
        ),
        race("McNemar", lambda: mcnemar(15, 5), "mlxtend", their_mcnemar, same=same_p),
        race(
            "repeated measures, 10 x 6",
            lambda: repeated_anova(folds),
            "statsmodels",
            lambda: their_repeated(folds),
            same=lambda one, other: close(1e-8)(one.p_value, other.anova_table["Pr > F"].iloc[0]),
        ),
        race(
            "MANOVA, 5 x 20 x 3",
            lambda: manova(groups),
            "statsmodels",
            lambda: their_manova(groups),
            same=same_manova,
        ),
        race(
            "BCa interval of a mean, 200 values",
            lambda: bootstrap_interval(values, random_state=0),
            "SciPy",
            lambda: stats.bootstrap((values,), np.mean, rng=0),
            # Ends of 10,000 draws each.
            same=lambda one, other: close(0.0, 0.02)(ends(one), ends(other.confidence_interval)),
        ),
    ]


def races_of_measures(rng: np.random.Generator) -> list[Race]:
    """Return the races of measures."""
    true = rng.integers(0, 2, 100_000)
    scores = rng.normal(size=100_000) + true
    classes, predicted = rng.integers(0, 5, (2, 100_000))
    chances = rng.dirichlet(np.ones(5), 100_000)
    return [
        race(
            "ROC curve, 100,000",
            lambda: measures.roc(true, scores),
            "scikit-learn",
            lambda: metrics.roc_curve(true, scores, drop_intermediate=False),
            same=same_curve,
        ),
        race(
            "area, 100,000",
            lambda: measures.auc(true, scores),
            "scikit-learn",
            lambda: metrics.roc_auc_score(true, scores),
            same=close(1e-10),
        ),
        race(
            "confusion table, 100,000 of 5 classes",
            lambda: measures.confusion(classes, predicted),
            "scikit-learn",
            lambda: metrics.confusion_matrix(classes, predicted),
            same=lambda one, other: np.array_equal(one.matrix, other),
        ),
        race(
            "log loss, 100,000 of 5 classes",
            lambda: measures.log_loss(classes, chances),
            "scikit-learn",
            lambda: metrics.log_loss(classes, chances),
            same=close(1e-10),
        ),
        race(
            "area of 5 classes, 100,000",
            lambda: measures.auc(classes, chances),
            "scikit-learn",
            lambda: metrics.roc_auc_score(classes, chances, multi_class="ovr"),
            same=close(1e-10),
        ),
    ]


def same_pairs(ours: Comparisons, theirs: list[float], tolerance: float = 1e-10) -> None:
    """Compare the p-values of all pairs, after Holm on both sides."""
    close(0.0, tolerance)(ours.table["adjusted_p"], multipletests(theirs, method="holm")[1])


def same_p(ours: TestResult, theirs: tuple[float, float]) -> None:
    """Compare p-values."""
    close(1e-8)(ours.p_value, theirs[1])


def same_manova(ours: ManovaResult, theirs: Any) -> None:
    """Compare Wilks' lambda."""
    close(1e-8)(ours.result.statistic, theirs.results["group"]["stat"].iloc[0, 0])


def ends(interval: Any) -> list[float]:
    """Return both ends of an interval."""
    interval = getattr(interval, "interval", interval)
    return [interval.low, interval.high]


def same_curve(ours: measures.RocCurve, theirs: tuple[np.ndarray, ...]) -> None:
    """Compare the rates of both kinds."""
    close(0.0, 1e-12)(ours.fp_rate, theirs[0])
    close(0.0, 1e-12)(ours.tp_rate, theirs[1])


def pairwise_wilcoxon(table: np.ndarray) -> list[float]:
    """Return SciPy's p-value of every pair of columns."""
    count = table.shape[1]
    return [
        stats.wilcoxon(table[:, one], table[:, other]).pvalue
        for one in range(count)
        for other in range(one + 1, count)
    ]


def their_mcnemar() -> object:
    """Run mlxtend's test on the same table."""
    from mlxtend.evaluate import mcnemar as peer

    return peer(np.array([[30, 15], [5, 9]]))


def their_repeated(table: np.ndarray) -> object:
    """Run statsmodels' analysis of the same table."""
    import pandas as pd
    from statsmodels.stats.anova import AnovaRM

    long = pd.DataFrame(table).melt(ignore_index=False, var_name="learner").reset_index()
    return AnovaRM(long, "value", "index", within=["learner"]).fit()


def their_manova(groups: np.ndarray) -> object:
    """Run statsmodels' analysis of the same groups."""
    from statsmodels.multivariate.manova import MANOVA

    count, rows, size = groups.shape
    labels = np.repeat(np.arange(count), rows)
    design = (labels[:, None] == np.arange(count)).astype(float)
    contrast = np.column_stack([np.ones(count - 1), -np.eye(count - 1)])
    return MANOVA(groups.reshape(-1, size), design).mv_test([("group", contrast)])


def print_promises(table: np.ndarray) -> None:
    """Print the times of a whole comparison with its diagram, and of a simulation."""
    start = time.perf_counter()
    figure = critical_difference(compare_many(table)).figure
    middle = time.perf_counter()
    plt.close(figure)
    simulate("5x2 F", repeats=10_000)
    end = time.perf_counter()
    print(
        f"  Friedman, Nemenyi, Wilcoxon-Holm and diagram, {DATA_SETS} x {LEARNERS}: "
        f"{middle - start:.2f} s"
    )
    print(f"  10,000 simulated 5x2 cv F tests: {end - middle:.3f} s")
