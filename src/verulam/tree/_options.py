"""Options of tree learners: presets (ID3, C4.5, CART), constraints, growth parameters."""

from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from verulam.base import RANDOM_STATE, Interval, StrOptions
from verulam.tree._growing.growth_parameters import (
    ABSOLUTE,
    ENTROPY,
    GINI,
    RISK,
    VARIANCE,
    WORST,
    WORST_OF_MEAN,
    GrowthParameters,
)
from verulam.tree._growing.lazy_memory import empty_pages

CRITERIA = {
    "gini": GINI,
    "entropy": ENTROPY,
    "gain_ratio": ENTROPY,
    "misclassification": RISK,
    "risk": RISK,
    "squared_error": VARIANCE,
    "absolute_error": ABSOLUTE,
    "worst_error": WORST,
    "worst_error_of_mean": WORST_OF_MEAN,
}
#: Errors of numbers.
NUMERIC_CRITERIA = tuple(name for name, code in CRITERIA.items() if code >= VARIANCE)
#: A depth that no tree reaches.
BOTTOMLESS = 2**31 - 1

#: Constraints of the parameters that both tree learners have.
SHARED_CONSTRAINTS: dict[str, Any] = {
    "categories": [StrOptions({"subset", "n_way"}), None],
    "missing": [StrOptions({"learned", "fractional"}), None],
    "max_depth": [Interval(Integral, 1, None, closed="left"), None],
    "max_leaf_nodes": [Interval(Integral, 2, None, closed="left"), None],
    "min_samples_split": [
        Interval(Integral, 2, None, closed="left"),
        Interval(Real, 0.0, 1.0, closed="neither"),
    ],
    "min_samples_leaf": [
        Interval(Integral, 1, None, closed="left"),
        Interval(Real, 0.0, 1.0, closed="neither"),
        None,
    ],
    "min_impurity_decrease": [Interval(Real, 0.0, None, closed="left")],
    "max_features": [
        Interval(Integral, 1, None, closed="left"),
        Interval(Real, 0.0, 1.0, closed="right"),
        StrOptions({"sqrt", "log2"}),
        None,
    ],
    "pruning_fraction": [Interval(Real, 0.0, 1.0, closed="neither")],
    "ccp_alpha": [Interval(Real, 0.0, None, closed="left"), None],
    "pruning_folds": [Interval(Integral, 2, None, closed="left")],
    "unseen": [StrOptions({"error", "missing"})],
    "random_state": RANDOM_STATE,
}


@dataclass(frozen=True)
class Options:
    """The choices that a preset makes.

    Attributes
    ----------
    criterion
        Name of the impurity or error, or a function.
    categories
        "subset" or "n_way".
    missing
        "learned" or "fractional".
    pruning
        "none", "reduced_error", "cost_complexity" or "pessimistic".
    min_samples_leaf
        Fewest rows of a child.
    """

    criterion: Any
    categories: str
    missing: str
    pruning: str
    min_samples_leaf: float


PRESETS = {
    "id3": Options("entropy", "n_way", "learned", "none", 1),
    "c4.5": Options("gain_ratio", "n_way", "fractional", "pessimistic", 2),
    "cart": Options("gini", "subset", "learned", "cost_complexity", 1),
}
PLAIN_CLASSIFIER = Options("gini", "subset", "learned", "none", 1)
PLAIN_REGRESSOR = Options("squared_error", "subset", "learned", "none", 1)


def resolve(learner: Any, plain: Options) -> Options:
    """Return the learner's choices, those left open filled in by its preset or `plain`."""
    preset = getattr(learner, "preset", None)
    base = plain if preset is None else PRESETS[preset]
    explicit = {
        name: getattr(learner, name)
        for name in Options.__dataclass_fields__
        if getattr(learner, name) is not None
    }
    return replace(base, **explicit)


def log_table(n: int) -> NDArray[np.float64]:
    """Return n log2 n for the whole numbers up to `n`."""
    table = empty_pages(n + 1)
    table[:] = np.arange(n + 1)
    table[1:] *= np.log2(table[1:])
    return table


def inverse_table(n: int) -> NDArray[np.float64]:
    """Return 1 / n for the whole numbers up to `n`, and 0 for 0."""
    table = empty_pages(n + 1)
    table[0] = 0.0
    np.divide(1.0, np.arange(1, n + 1), out=table[1:])
    return table


def make_parameters(
    learner: Any,
    options: Options,
    rows: NDArray[np.float64],
    n_classes: int,
    weights: NDArray[np.float64] | None,
    loss: NDArray[np.float64] | None = None,
) -> GrowthParameters:
    """Return the options and parameters of a learner as the growing loops take them."""
    n_rows, n_columns = rows.shape
    # Without gaps there is nothing to divide, and whole counts take the quick loops.
    fractional = options.missing == "fractional" and bool(np.isnan(rows).any())
    code = GINI if callable(options.criterion) else CRITERIA[options.criterion]
    if options.criterion == "misclassification":
        loss = 1.0 - np.eye(n_classes)
    min_leaf = row_count(options.min_samples_leaf, n_rows)
    # Whole counts are looked up: a logarithm or a division for every cut would cost more than the
    # rest of the scan.
    tables = {GINI: inverse_table, ENTROPY: log_table, VARIANCE: inverse_table}
    whole = code in tables and weights is None and not fractional
    threshold = getattr(learner, "impurity_threshold", None)
    return GrowthParameters(
        criterion=code,
        n_classes=n_classes,
        gain_ratio=options.criterion == "gain_ratio",
        n_way=options.categories == "n_way",
        fractional=fractional,
        # Where children must have several rows, the best allowed cut may lie inside a class; the
        # gain ratio asks for several by itself.
        boundaries_only=min_leaf == 1
        and options.criterion != "gain_ratio"
        and not callable(options.criterion),
        max_depth=BOTTOMLESS if learner.max_depth is None else int(learner.max_depth),
        min_split=max(2, row_count(learner.min_samples_split, n_rows)),
        min_leaf=min_leaf,
        threshold=float(
            getattr(learner, "error_threshold", 0.0) if threshold is None else threshold
        ),
        purity=float(getattr(learner, "purity_threshold", 1.0)),
        min_decrease=float(learner.min_impurity_decrease),
        max_features=feature_count(learner.max_features, n_columns),
        total_weight=float(n_rows if weights is None else weights.sum()),
        loss=np.empty((0, n_classes)) if loss is None else loss,
        table=tables[code](n_rows) if whole else np.empty(0),
    )


def count_checks(min_samples_leaf: float) -> dict[str, str]:
    """Return scikit-learn's checks that cannot hold where branches need several rows."""
    if min_samples_leaf == 1:
        return {}
    reason = "min_samples_leaf counts rows, whatever their weight"
    return {"check_sample_weight_equivalence_on_dense_data": reason}


def row_count(count_or_share: Any, n_rows: int) -> int:
    """Return the number of rows that a number, or a share of all rows, stands for."""
    if isinstance(count_or_share, Integral):
        return int(count_or_share)
    return int(np.ceil(count_or_share * n_rows))


def feature_count(max_features: Any, n_columns: int) -> int:
    """Return the number of columns that `max_features` stands for."""
    if max_features is None:
        return n_columns
    if max_features == "sqrt":
        return max(1, int(np.sqrt(n_columns)))
    if max_features == "log2":
        return max(1, int(np.log2(n_columns)))
    if isinstance(max_features, Integral):
        return min(int(max_features), n_columns)
    return max(1, int(max_features * n_columns))
