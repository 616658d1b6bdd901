"""A linear ranker, trained on groups or on pairs, and measures of rankings."""

import itertools
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.optimize import minimize
from scipy.stats import kendalltau
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import average_precision_score, ndcg_score
from sklearn.utils import Tags

from verulam.base import (
    RANDOM_STATE,
    DataError,
    DataWarning,
    Interval,
    Seed,
    StrOptions,
    check_is_fitted,
    checked_fit,
    generator,
    validate_data,
    warn_caller,
)
from verulam.linear._ranking.preferences import Preferences
from verulam.linear._ranking.ranking_loops import (
    HINGE,
    LOGISTIC,
    SQUARED_HINGE,
    group_losses,
    ranker_pass,
    sparse_ranker_pass,
)
from verulam.linear._training.tables import as_numbers, is_sparse

_LOSSES = {"squared_hinge": SQUARED_HINGE, "hinge": HINGE, "logistic": LOGISTIC}


class LinearRanker(BaseEstimator):
    r"""Learn a linear score that puts the better of two rows first.

    Parameters
    ----------
    loss
        "squared_hinge" and "hinge" of what the difference of two scores lacks of the margin, or
        "logistic", which has no margin.
    margin
        Difference that the scores of a pair should have at least.
    alpha
        Factor of half the squared length of the weights.
    tol
        Largest entry of the gradient of the mean loss at the end.
    max_iter
        Most steps.
    random_state
        Seed of the order of pairs in `fit_pairs`.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weights; a bias would cancel in every pair.
    n_iter_ : int
        Steps taken.
    n_pairs_ : int
        Pairs that were compared.

    Notes
    -----
    .. math:: \min_w \sum_{u \succ v} \max(0,\; b - w^T (x^u - x^v))^2
              + \frac{\lambda}{2} \|w\|^2

    Without a margin the zero vector has no loss, and a start there never moves; hence the margin.
    Pairs are never built: groups up to two hundred rows are summed pair by pair, larger ones over
    sorted scores in :math:`n \log n` (squared hinge). See Alpaydin 10.9 (10.46-10.49, where the
    hinge must be of the product).

    Examples
    --------
    >>> from verulam.linear import LinearRanker
    >>> rows, stars = [[1.0, 0.0], [2.0, 1.0], [3.0, 0.0], [4.0, 1.0]], [1, 2, 3, 4]
    >>> ranker = LinearRanker().fit(rows, stars)
    >>> ranker.score(rows, stars)
    1.0
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "loss": [StrOptions(set(_LOSSES))],
        "margin": [Interval(Real, 0, None, closed="neither")],
        "alpha": [Interval(Real, 0, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "random_state": RANDOM_STATE,
    }
    _skipped_checks: ClassVar[dict[str, str]] = {}

    def __init__(
        self,
        *,
        loss: str = "squared_hinge",
        margin: float = 1.0,
        alpha: float = 1.0,
        tol: float = 1e-5,
        max_iter: int = 200,
        random_state: Seed = None,
    ) -> None:
        self.loss = loss
        self.margin = margin
        self.alpha = alpha
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    @classmethod
    def _example_data(cls) -> tuple[np.ndarray, np.ndarray]:
        random = np.random.default_rng(0)
        inputs = random.normal(size=(60, 3))
        return inputs, np.round(inputs @ [1.0, -2.0, 0.5] + random.normal(size=60))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags

    @checked_fit
    def fit(self, X: ArrayLike, y: ArrayLike, groups: ArrayLike | None = None) -> Self:
        """Train on rows with relevances.

        Parameters
        ----------
        X
            Rows.
        y
            Relevance of each row, higher is better.
        groups
            Query or user of each row; only rows of one group are compared.
        """
        inputs, relevances = validate_data(
            self, X, y, accept_sparse="csr", dtype=np.float64, order="C", y_numeric=True
        )
        order, starts = _by_group(groups, inputs.shape[0])
        ordered, values = inputs[order], relevances[order].astype(np.float64)
        self.n_pairs_ = _count_pairs(values, starts)
        if not self.n_pairs_:
            raise DataError(
                "no two rows of one group differ in relevance, so there is nothing to rank: got "
                f"n_samples={inputs.shape[0]} in {len(starts) - 1} groups. Give groups of two "
                "rows or more."
            )
        self._minimise(ordered, values, starts)
        return self

    def _minimise(self, inputs: Any, relevances: np.ndarray, starts: np.ndarray) -> None:
        score_gradient, kind = np.empty(len(relevances)), _LOSSES[self.loss]

        def objective(weights: np.ndarray) -> tuple[float, np.ndarray]:
            scores = inputs @ weights
            margin = float(self.margin)
            loss = group_losses(scores, relevances, starts, margin, kind, score_gradient)
            # The gradient over the weights is X^T times that over the scores: pairs never appear.
            value = loss + 0.5 * self.alpha * weights @ weights
            gradient = inputs.T @ score_gradient + self.alpha * weights
            return value / self.n_pairs_, gradient / self.n_pairs_

        optimum = minimize(
            objective,
            np.zeros(inputs.shape[1]),
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": self.max_iter, "gtol": self.tol, "ftol": 1e-14},
        )
        self.coef_, self.n_iter_ = optimum.x, int(optimum.nit)
        if optimum.nit >= self.max_iter:
            warn_caller(
                f"LinearRanker stopped after {optimum.nit} steps without converging; raise "
                "max_iter, or scale the inputs.",
                ConvergenceWarning,
            )

    @checked_fit
    def fit_pairs(
        self, X: ArrayLike, preferences: Preferences, *, learning_rate: float = 0.1
    ) -> Self:
        """Train on pairs, correcting after each that lacks the margin: the online rule.

        Parameters
        ----------
        X
            Rows.
        preferences
            Which rows should come before which.
        learning_rate
            Step size.
        """
        inputs = validate_data(self, X, accept_sparse="csr", dtype=np.float64, order="C")
        pairs = _checked_pairs(preferences, inputs.shape[0])
        if not learning_rate > 0:
            raise DataError(f"learning_rate must be above zero; got {learning_rate}.")
        random = generator(self.random_state)
        # The weights inside are changed in place by the passes.
        rule = (*pairs, np.zeros(inputs.shape[1]), float(learning_rate), float(self.margin))
        self.n_iter_, corrections = 0, 1
        while corrections and self.n_iter_ < self.max_iter:
            self.n_iter_ += 1
            order = random.permutation(len(preferences))
            if is_sparse(inputs):
                table = (inputs.data, inputs.indices.astype(np.int64))
                starts = inputs.indptr.astype(np.int64)
                corrections = sparse_ranker_pass(*table, starts, order, *rule)
            else:
                corrections = ranker_pass(inputs, order, *rule)
        self.coef_, self.n_pairs_ = rule[2], len(preferences)
        if corrections:
            warn_caller(
                f"LinearRanker stopped after {self.n_iter_} passes with {corrections} of "
                f"{len(preferences)} pairs short of the margin: raise max_iter, or use fit, which "
                "settles where no linear score puts all pairs in order.",
                ConvergenceWarning,
            )
        return self

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Return the score of each row; higher comes first."""
        check_is_fitted(self)
        inputs = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        return inputs @ self.coef_

    def top(self, X: ArrayLike, k: int = 1) -> np.ndarray:
        """Return the positions of the k best rows, the best first."""
        if k < 1:
            raise DataError(f"k must be at least 1; got {k}.")
        return np.argsort(-self.predict(X), kind="stable")[:k]

    def score(self, X: ArrayLike, y: ArrayLike, groups: ArrayLike | None = None) -> float:
        """Return Kendall's rank correlation, the mean over the groups."""
        return kendall_tau(y, self.predict(X), groups)


def rerank(candidates: ArrayLike, ranker: LinearRanker, features: ArrayLike) -> np.ndarray:
    """Put a list of the best candidates of a first ranker in the order of a second.

    Parameters
    ----------
    candidates
        The candidates, in any order.
    ranker
        Second ranker, which may look at more inputs.
    features
        Rows of its inputs, one for each candidate.
    """
    items, rows = np.asarray(candidates), np.asarray(features)
    if len(items) != len(rows):
        raise DataError(
            f"features must have one row for each of the {len(items)} candidates; got {len(rows)}."
        )
    return items[ranker.top(rows, k=len(items))]


def kendall_tau(relevance: ArrayLike, scores: ArrayLike, groups: ArrayLike | None = None) -> float:
    """Return Kendall's tau between relevance and scores, the mean over groups that have one.

    Examples
    --------
    >>> round(kendall_tau([1, 2, 3, 4], [10, 20, 40, 30]), 6)
    0.666667
    """

    def tau(true: np.ndarray, predicted: np.ndarray) -> float:
        constant = true.min() == true.max() or predicted.min() == predicted.max()
        return np.nan if constant else float(kendalltau(true, predicted).statistic)

    return _over_groups(tau, relevance, scores, groups)


def ndcg(
    relevance: ArrayLike,
    scores: ArrayLike,
    groups: ArrayLike | None = None,
    *,
    k: int | None = None,
) -> float:
    """Return the normalised discounted cumulative gain, the mean over the groups.

    Parameters
    ----------
    relevance, scores
        True relevance, and scores by which rows are ranked.
    groups
        Query or user of each row.
    k
        Only the first k ranks count.
    """

    def gain(true: np.ndarray, predicted: np.ndarray) -> float:
        if len(true) < 2 or not true.any():
            return np.nan
        return float(ndcg_score(true[None], predicted[None], k=k))

    return _over_groups(gain, relevance, scores, groups)


def mean_average_precision(
    relevance: ArrayLike, scores: ArrayLike, groups: ArrayLike | None = None
) -> float:
    """Return the mean over groups of the average precision, where relevance above zero is a hit."""

    def precision(true: np.ndarray, predicted: np.ndarray) -> float:
        hits = true > 0
        return float(average_precision_score(hits, predicted)) if hits.any() else np.nan

    return _over_groups(precision, relevance, scores, groups)


def _over_groups(
    measure: Any, relevance: ArrayLike, scores: ArrayLike, groups: ArrayLike | None
) -> float:
    true, predicted = as_numbers(relevance, "relevance"), as_numbers(scores, "scores")
    if np.isnan(true).any() or np.isnan(predicted).any():
        raise DataError("relevance and scores must have no missing numbers.")
    if true.shape != predicted.shape:
        raise DataError(
            f"relevance and scores must have one number for each row; got {true.shape} and "
            f"{predicted.shape}."
        )
    order, starts = _by_group(groups, len(true))
    values = [
        measure(true[order[start:end]], predicted[order[start:end]])
        for start, end in itertools.pairwise(starts)
    ]
    known = [value for value in values if not np.isnan(value)]
    if not known:
        warn_caller(
            "no group has rows to be ranked: every one is single or all alike.", DataWarning
        )
        return float("nan")
    return float(np.mean(known))


def _checked_pairs(preferences: Preferences, n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    if not isinstance(preferences, Preferences):
        raise DataError(
            "preferences must come from preferences_from_order, preferences_from_clicks or "
            f"preferences_from_relevance; got a {type(preferences).__name__}."
        )
    if not len(preferences):
        raise DataError("preferences has no pairs, so there is nothing to learn.")
    pairs = preferences.better.astype(np.int64), preferences.worse.astype(np.int64)
    least, most = min(map(np.min, pairs)), max(map(np.max, pairs))
    if least < 0 or most >= n_rows:
        raise DataError(
            f"preferences name rows from {least} to {most}, but X has rows 0 to {n_rows - 1}."
        )
    return pairs


def _by_group(groups: ArrayLike | None, n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return an order that brings groups together, and where each starts."""
    if groups is None:
        return np.arange(n_rows), np.array([0, n_rows])
    labels = np.asarray(groups)
    if labels.shape != (n_rows,):
        raise DataError(f"groups must have {n_rows} entries, one for each row; got {labels.shape}.")
    missing = np.asarray(pd.isna(labels))
    if missing.any():
        raise DataError(f"groups has {missing.sum()} missing entries; leave those rows out.")
    codes = np.unique(labels, return_inverse=True)[1]
    order = np.argsort(codes, kind="stable")
    changes = np.flatnonzero(np.diff(codes[order])) + 1
    return order, np.concatenate([[0], changes, [n_rows]]).astype(np.int64)


def _count_pairs(relevances: np.ndarray, starts: np.ndarray) -> int:
    # Of all ordered pairs of a group, half of those that differ in relevance.
    total = 0
    for start, end in itertools.pairwise(starts):
        counts = np.unique(relevances[start:end], return_counts=True)[1]
        total += (int(counts.sum()) ** 2 - int((counts**2).sum())) // 2
    return total
